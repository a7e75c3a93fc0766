"""The reference of methods and of options, written from the library's own tables when the site is built: which options a method
sets, and which it accepts, is found out by optimizers that are created for it."""

from collections import defaultdict
from pathlib import Path

from sphinx.util import logging

import method_notes
import option_notes

log = logging.getLogger(__name__)

# For each kind of model: a network, its likelihood.
kinds = {
    "regression": ("input 6; dense 50; relu; dense 1", "gaussian"),
    "classes": ("input 6; dense 50; relu; dense 3", "categorical"),
    "deep regression": ("input 6; dense 50; relu; dense 50; relu; dense 1", "gaussian"),
    "deep classes": ("input 6; dense 50; relu; dense 50; relu; dense 3", "categorical"),
    "images": ("input 1 8 8; conv 4 3; relu; conv 4 3; relu; dense 3", "categorical"),
    "linear": ("input 6; dense 1", "gaussian"),
}
# More models whose options may be read.
others = {
    "batch norm": ("input 6; dense 8; batchnorm; relu; dense 3", "categorical"),
    "heteroscedastic": ("input 6; dense 50; relu; dense 2", "heteroscedastic"),
    "Student t": ("input 6; dense 50; relu; dense 1", "student_t"),
    "negative binomial": ("input 6; dense 1", "negative_binomial"),
}
needed = {"evidence": "laplace=1 ", "evidence_every": "laplace=1 ", "evidence_from": "laplace=1 ", "evidence_step": "laplace=1 "}
needed |= {"antithetic": "samples=2 ", "swag": "", "kl_start": "kl_warmup=0.1 "}


def optimizer_of(bdl, method, network, likelihood, family=None):
    """Returns an optimizer of the method for the model, or None if it does not learn such models."""
    model = bdl.Model.network(network, likelihood)
    d = model.parameters
    family = family or bdl.describe_method(method).families[0]
    rank = bdl.lowlevel.bdl_training_suggest(model._handle, 1000, 0, method, family)[2]
    create = {
        "low_rank": lambda: bdl.Posterior.low_rank(d, min(rank, d)),
        "diagonal": lambda: bdl.Posterior.low_rank(d, 0),
        "full": lambda: bdl.Posterior.full(d),
        "full_moment": lambda: bdl.Posterior.full_moment(d),
        "diagonal_moment": lambda: bdl.Posterior.diagonal_moment(d),
        "layerwise_full": lambda: bdl.Posterior.layerwise_full(model),
        "low_rank_moment": lambda: bdl.Posterior.low_rank_moment(d, rank),
        "layerwise_low_rank_moment": lambda: bdl.Posterior.layerwise_low_rank_moment(model, rank),
        "kronecker": lambda: bdl.Posterior.kronecker(model),
        "dropout": lambda: bdl.Posterior.dropout(model, 0, 0.1),
    }[family]
    try:
        return bdl.Optimizer(model, create(), method, 1000)
    except bdl.BDLError:
        return None


def values_to_try(option, present):
    """Returns other values of an option, as texts."""
    if option.type == "choice":
        return [word for word in option.range.split(" | ") if word != present]
    if option.type == "int":
        return [str(value) for value in (present + 1, 0, 1, 2) if value != present]
    return [repr(value) for value in (0.5 * present, 0.5, 1.5) if value != present]


def accepts(bdl, optimizer, option):
    """True if an optimizer accepts another value of the option, which it then has."""
    for value in values_to_try(option, optimizer[option.name]):
        try:
            optimizer.set_text(f"{needed.get(option.name, '')}{option.name}={value}")
            return True
        except bdl.BDLError:
            continue
    return False


def default_families(bdl, method):
    """Returns the family that libbdl suggests for a method, for each kind of model that the method learns."""
    models = {kind: bdl.Model.network(*what) for kind, what in kinds.items()}
    return {kind: bdl.suggest_training(model, 1000, method=method).family for kind, model in models.items()}


