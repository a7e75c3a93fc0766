"""Names of a model's inputs, targets and classes, as Python has them."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import lowlevel

# How a class is written, and read again, by the type of all of them.
_WRITE: dict[int, Callable[[Any], str]] = {
    lowlevel.BDL_CLASS_TEXT: str,
    lowlevel.BDL_CLASS_BOOLEAN: lambda value: "true" if value else "false",
    lowlevel.BDL_CLASS_INTEGER: lambda value: str(int(value)),
    lowlevel.BDL_CLASS_REAL: lambda value: repr(float(value)),
}
_READ: dict[int, Callable[[str], Any]] = {
    lowlevel.BDL_CLASS_BOOLEAN: lambda text: text == "true",
    lowlevel.BDL_CLASS_INTEGER: int,
    lowlevel.BDL_CLASS_REAL: float,
}


def read_names(handle: Any, what: int, count: int) -> list[str] | None:
    """Returns all names, or None if there are none."""
    names = [lowlevel.bdl_model_get_name(handle, what, index) for index in range(count)]
    return names if any(names) else None


def write_names(handle: Any, what: int, count: int, names: Any, title: str) -> None:
    """Sets names, or removes them for None."""
    names = [""] * count if names is None else [str(name) for name in names]
    if len(names) != count:
        raise ValueError(f"{title} has {len(names)} names, expected {count}")
    for index, name in enumerate(names):
        lowlevel.bdl_model_set_name(handle, what, index, name)


def read_labels(handle: Any, count: int) -> np.ndarray | None:
    """Returns the labels of the classes in their own type, or None if there are none."""
    names = read_names(handle, lowlevel.BDL_CLASS, count) if count else None
    if names is None:
        return None
    read = _READ.get(lowlevel.bdl_model_get_class_type(handle))
    return np.array(names if read is None else [read(name) for name in names])


def write_labels(handle: Any, count: int, labels: Any) -> None:
    if labels is None:
        return write_names(handle, lowlevel.BDL_CLASS, count, None, "labels")
    kind = type_of(labels)
    if kind is None:
        raise TypeError(f"labels are {labels!r}, expected all text, integers, real numbers or truth values")
    write_names(handle, lowlevel.BDL_CLASS, count, [_WRITE[kind](label) for label in labels], "labels")
    lowlevel.bdl_model_set_class_type(handle, kind)


def type_of(labels: Any) -> int | None:
    """Returns the type of labels, for checkpoints; None if they are neither texts nor numbers, or have several types.

    >>> type_of(["no", "yes"]) == lowlevel.BDL_CLASS_TEXT, type_of([1, "a"])
    (True, None)
    """
    kinds = {_type_of_one(label) for label in labels}
    return kinds.pop() if len(kinds) == 1 else None


def _type_of_one(label: Any) -> int | None:
    if isinstance(label, str):
        return lowlevel.BDL_CLASS_TEXT
    if isinstance(label, (bool, np.bool_)):
        return lowlevel.BDL_CLASS_BOOLEAN
    if isinstance(label, (int, np.integer)):
        return lowlevel.BDL_CLASS_INTEGER
    return lowlevel.BDL_CLASS_REAL if isinstance(label, (float, np.floating)) else None
