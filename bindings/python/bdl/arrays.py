"""Conversion of arrays to the ones that libbdl reads: two dimensions, float32, float64, int32 or uint8, any strides."""

from __future__ import annotations

from typing import Any

import numpy as np

_accepted = (np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int32), np.dtype(np.uint8))


def as_array(values: Any, name: str) -> np.ndarray:
    """Returns the values themselves if libbdl can read them in place, else converted to float64."""
    if hasattr(values, "toarray") and not isinstance(values, np.ndarray):
        raise TypeError(f"{name} is sparse, expected a dense array: {name}.toarray() is one")
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise TypeError(f"{name} has masked elements, expected all numbers: fill them, or leave out their rows")
    array = np.asarray(values)
    if array.dtype in _accepted:
        return array if _strides_fit(array) else array.copy()
    if array.dtype.kind in "biuf" or array.dtype.kind == "O" and not any(isinstance(v, (str, bytes)) for v in array.flat):
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError):
            pass
    raise TypeError(f"{name} has elements of type {array.dtype}, expected numbers")


def is_readable(array: Any) -> bool:
    """True if libbdl reads the array in place."""
    return isinstance(array, np.ndarray) and array.dtype in _accepted and _strides_fit(array)


def _strides_fit(array: np.ndarray) -> bool:
    return array.dtype.isnative and all(stride % array.itemsize == 0 for stride in array.strides)


def matrix(values: Any, name: str) -> np.ndarray:
    """Returns one example per row; a vector becomes one column, and images (n, channels, rows, columns) n rows."""
    array = as_array(values, name)
    if array.ndim == 1:
        return array[:, np.newaxis]
    if array.ndim == 2:
        return array
    if array.ndim == 4:
        return array.reshape(len(array), int(np.prod(array.shape[1:])))  # a view where each image is C-contiguous
    raise ValueError(f"{name} has {array.ndim} dimensions, expected 2, or 4 of images (n, channels, rows, columns)")


def row(values: Any, name: str) -> np.ndarray:
    """Returns one row from a vector, a number, or a matrix of one row."""
    array = as_array(values, name)
    if array.ndim < 2:
        return array.reshape(1, -1)
    if array.ndim == 2:
        return array
    raise ValueError(f"{name} has {array.ndim} dimensions, expected 1")


def rows(values: Any, name: str) -> np.ndarray:
    """Returns one vector per row; a vector becomes one row."""
    array = as_array(values, name)
    return array[np.newaxis, :] if array.ndim == 1 else matrix(array, name)


def empty(*shape: int) -> np.ndarray:
    """Returns an uninitialised array for results."""
    return np.empty(shape, dtype=np.float64)
