"""Communicators of MPI, for programs that are started by ``mpirun -n 4 python program.py``.

The module needs the library libbdl_mpi, which is built where an MPI is found, and no other package.

>>> import bdl
>>> processes = bdl.mpi.world()
>>> processes.rank, processes.size  # without mpirun
(0, 1)
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from pathlib import Path
from typing import Any

from . import lowlevel
from .communicator import Communicator, owned
from .errors import UnsupportedError, error_of_status

_name = "libbdl_mpi.so.0"


@lru_cache(maxsize=None)
def _library() -> ctypes.CDLL:
    """Returns the library beside this package, or else the system's."""
    beside = Path(__file__).with_name(_name)
    try:
        library = ctypes.CDLL(str(beside) if beside.exists() else _name, mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise UnsupportedError(f"bdl.mpi needs the library libbdl_mpi: install an MPI and build libbdl again ({error})") from None
    out = ctypes.POINTER(ctypes.c_void_p)
    library.bdl_communicator_world.argtypes = [ctypes.c_double, out]
    library.bdl_communicator_from_handle.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_double, out]
    return library


def _made(function: Any, *arguments: Any) -> Communicator:
    address = ctypes.c_void_p()
    status = function(*arguments, ctypes.byref(address))
    if status != 0:
        raise error_of_status(status, lowlevel.bdl_last_error())
    return owned(address.value or 0)


def world(timeout: float = 0.0) -> Communicator:
    """Returns all processes that mpirun has started. Starts MPI if necessary, and ends it with the program.

    Parameters
    ----------
    timeout : float, default=0.0
        Seconds to wait for a message of another process before an error; 0 waits for ever.

    Examples
    --------
    >>> import bdl
    >>> bdl.mpi.world(timeout=60.0).size
    1
    """
    return _made(_library().bdl_communicator_world, timeout)


def of(comm: Any, timeout: float = 0.0) -> Communicator:
    """Returns the processes of a communicator of mpi4py, which must use the same MPI.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        Communicator; it is duplicated.
    timeout : float, default=0.0
        Seconds to wait for a message of another process before an error; 0 waits for ever.

    Examples
    --------
    >>> import bdl
    >>> from mpi4py import MPI
    >>> bdl.mpi.of(MPI.COMM_WORLD).size
    1
    """
    from mpi4py import MPI

    return _made(_library().bdl_communicator_from_handle, MPI._addressof(comm), MPI._sizeof(comm), timeout)
