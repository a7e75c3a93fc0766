"""Methods, options and defaults, from the library's own tables."""

from __future__ import annotations

from typing import NamedTuple

from . import lowlevel, names


class Option(NamedTuple):
    """Description of an option: name, type, default, range and meaning, all texts.

    ``type`` is "double", "int" or "choice". ``default`` is the general default; some methods have their own.

    >>> import bdl
    >>> option = bdl.options()["schedule"]
    >>> option.name, option.type, option.default, option.range
    ('schedule', 'choice', 'cosine', 'cosine | power | steps')
    >>> option.doc[:19]
    'How both rates fall'
    """

    name: str
    type: str
    default: str
    range: str
    doc: str


class Method(NamedTuple):
    """Description of a method.

    ``families`` are the families of posteriors that it learns; :func:`suggest_training` returns the default for
    a model. ``is_stream`` is true if it learns from one row after the other, each once. ``is_exact`` is true if
    it goes to the optimum over all data by itself. ``prediction`` is how its networks predict in general.
    ``doc`` and ``source`` describe it.
    ``is_baseline`` is true if it is a baseline of its paper, for comparisons; ``caution`` then states which
    condition of our test it missed.

    >>> import bdl
    >>> lofi = bdl.describe_method("lo-fi")
    >>> lofi.name, lofi.families, lofi.is_stream, lofi.is_exact, lofi.prediction
    ('lo-fi', ('low_rank',), True, False, 'linearized')
    >>> lofi.source, lofi.is_baseline, lofi.caution, len(lofi.doc) > 0
    ('Chang et al. 2023', False, '', True)
    """

    name: str
    families: tuple[str, ...]
    is_stream: bool
    is_exact: bool
    prediction: str
    doc: str
    source: str
    is_baseline: bool
    caution: str


def describe_method(name: str) -> Method:
    """Returns the description of a method, a :class:`bdl.Method`.

    Parameters
    ----------
    name : str
        Name of the method, one of :func:`methods`.

    Examples
    --------
    >>> import bdl
    >>> bdl.describe_method("laplace").families[:3]
    ('low_rank', 'diagonal', 'full')
    >>> bdl.describe_method("bbb").is_baseline
    True
    """
    families, is_stream, is_exact, prediction, doc, source = lowlevel.bdl_method_describe(name)
    word = names.predict_methods.word(prediction)
    is_baseline, caution = lowlevel.bdl_method_standing(name)
    return Method(
        name, tuple(families.split(" | ")), bool(is_stream), bool(is_exact), word, doc, source, bool(is_baseline), caution
    )


def methods() -> list[str]:
    """Returns the names of all methods, a list.

    >>> import bdl
    >>> "slang-ggn" in bdl.methods()
    True
    """
    return [lowlevel.bdl_method_name(i) for i in range(lowlevel.bdl_method_count())]


def options() -> dict[str, Option]:
    """Returns the descriptions of all options, a dict of :class:`bdl.Option` by name.

    The default of an option may depend on the method: :attr:`bdl.Optimizer.options` has the values.

    >>> import bdl
    >>> bdl.options()["kl_weight"].default
    '1'
    >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
    >>> bdl.Optimizer(model, q, "map")["learning_rate"]
    0.01
    """
    rows = (lowlevel.bdl_option_describe(i) for i in range(lowlevel.bdl_option_count()))
    return {row[0]: Option(row[0], names.option_types.word(row[1]), *row[2:]) for row in rows}


def _default_values() -> dict[str, float]:
    rows = (lowlevel.bdl_default_describe(i) for i in range(lowlevel.bdl_default_count()))
    return {name: value for name, value, _ in rows}


types: dict[str, str] = {option.name: option.type for option in options().values()}

defaults: dict[str, float] = _default_values()
"""Defaults of estimators, equal in every language."""