class Tables:
    """Everything that the pages show of methods and options."""

    def __init__(self, bdl):
        self.bdl = bdl
        self.options = bdl.options()
        self.methods = {name: bdl.describe_method(name) for name in bdl.methods()}
        self.values = {}  # of each method: of each kind of model: the options
        self.accepted = {}  # of each method: the set of options
        self.predictions = {}  # of each method: of each kind of model: how it predicts
        self.families = {}  # of each method: of each kind of model: the family of the default posterior
        self.memory = {}
        for method, info in self.methods.items():
            made = {kind: optimizer_of(bdl, method, *kinds[kind]) for kind in kinds}
            self.values[method] = {kind: optimizer.options for kind, optimizer in made.items() if optimizer}
            self.predictions[method] = {kind: optimizer.prediction for kind, optimizer in made.items() if optimizer}
            self.families[method] = default_families(bdl, method)
            self.accepted[method] = self._accepted(method, info)
            first = next(optimizer for optimizer in made.values() if optimizer)
            self.memory[method] = first.memory(10)

    def _accepted(self, method, info):
        found = set()
        for family in info.families:
            for network, likelihood in (kinds | others).values():
                optimizer = optimizer_of(self.bdl, method, network, likelihood, family)
                for option in self.options.values() if optimizer else []:
                    if option.name not in found and accepts(self.bdl, optimizer, option):
                        found.add(option.name)
                        optimizer = optimizer_of(self.bdl, method, network, likelihood, family)
        return found

    def default(self, name):
        option = self.options[name]
        return option.default if option.type == "choice" else float(option.default)

    def differing(self, method):
        """Returns the options that a method sets otherwise than the library: name -> kind of model -> value."""
        found = defaultdict(dict)
        for kind, values in self.values[method].items():
            for name, value in values.items():
                found[name][kind] = value
        return {name: of for name, of in found.items() if any(value != self.default(name) for value in of.values())}

    def exceptions(self, name):
        """Returns the other defaults of an option: value -> list of "method" or "method (kinds of model)"."""
        found = defaultdict(list)
        for method in self.methods:
            if name not in self.accepted[method]:
                continue
            of = {kind: values[name] for kind, values in self.values[method].items()}
            for value in sorted({value for value in of.values() if value != self.default(name)}, key=str):
                where = [kind for kind in of if of[kind] == value]
                found[value].append(method if len(where) == len(of) else f"{method} ({', '.join(where)})")
        return found


def shown(value):
    """Returns a value as code."""
    if isinstance(value, float):
        value = f"{value:.4g}".replace("e-0", "e-").replace("e+0", "e")
    return f"`{value}`"


def by_kind(values):
    """Returns the values for each kind of model, as one value if they are equal."""
    if len(set(values.values())) == 1:
        return shown(next(iter(values.values())))
    kinds_of = defaultdict(list)
    for kind, value in values.items():
        kinds_of[value].append(kind)
    return "; ".join(f"{shown(value)} {', '.join(of)}" for value, of in kinds_of.items())


def page_of_method(tables, method):
    info, (when, cost) = tables.methods[method], method_notes.notes[method]
    way = "streams, by `observe`" if info.is_stream else "all data at once, by `fit`" if info.is_exact else "batches, by `fit` or `step`"
    text = f"# {method}\n\n{info.doc}\n\n{when}\n\n"
    if info.is_baseline:
        text += f":::{{note}}\n{info.caution}\n:::\n\n"
    families = ", ".join(f"`{family}`" for family in info.families)
    if len(info.families) > 1:
        defaults = {kind: family for kind, family in tables.families[method].items() if kind in tables.values[method]}
        families += f"; default: {by_kind(defaults)}"
    facts = {
        "Learns from": way,
        "Posteriors": families,
        "Predicts by": by_kind(tables.predictions[method]),
        "Cost of a step": cost + " (D parameters, rank L, S samples, M examples in the minibatch, C outputs)",
        "Memory": f"{tables.memory[method] / 1000:.0f} kB of arrays for a small model (6 inputs, 50 hidden units if any, minibatches of 10)",
        "Source": info.source,
    }
    text += "\n".join(f"{what}\n: {fact}\n" for what, fact in facts.items()) + "\n## Defaults\n\n"
    used = {
        name: of
        for name, of in tables.differing(method).items()
        if name in tables.accepted[method] or name in ("rule", "curvature", "descent")
    }
    if used:
        text += "This method has other defaults than the library for these options. Values depend on the model: networks with one hidden layer "
        text += "that predict numbers (regression) or classes, networks with more hidden layers (deep regression, deep classes), networks with "
        text += "convolutions for classes (images), and linear models (linear).\n\n| option | library | this method |\n| --- | --- | --- |\n"
        for name, of in used.items():
            text += f"| [{name}](../../options.md#{name}) | {shown(tables.default(name))} | {by_kind(of)} |\n"
    else:
        text += "This method has the defaults of the library.\n"
    text += "\nAll other options have the defaults of the [table of options](../../options.md).\n\n## Options that it accepts\n\n"
    for topic, names in option_notes.topics.items():
        some = [name for name in names if name in tables.accepted[method]]
        if some:
            text += f"- {topic}: {', '.join(f'[{name}](../../options.md#{name})' for name in some)}\n"
    return text + "\nOther options are refused, because the method does not read them.\n"


