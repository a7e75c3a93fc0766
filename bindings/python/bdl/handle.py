"""Base class of handles: ownership and pickling."""

from __future__ import annotations

from typing import Any, TypeVar

from . import lowlevel
from .errors import InvalidArgumentError

Self = TypeVar("Self", bound="Handle")


class Handle:
    """Owns an object of the library, which is freed with it or by ``close()``; using it after that is an error."""

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
            raise InvalidArgumentError(f"the {type(self).__name__.lower()} is closed")
        return capsule

    def close(self) -> None:
        """Frees the object now. Closing it again is fine."""
        self._capsule = None

    @property
    def closed(self) -> bool:
        return getattr(self, "_capsule", None) is None

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()


def capsule_of(value: Any, kind: type[Handle], name: str) -> Any:
    """The capsule of an argument that has to be such a handle."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} is a {type(value).__name__}, expected a {kind.__name__}")
    return value._handle


def to_bytes(model: Any, posterior: Any, optimizer: Any) -> bytes:
    """A checkpoint in memory, of capsules or None, to be read without anything else."""
    size = lowlevel.bdl_save_bytes(model, posterior, optimizer, None)
    buffer = bytearray(size)
    lowlevel.bdl_save_bytes(model, posterior, optimizer, buffer)
    return bytes(buffer)
