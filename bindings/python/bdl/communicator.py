"""Communicators: processes that train together, by MPI (``bdl.mpi``) or any object that moves bytes."""

from __future__ import annotations

from typing import NamedTuple, Protocol, Sequence

from . import lowlevel
from .handle import Handle


class MovesBytes(Protocol):
    """Interface of your own communicator: the number of this process, their count, two methods.

    >>> import bdl
    >>> class Alone:
    ...     rank, size = 0, 1
    ...     def all_gather(self, message): return [message]
    ...     def exchange(self, peer, message): return message
    >>> processes = bdl.Communicator(Alone())
    >>> processes.rank, processes.size
    (0, 1)
    """

    rank: int
    size: int

    def all_gather(self, message: bytes) -> Sequence[bytes]:
        """Returns the messages of all processes, in their order; all of them call it together.

        >>> class Alone:
        ...     def all_gather(self, message): return [message]
        >>> Alone().all_gather(b"bytes")
        [b'bytes']
        """
        ...

    def exchange(self, peer: int, message: bytes) -> bytes:
        """Returns the message of process ``peer``, which calls it at the same time and gets this one.

        >>> class Pair:
        ...     def exchange(self, peer, message): return message  # the peer sends the same
        >>> Pair().exchange(1, b"bytes")
        b'bytes'
        """
        ...


class Statistics(NamedTuple):
    """Traffic of a communicator: calls of its methods, bytes sent and received, seconds spent.

    >>> import bdl
    >>> class Alone:
    ...     rank, size = 0, 1
    ...     def all_gather(self, message): return [message]
    ...     def exchange(self, peer, message): return message
    >>> processes = bdl.Communicator(Alone())
    >>> found = processes.statistics()
    >>> found.calls, found.sent, found.received, found.seconds
    (0, 0, 0, 0.0)
    """

    calls: int
    sent: int
    received: int
    seconds: float


class Communicator(Handle):
    """The processes of a program that train together, for :meth:`Optimizer.set_communicator`.

    ``bdl.mpi.world()`` gives those of an MPI program. This class makes a communicator of your own.

    Parameters
    ----------
    moves : MovesBytes
        Object with the attributes ``rank`` and ``size`` and the methods ``all_gather`` and ``exchange``.

    Examples
    --------
    >>> import bdl
    >>> class Alone:
    ...     rank, size = 0, 1
    ...     def all_gather(self, message): return [message]
    ...     def exchange(self, peer, message): return message
    >>> processes = bdl.Communicator(Alone())
    >>> processes.rank, processes.size
    (0, 1)
    """

    def __init__(self, moves: MovesBytes):
        """Creates a communicator; the class describes the argument."""
        self._capsule = lowlevel.bdl_communicator_create(moves.rank, moves.size, moves)

    @property
    def rank(self) -> int:
        """Number of this process, 0 to size - 1."""
        return lowlevel.bdl_communicator_size(self._handle)[0]

    @property
    def size(self) -> int:
        """Number of processes."""
        return lowlevel.bdl_communicator_size(self._handle)[1]

    def statistics(self) -> Statistics:
        """Returns calls, bytes and seconds so far, a :class:`bdl.communicator.Statistics`.

        >>> import bdl
        >>> class Alone:
        ...     rank, size = 0, 1
        ...     def all_gather(self, message): return [message]
        ...     def exchange(self, peer, message): return message
        >>> processes = bdl.Communicator(Alone())
        >>> processes.statistics().calls
        0
        """
        return Statistics(*lowlevel.bdl_communicator_statistics(self._handle))


def owned(address: int) -> Communicator:
    """Returns the communicator that a library on top of libbdl has made."""
    return Communicator._of(lowlevel.own_communicator(address))


__all__ = ["Communicator", "MovesBytes", "Statistics"]
