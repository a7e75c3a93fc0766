"""Exceptions: one class per status of the library, each carrying the library's message.

>>> import bdl
>>> try:
...     bdl.Posterior.low_rank(dimension=0, rank=0)
... except bdl.InvalidArgumentError as error:
...     print(error)
bdl_posterior_create_low_rank: dimension is 0, expected 1 to 2147483647
"""

from __future__ import annotations

import reprlib
from typing import Any, Iterable

from . import lowlevel

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 80


def brief(value: Any) -> str:
    """A value as one short line of a message.

    >>> brief(list(range(1000)))
    '[0, 1, 2, 3, 4, 5, ...]'
    """
    shape = getattr(value, "shape", ())
    if len(shape) > 0:
        return f"an array of shape {tuple(shape)}"
    return " ".join(_short.repr(value).split())


def brief_list(values: Iterable[Any]) -> str:
    """The first of some values, for a message.

    >>> brief_list(range(100))
    '0, 1, 2, 3, 4, 5, 6, 7, ... (100 in all)'
    """
    values = list(values)
    rest = f", ... ({len(values)} in all)" if len(values) > 8 else ""
    return ", ".join(map(brief, values[:8])) + rest


class BDLError(Exception):
    """Base class of all failures of the library. ``status`` is the number of its ``bdl_status``."""

    status: int = lowlevel.BDL_ERROR_INTERNAL


class InvalidArgumentError(BDLError, ValueError):
    """An argument is missing, out of range or contradictory."""

    status = lowlevel.BDL_ERROR_INVALID_ARGUMENT


class ShapeError(BDLError, ValueError):
    """An array has the wrong number of rows or columns, or type."""

    status = lowlevel.BDL_ERROR_SHAPE


class NotFiniteError(BDLError, ValueError):
    """Input data contain NaN or infinity; the message says where."""

    status = lowlevel.BDL_ERROR_NOT_FINITE


class LabelError(BDLError, ValueError):
    """A target is not valid for the likelihood."""

    status = lowlevel.BDL_ERROR_LABEL


class UnknownOptionError(BDLError, ValueError):
    """No option of that name; the message offers the nearest."""

    status = lowlevel.BDL_ERROR_UNKNOWN_OPTION


class UnsupportedError(BDLError, NotImplementedError):
    """These handles do not offer this operation."""

    status = lowlevel.BDL_ERROR_UNSUPPORTED


class OutOfMemoryError(BDLError, MemoryError):
    """Memory could not be allocated."""

    status = lowlevel.BDL_ERROR_OUT_OF_MEMORY


class FileError(BDLError, OSError):
    """A file could not be opened, read or written."""

    status = lowlevel.BDL_ERROR_FILE


class FormatError(BDLError, ValueError):
    """A file is not a valid checkpoint."""

    status = lowlevel.BDL_ERROR_FORMAT


class DivergedError(BDLError, ArithmeticError):
    """Training met a non-finite value; the step was not taken."""

    status = lowlevel.BDL_ERROR_DIVERGED


class CallbackError(BDLError, RuntimeError):
    """A callback reported failure. Exceptions of Python callables come out as they are instead."""

    status = lowlevel.BDL_ERROR_CALLBACK


class InternalError(BDLError, RuntimeError):
    """A defect in libbdl; please report it."""

    status = lowlevel.BDL_ERROR_INTERNAL


class PeerError(BDLError, RuntimeError):
    """Another rank failed in a collective call: its number and message."""

    status = lowlevel.BDL_ERROR_PEER


class CommunicationError(BDLError, ConnectionError):
    """Ranks have lost each other, and the communicator is of no more use."""

    status = lowlevel.BDL_ERROR_COMMUNICATION


_classes = {
    kind.status: kind
    for kind in (
        InvalidArgumentError,
        ShapeError,
        NotFiniteError,
        LabelError,
        UnknownOptionError,
        UnsupportedError,
        OutOfMemoryError,
        FileError,
        FormatError,
        DivergedError,
        CallbackError,
        InternalError,
        PeerError,
        CommunicationError,
    )
}


def error_of_status(status: int, message: str) -> BDLError:
    """The exception for a status; called by the extension module."""
    return _classes.get(status, InternalError)(message)
