"""Communicators of MPI, by the library libbdl_mpi: ``mpirun -n 4 python program.py``.

It needs no other package; with mpi4py, its communicators may be used, too, if both are of the same MPI.
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
    """The one beside this package, or else the system's."""
    beside = Path(__file__).with_name(_name)
    try:
        library = ctypes.CDLL(str(beside) if beside.exists() else _name, mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise UnsupportedError(f"bdl.mpi needs libbdl_mpi, which is built where an MPI is found: {error}") from None
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
    """All ranks that the launcher has started. Starts MPI unless it runs, and ends it with the program.

    A message that does not come for ``timeout`` seconds is an error; 0 waits for ever.
    """
    return _made(_library().bdl_communicator_world, timeout)


def of(comm: Any, timeout: float = 0.0) -> Communicator:
    """The ranks of a communicator of mpi4py."""
    from mpi4py import MPI

    return _made(_library().bdl_communicator_from_handle, MPI._addressof(comm), MPI._sizeof(comm), timeout)
