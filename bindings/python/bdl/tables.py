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
