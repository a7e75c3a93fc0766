"""Base class of handles: ownership and pickling."""

from __future__ import annotations

from typing import Any, TypeVar

from . import lowlevel
from .errors import InvalidArgumentError

Self = TypeVar("Self", bound="Handle")


class Handle:
    """Base class of the handles :class:`Model`, :class:`Posterior`, :class:`Optimizer` and others.

    A handle owns an object of libbdl. Python frees the object with the handle; :meth:`close` and the end
    of a ``with`` block free it earlier. Using a closed handle is an error.

    >>> import bdl
    >>> with bdl.Posterior.full(2) as q:
    ...     q.closed
    False
    >>> q.closed
    True
    """

    _capsule: Any

    @classmethod
    def _of(cls: type[Self], capsule: Any) -> Self:
        handle = cls.__new__(cls)
        handle._capsule = capsule
        return handle

    @property
    def _handle(self) -> Any:
        capsule = getattr(self, "_capsule", None)
        if capsule is None:
            raise InvalidArgumentError(f"the {type(self).__name__.lower()} is closed: create it again")
        return capsule

    def close(self) -> None:
        """Frees the object now. You may close a handle twice.

        >>> import bdl
        >>> q = bdl.Posterior.full(2)
        >>> q.close()
        >>> q
        <closed Posterior>
        """
        self._capsule = None

    @property
    def closed(self) -> bool:
        """True after :meth:`close`.

        >>> import bdl
        >>> bdl.Posterior.full(2).closed
        False
        """
        return getattr(self, "_capsule", None) is None

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()


def capsule_of(value: Any, kind: type[Handle], name: str) -> Any:
    """Returns the capsule of a handle. Fails for an argument of another type."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} is a {type(value).__name__}, expected a {kind.__name__}")
    return value._handle


def to_bytes(model: Any, posterior: Any, optimizer: Any) -> bytes:
    """Returns a checkpoint in memory, of capsules or None."""
    size = lowlevel.bdl_save_bytes(model, posterior, optimizer, None)
    buffer = bytearray(size)
    lowlevel.bdl_save_bytes(model, posterior, optimizer, buffer)
    return bytes(buffer)
