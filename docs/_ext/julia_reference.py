"""Writes docs/reference/julia/generated: a page for each topic from the docstrings of package BDL, whose examples run."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import generated
import sessions

here = Path(__file__).parent
package = here.parents[1] / "bindings" / "julia" / "BDL.jl"
stage = "bindings/julia/BDL.jl/test/stage.jl"


@dataclass
class Topic:
    name: str
    title: str
    summary: str
    files: list  # of the package's src, whose docstrings make the page
    stage: list = field(default_factory=lambda: ["data"])  # parts of the set-up that examples need


topics = [
    Topic(
        "estimators", "Estimators", "Fit a network or a generalised linear model by one call.",
        ["estimators", "estimator_fit"], ["data", "network", "classifier"],
    ),
    Topic(
        "predictions", "Predictions of estimators", "Predict means, intervals, classes and samples; find unusual rows.",
        ["estimator_predict", "novelty"], ["data", "network", "classifier"],
    ),
    Topic(
        "coefficients", "Coefficients", "Read the coefficients of a linear model, with their uncertainty, and give them priors.",
        ["coefficients", "normals"], ["data", "linear"],
    ),
    Topic(
        "tuning", "Cross-validation and search", "Score settings by cross-validation, and search better ones.",
        ["tuning", "search"], ["data", "parts", "search"],
    ),
    Topic("networks", "Published networks", "Use networks that libbdl knows by name.", ["networks"]),
    Topic(
        "model", "Models", "Create a network, a linear model or a custom model, and compute with it.",
        ["model", "rows", "units", "model_names", "derivatives", "user_model"], ["data", "parts"],
    ),
    Topic("posterior", "Posteriors", "Create and read the distribution of the parameters.", ["posterior", "density"], ["data", "parts"]),
    Topic("optimizer", "Optimizers", "Choose a training method and its options, and train.", ["optimizer", "options", "training"], ["data", "parts"]),
    Topic("streams", "Streams", "Learn from one observation after the other.", ["streams"], ["data", "parts"]),
    Topic("predictor", "Predictions of models", "Predict with a model and its posterior, or with a predictor.", ["predict"], ["data", "parts"]),
    Topic("datasets", "Data sets", "Train on data that do not fit in memory, and load example data.", ["dataset", "tables"], ["data", "parts"]),
    Topic("communicator", "Several processes", "Train with several processes, for example by MPI.", ["communicator", "mpi"], ["data", "parts"]),
    Topic("metrics", "Scores and plots", "Measure the quality of predictions.", ["metrics", "detection", "charts"], ["data", "parts"]),
    Topic("saving", "Saving and handles", "Save for every language, load, and free handles.", ["checkpoint", "handles"], ["data", "parts"]),
    Topic("errors", "Errors and versions", "Catch errors, and find out which library is used.", ["errors", "library"]),
]


@dataclass
class Docstring:
    file: str
    line: int
    name: str
    text: str

    @property
    def signature(self):
        return re.match(r"(?:    .*\n)+", self.text)[0]

    @property
    def call(self):
        """Returns the first call in the signature, without keywords, defaults and comments."""
        first = self.signature.split("\n")[0].split("  #")[0].strip()
        call = re.sub(r"[;,] ?\.\.\.|;.*", "", first)
        call = re.sub(r" = [^,)]*|::\w+", "", call).rstrip(" ,")
        return call + ")" * (call.count("(") - call.count(")"))


def label(name):
    return "julia-" + re.sub(r"\W", "-", name.replace("!", "-bang")).strip("-").lower()


def linked(text, known):
    def link(found):
        name = re.split(r"[(;]", found[1])[0]
        return f"[`{found[1]}`](#{label(name)})" if name in known else f"`{found[1]}`"

    return re.sub(r"\[`([^`]+)`\]\(@ref\)", link, text)


def section(doc, docs, known, seen):
    body, _, example = doc.text[len(doc.signature) :].partition("# Examples\n")
    signature = "\n".join(line[4:] for line in doc.signature.rstrip().split("\n"))
    anchor = "" if doc.name in seen else f"({label(doc.name)})=\n"
    seen.add(doc.name)
    code = re.search(r"```julia\n(.*?)\n?```", example, re.DOTALL)
    title = doc.name if [other.name for other in docs].count(doc.name) == 1 else doc.call
    parts = [f"{anchor}## {title}", f"```julia\n{signature}\n```", linked(body.strip(), known).replace("$", "\\$")]
    if code:
        parts += [f"```{{run}} julia\n{paragraph}\n```" for paragraph in code[1].split("\n\n")]
    return "\n\n".join(parts)


def page(topic, docs, known, seen):
    code = "\n".join(sessions.text_of(f"{stage}#{part}") for part in topic.stage)
    needs_data = any(re.search(r"\b(X|y|model|q|optimizer|m|search|classifier)\b", doc.text.partition("# Examples")[2]) for doc in docs)
    intro = "The examples below use these names:" if needs_data else "The examples begin with:"
    parts = [f"# {topic.title}", topic.summary, intro, f"```{{run}} julia\n{code if needs_data else 'using BDL'}\n```"]
    parts += [section(doc, docs, known, seen) for doc in docs]
    return "\n\n".join(parts) + "\n"


def docstrings():
    text = generated.output_of("julia", "--color=no", f"--project={package}", here / "julia_reference.jl")
    for entry in text.split("\x01")[1:]:
        head, _, body = entry.partition("\n")
        file, line, name = head.split()
        yield Docstring(file.removesuffix(".jl"), int(line), name, body)


def write(folder):
    docs = sorted(docstrings(), key=lambda doc: (doc.line, doc.name))
    known = {doc.name for doc in docs}
    seen = set()
    for topic in topics:
        mine = [doc for file in topic.files for doc in docs if doc.file == file]
        (folder / f"{topic.name}.md").write_text(page(topic, mine, known, seen))
    missing = {doc.file for doc in docs} - {file for topic in topics for file in topic.files}
    if missing:
        raise LookupError(f"docstrings of {', '.join(sorted(missing))} are on no page: see topics in julia_reference.py")


def setup(app):
    app.connect("builder-inited", lambda app: generated.refresh(Path(app.srcdir) / "reference" / "julia" / "generated", write))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