def table_of_methods(tables):
    text, done = "", set()
    for group, names in method_notes.groups.items():
        names = names or [name for name in tables.methods if name not in done]
        done |= set(names)
        text += f"\n## {group}\n\n| method | what it is for | posteriors | source |\n| --- | --- | --- | --- |\n"
        for name in names:
            info = tables.methods[name]
            families = ", ".join(info.families[:3]) + (" ..." if len(info.families) > 3 else "")
            text += f"| [{name}](generated/{name}.md) | {method_notes.notes[name][0]} | {families} | {info.source} |\n"
    return text


intro = r"""# Options

You need this page if you want to change how an optimizer trains.
It lists all {count} options by topic, with type, range, default and the methods that read them.

Set options by name:

::::{{languages}}
```{{run}} python
import bdl

model = bdl.Model.network("input 6; dense 50; relu; dense 1")
posterior = bdl.Posterior.low_rank(model.parameters, 5)
optimizer = bdl.Optimizer(model, posterior, "slang", 1000)
optimizer.set(learning_rate=0.1, samples=4)
print(optimizer["learning_rate"], optimizer["samples"])
```
```{{run}} c
#include <bdl/bdl.h>
#include <stdio.h>

int main(void) {{
  bdl_model* model;
  bdl_posterior* posterior;
  bdl_optimizer* optimizer;
  double rate;
  if (bdl_model_create_network(BDL_F64, "input 6; dense 50; relu; dense 1",
                               BDL_GAUSSIAN, &model) ||
      bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(model), 5,
                                    &posterior) ||
      bdl_optimizer_create(model, posterior, "slang", 1000, &optimizer) ||
      bdl_optimizer_set_text(optimizer, "learning_rate=0.1 samples=4") ||
      bdl_optimizer_get_double(optimizer, "learning_rate", &rate)) {{
    fprintf(stderr, "%s\n", bdl_last_error());
    return 1;
  }}
  printf("%g\n", rate);
  bdl_optimizer_free(optimizer);
  bdl_posterior_free(posterior);
  bdl_model_free(model);
  return 0;
}}
```
::::

Estimators take options as well: `options={{"learning_rate": 0.1}}` in Python, `control = list(learning_rate = 0.1)` in R, and
`learning_rate = 0.1` in Julia.

libbdl checks each change: a value out of range, an invalid combination, or an option that the method does not read is an
error that names the option, and then no option has changed.
To change several options that are only valid together, set them in one call.

The defaults below are those of the library.
Methods may have others, which stand under *Other defaults*; "regression", "deep regression", "classes", "deep classes", "images" and "linear" are models as on the
[pages of methods](methods/index.md).
"""


def page_of_options(tables):
    text = intro.format(count=len(tables.options))
    for topic, names in option_notes.topics.items():
        text += f"\n## {topic}\n"
        for name in names:
            option = tables.options[name]
            kind = {"double": "real number", "int": "integer", "choice": "choice"}[option.type]
            if option.range in ("0 | 1",):
                kind = "switch"
            if len(option.doc.split()) > 28:
                log.warning("the text of option %s has more than 25 words", name)
            text += f"\n### {name}\n\n{option.doc}\n"
            if name in option_notes.notes:
                text += f"{option_notes.notes[name]}\n"
            for word, meaning in option_notes.words.get(name, {}).items():
                text += f"\n- `{word}`: {meaning}" + ("\n" if word == list(option_notes.words[name])[-1] else "")
            words = option.range.replace(" | ", "`, `")
            index = list(tables.options).index(name)
            text += f"\nType\n: {kind}, `{words}`; default `{option.default}`\n\n"
            text += f"Read by\n: {tables.bdl.lowlevel.bdl_option_readers(index)}\n"
            other = tables.exceptions(name)
            if other:
                parts = [f"{shown(value)}: {', '.join(methods)}" for value, methods in other.items()]
                text += "\nOther defaults\n" + "".join(f": {part}\n" for part in parts)
    return text


def write(app):
    import bdl  # not before: the site may be built without the package

    tables = Tables(bdl)
    for what, known in (("options", tables.options), ("methods", tables.methods)):
        named = {name for names in option_notes.topics.values() for name in names} if what == "options" else set(method_notes.notes)
        if named != set(known):
            log.warning("%s differ from the library's: %s", what, ", ".join(sorted(named ^ set(known))))
    folder = Path(app.srcdir) / "reference"
    pages = {folder / "methods" / "generated" / f"{name}.md": page_of_method(tables, name) for name in tables.methods}
    pages[folder / "methods" / "generated" / "_table.md"] = table_of_methods(tables)
    pages[folder / "options.md"] = page_of_options(tables)
    for path, text in pages.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def setup(app):
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
