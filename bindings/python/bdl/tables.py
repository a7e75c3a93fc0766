"""Methods, options and defaults, from the library's own tables."""

from __future__ import annotations

from typing import NamedTuple

from . import lowlevel, names


class Option(NamedTuple):
    """A row of the table: type is "double", "int" or "choice"; default and range are texts."""

    name: str
    type: str
    default: str
    range: str
    doc: str


class Method(NamedTuple):
    """Description of a method: the families of posteriors that it learns, the default first ("low_rank",
    "diagonal", "full", "full_moment", "diagonal_moment" or "dropout"); whether it takes one observation after the other, each
    once; whether it goes to the optimum over all data by itself; how networks that it has trained predict best; what it
    is, and where it comes from; whether it is a baseline of its paper, there to compare with, and what the first fit by a
    baseline says of its intervals."""

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
    """A method of ``methods()``.

    >>> import bdl
    >>> lofi = bdl.describe_method("lo-fi")
    >>> lofi.families, lofi.is_stream, lofi.prediction, lofi.source
    (('low_rank',), True, 'linearized', 'Chang et al. 2023')
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
    """Names of all methods.

    >>> import bdl
    >>> "slang-ggn" in bdl.methods()
    True
    """
    return [lowlevel.bdl_method_name(i) for i in range(lowlevel.bdl_method_count())]


def options() -> dict[str, Option]:
    """All options by name.

    >>> import bdl
    >>> bdl.options()["learning_rate"].default
    '0.02'
    """
    rows = (lowlevel.bdl_option_describe(i) for i in range(lowlevel.bdl_option_count()))
    return {row[0]: Option(row[0], names.option_types.word(row[1]), *row[2:]) for row in rows}


def _default_values() -> dict[str, float]:
    rows = (lowlevel.bdl_default_describe(i) for i in range(lowlevel.bdl_default_count()))
    return {name: value for name, value, _ in rows}


types: dict[str, str] = {option.name: option.type for option in options().values()}

defaults: dict[str, float] = _default_values()
"""Defaults of estimators, equal in every language."""
