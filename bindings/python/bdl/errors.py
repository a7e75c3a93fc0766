"""Exceptions: one class for each kind of failure.

Each class also derives from the built-in exception that fits, such as ``ValueError``.

>>> import bdl
>>> try:
...     bdl.Posterior.full(dimension=0)
... except ValueError as error:
...     print(type(error).__name__)
InvalidArgumentError
"""

from __future__ import annotations

import reprlib
from typing import Any, Iterable

from . import lowlevel

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 80


def brief(value: Any) -> str:
    """Returns a value as one short line of a message.

    >>> brief(list(range(1000)))
    '[0, 1, 2, 3, 4, 5, ...]'
    """
    shape = getattr(value, "shape", ())
    if len(shape) > 0:
        return f"an array of shape {tuple(shape)}"
    return " ".join(_short.repr(value).split())


def brief_list(values: Iterable[Any]) -> str:
    """Returns the first of some values as text for a message.

    >>> brief_list(range(100))
    '0, 1, 2, 3, 4, 5, 6, 7, ... (100 in all)'
    """
    values = list(values)
    rest = f", ... ({len(values)} in all)" if len(values) > 8 else ""
    return ", ".join(map(brief, values[:8])) + rest


class BDLError(Exception):
    """Base class of all errors of libbdl. ``status`` is the number of the ``bdl_status`` in C.

    >>> import bdl
    >>> try:
    ...     bdl.Posterior.full(dimension=0)
    ... except bdl.BDLError as error:
    ...     print(error.status)
    1
    """

    status: int = lowlevel.BDL_ERROR_INTERNAL


class InvalidArgumentError(BDLError, ValueError):
    """Raised if an argument is missing, out of range or contradictory; a ``ValueError``.

    >>> import bdl
    >>> try:
    ...     bdl.Posterior.full(dimension=0)
    ... except bdl.InvalidArgumentError as error:
    ...     print(isinstance(error, ValueError))
    True
    """

    status = lowlevel.BDL_ERROR_INVALID_ARGUMENT


class ShapeError(BDLError, ValueError):
    """Raised if an array has the wrong number of rows or columns, or the wrong type; a ``ValueError``.

    >>> import bdl
    >>> try:
    ...     bdl.Model.mlp([2, 1]).evaluate([1.0, 2.0, 3.0], [[1.0, 2.0, 3.0]])
    ... except bdl.ShapeError as error:
    ...     print(isinstance(error, ValueError))
    True
    """

    status = lowlevel.BDL_ERROR_SHAPE


class NotFiniteError(BDLError, ValueError):
    """Raised if data contain NaN or infinity; the message names the place. It is a ``ValueError``.

    >>> import bdl
    >>> try:
    ...     bdl.metrics.rmse([1.0], [float("nan")])
    ... except bdl.NotFiniteError as error:
    ...     print(isinstance(error, ValueError))
    True
    """

    status = lowlevel.BDL_ERROR_NOT_FINITE


class LabelError(BDLError, ValueError):
    """Raised if a target is not valid for the likelihood, such as a negative count; a ``ValueError``.

    >>> import bdl
    >>> try:
    ...     model = bdl.Model.mlp([1, 1], likelihood="poisson")
    ...     model.log_likelihood([0.0, 0.0], [1.0], [-1.0])
    ... except bdl.LabelError as error:
    ...     print(isinstance(error, ValueError))
    True
    """

    status = lowlevel.BDL_ERROR_LABEL


class UnknownOptionError(BDLError, ValueError):
    """Raised if no option has this name; the message offers the nearest. It is a ``ValueError``.

    >>> import bdl
    >>> try:
    ...     bdl.BayesianGLM(options={"lerning_rate": 0.1}).fit([[0], [1]], [1, 2])
    ... except bdl.UnknownOptionError as error:
    ...     print(isinstance(error, ValueError))
    True
    """

    status = lowlevel.BDL_ERROR_UNKNOWN_OPTION


class UnsupportedError(BDLError, NotImplementedError):
    """Raised if a model, posterior or method does not offer the operation; a ``NotImplementedError``.

    >>> import bdl
    >>> try:
    ...     bdl.Model.mlp([2, 1]).degrees_of_freedom
    ... except bdl.UnsupportedError as error:
    ...     print(isinstance(error, NotImplementedError))
    True
    """

    status = lowlevel.BDL_ERROR_UNSUPPORTED


class OutOfMemoryError(BDLError, MemoryError):
    """Raised if there is not enough memory; a ``MemoryError``.

    >>> import bdl
    >>> try:
    ...     bdl.Posterior.full(dimension=5 * 10**6)
    ... except bdl.OutOfMemoryError as error:
    ...     print(isinstance(error, MemoryError))
    True
    """

    status = lowlevel.BDL_ERROR_OUT_OF_MEMORY


class FileError(BDLError, OSError):
    """Raised if a file cannot be opened, read or written; an ``OSError``.

    >>> import bdl
    >>> try:
    ...     bdl.load("no such file")
    ... except bdl.FileError as error:
    ...     print(isinstance(error, OSError))
    True
    """

    status = lowlevel.BDL_ERROR_FILE


class FormatError(BDLError, ValueError):
    """Raised if a file is not a valid checkpoint; a ``ValueError``.

    >>> import bdl
    >>> try:
    ...     bdl.load(bdl.__file__)
    ... except bdl.FormatError as error:
    ...     print(isinstance(error, ValueError))
    True
    """

    status = lowlevel.BDL_ERROR_FORMAT


class DivergedError(BDLError, ArithmeticError):
    """Raised if training diverged; libbdl keeps the last good state. It is an ``ArithmeticError``.

    Scores raise it if they are infinite.

    >>> import bdl
    >>> try:
    ...     bdl.metrics.nll([[1.0, 0.0]], [1])
    ... except bdl.DivergedError as error:
    ...     print(isinstance(error, ArithmeticError))
    True
    """

    status = lowlevel.BDL_ERROR_DIVERGED


class CallbackError(BDLError, RuntimeError):
    """Raised if a function that libbdl calls reports failure; a ``RuntimeError``.

    Exceptions of your own Python functions reach you unchanged instead.

    >>> import bdl
    >>> try:
    ...     raise bdl.CallbackError("the simulator failed")
    ... except bdl.CallbackError as error:
    ...     print(isinstance(error, RuntimeError))
    True
    """

    status = lowlevel.BDL_ERROR_CALLBACK


class InternalError(BDLError, RuntimeError):
    """Raised if libbdl has a defect: please report it. It is a ``RuntimeError``.

    >>> import bdl
    >>> try:
    ...     raise bdl.InternalError("please report")
    ... except bdl.InternalError as error:
    ...     print(isinstance(error, RuntimeError))
    True
    """

    status = lowlevel.BDL_ERROR_INTERNAL


class PeerError(BDLError, RuntimeError):
    """Raised if another process failed, with its number and message; a ``RuntimeError``.

    >>> import bdl
    >>> try:
    ...     raise bdl.PeerError("process 2 failed")
    ... except bdl.PeerError as error:
    ...     print(isinstance(error, RuntimeError))
    True
    """

    status = lowlevel.BDL_ERROR_PEER


class CommunicationError(BDLError, ConnectionError):
    """Raised if processes have lost each other; the communicator cannot be used again.

    It is a ``ConnectionError``.

    >>> import bdl
    >>> try:
    ...     raise bdl.CommunicationError("no message for 60 s")
    ... except bdl.CommunicationError as error:
    ...     print(isinstance(error, ConnectionError))
    True
    """

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
    """Returns the exception for a status; the extension module calls it."""
    return _classes.get(status, InternalError)(message)
