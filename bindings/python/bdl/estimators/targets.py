"""Targets as the library takes them, without copies of what it can read in place."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from .. import arrays

# Rows looked at together, so that temporaries stay small beside the data.
_CHUNK = 1 << 16


def numbers(y: Any) -> np.ndarray:
    """One row per example."""
    return arrays.matrix(y, "y")


def labels(y: Any) -> np.ndarray:
    """A vector of labels of any type, of at least one class."""
    y = column_or_1d(arrays_only(y), warn=True)
    check_classification_targets(y)
    return y


def arrays_only(y: Any) -> Any:
    if hasattr(y, "toarray"):
        raise TypeError("y is sparse, expected a dense array: y.toarray() is one")
    return y


def classes_of(y: np.ndarray) -> np.ndarray:
    """The labels that occur, in order.

    >>> classes_of(np.array(["b", "a", "b"]))
    array(['a', 'b'], dtype='<U1')
    """
    parts = [np.unique(y[first : first + _CHUNK]) for first in range(0, len(y), _CHUNK)]
    return np.unique(np.concatenate(parts))


def numbers_of_labels(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Positions of the labels among the classes, a column of int32. Classes from other languages may be in any order.

    >>> numbers_of_labels(np.array([7, 3, 7]), np.array([3, 7]))[:, 0]
    array([1, 0, 1], dtype=int32)
    """
    numbers, order = np.empty((len(y), 1), dtype=np.int32), np.argsort(classes)
    for first in range(0, len(y), _CHUNK):
        part = y[first : first + _CHUNK]
        found = order[np.minimum(np.searchsorted(classes, part, sorter=order), len(classes) - 1)]
        unknown = classes[found] != part
        if np.any(unknown):
            raise ValueError(f"y contains the label {part[unknown][0]!r}, expected one of the classes {classes}")
        numbers[first : first + _CHUNK, 0] = found
    return numbers
