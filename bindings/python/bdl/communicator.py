"""Ranks that train together: any object that moves bytes, or MPI (``bdl.mpi``)."""

from __future__ import annotations

from typing import NamedTuple, Protocol, Sequence

from . import lowlevel
from .handle import Handle


class MovesBytes(Protocol):
    """Parts of a communicator: this rank, the number of ranks, and two ways to move bytes."""

    rank: int
    size: int

    def all_gather(self, message: bytes) -> Sequence[bytes]:
        """The messages of all ranks, in their order; every rank calls it at the same time."""
        ...

    def exchange(self, peer: int, message: bytes) -> bytes:
        """The message of ``peer``, which calls at the same time and gets this one."""
        ...


class Statistics(NamedTuple):
    """Calls of the two methods, bytes that others have got and that were received, seconds spent."""

    calls: int
    sent: int
    received: int
    seconds: float


class Communicator(Handle):
    """The ranks of a program, for ``Optimizer.set_communicator``.

    >>> import bdl
    >>> class Alone:
    ...     rank, size = 0, 1
    ...     def all_gather(self, message): return [message]
    ...     def exchange(self, peer, message): raise RuntimeError("there is no peer")
    >>> ranks = bdl.Communicator(Alone())
    >>> ranks.rank, ranks.size
    (0, 1)
    """

    def __init__(self, moves: MovesBytes):
        self._capsule = lowlevel.bdl_communicator_create(moves.rank, moves.size, moves)

    @property
    def rank(self) -> int:
        return lowlevel.bdl_communicator_size(self._handle)[0]

    @property
    def size(self) -> int:
        return lowlevel.bdl_communicator_size(self._handle)[1]

    def statistics(self) -> Statistics:
        """Bytes moved so far, and the time it took."""
        return Statistics(*lowlevel.bdl_communicator_statistics(self._handle))


def owned(address: int) -> Communicator:
    """The communicator that a library on top of libbdl has made."""
    return Communicator._of(lowlevel.own_communicator(address))


__all__ = ["Communicator", "MovesBytes", "Statistics"]
