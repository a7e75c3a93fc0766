"""Methods and options of optimizers, from the library's own tables."""

from __future__ import annotations

from typing import NamedTuple

from . import lowlevel, names
from .errors import InvalidArgumentError


class Option(NamedTuple):
    """A row of the table: type is "double", "int" or "choice"; default and range are texts."""

    name: str
    type: str
    default: str
    range: str
    doc: str


class Method(NamedTuple):
    """What a method is for: the posteriors that it learns ("any" Gaussian one, "low_rank", "diagonal", "full" or
    "dropout"); whether it takes one observation after the other, each once; whether it goes to the optimum over all data by
    itself; and how networks that it has trained predict best."""

    name: str
    family: str
    is_stream: bool
    is_exact: bool
    prediction: str


def describe_method(name: str) -> Method:
    """A method of ``methods()``.

    >>> import bdl
    >>> bdl.describe_method("lo-fi")
    Method(name='lo-fi', family='low_rank', is_stream=True, is_exact=False, prediction='monte_carlo')
    """
    family, is_stream, is_exact, prediction = lowlevel.bdl_method_describe(name)
    return Method(name, family, bool(is_stream), bool(is_exact), names.predict_methods.word(prediction))


def methods() -> list[str]:
    """Names of all methods.

    >>> import bdl
    >>> "slang-ggn" in bdl.methods()
    True
    """
    found: list[str] = []
    while (name := lowlevel.bdl_method_name(len(found))) is not None:
        found.append(name)
    return found


def options() -> dict[str, Option]:
    """All options by name.

    >>> import bdl
    >>> bdl.options()["learning_rate"].default
    '0.02'
    """
    found: dict[str, Option] = {}
    while True:
        try:
            name, number, default, range_, doc = lowlevel.bdl_option_describe(len(found))
        except InvalidArgumentError:  # ends the list
            return found
        found[name] = Option(name, names.option_types.word(number), default, range_, doc)


types: dict[str, str] = {option.name: option.type for option in options().values()}
