"""Conversion of targets, without copies of those that libbdl reads in place."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from .. import arrays
from ..errors import brief, brief_list

# Rows looked at together, so that temporaries stay small beside the data.
_CHUNK = 1 << 16


def numbers(y: Any) -> np.ndarray:
    """Returns one row per example."""
    return arrays.matrix(y, "y")


def labels(y: Any) -> np.ndarray:
    """Returns a vector of labels of any type."""
    if np.ndim(y) == 2 and np.shape(y)[1] == 2:
        raise ValueError(
            "y should be a 1d array, got 2 columns: for numbers of successes and failures, pass the share of successes as y, "
            "and the sum of both as sample_weight"
        )
    y = column_or_1d(arrays_only(y), warn=True)
    check_classification_targets(y)
    return y


def are_shares(y: Any) -> bool:
    """True of real numbers from 0 to 1 of which one is neither.

    >>> are_shares([0.25, 1.0]), are_shares([0.0, 1.0]), are_shares(["no", "yes"])
    (True, False, False)
    """
    y = np.asarray(arrays_only(y))
    if y.dtype.kind != "f" or y.size != len(y):
        return False
    return bool(np.all((y >= 0) & (y <= 1)) and np.any(y != np.round(y)))


def arrays_only(y: Any) -> Any:
    if hasattr(y, "toarray"):
        raise TypeError("y is sparse, expected a dense array: y.toarray() is one")
    return y


def classes_of(y: np.ndarray) -> np.ndarray:
    """Returns the labels that occur, in order.

    >>> classes_of(np.array(["b", "a", "b"]))
    array(['a', 'b'], dtype='<U1')
    """
    parts = [np.unique(y[first : first + _CHUNK]) for first in range(0, len(y), _CHUNK)]
    return np.unique(np.concatenate(parts))


def ordered_categories(y: Any) -> np.ndarray | None:
    """Returns the categories of an ordered categorical of pandas, in their order; None for other labels."""
    dtype = getattr(y, "dtype", None)
    return np.asarray(dtype.categories) if getattr(dtype, "ordered", False) else None


def check_are_classes(classes: np.ndarray, rows: int) -> None:
    """Numbers to regress on have a class for nearly every row where they are taken as labels. (Real numbers are refused by
    scikit-learn.)"""
    if len(classes) <= max(10, rows / 2):
        return
    many = f"{len(classes)} different values in {rows} rows"
    if _are_text_of_numbers(classes):
        raise ValueError(f"y has texts of numbers, {many}, not classes: pass y.astype(float)")
    warnings.warn(f"y has a class for nearly every row: {many}. If they are numbers, take a regressor", stacklevel=2)


def _are_text_of_numbers(classes: np.ndarray) -> bool:
    try:
        return isinstance(classes[0], (str, bytes)) and bool(np.isfinite(classes.astype(float)).all())
    except (TypeError, ValueError):
        return False


def numbers_of_labels(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Returns the positions of labels among the classes, a column of int32; classes may be in any order.

    >>> numbers_of_labels(np.array([7, 3, 7]), np.array([3, 7]))[:, 0]
    array([1, 0, 1], dtype=int32)
    """
    numbers, order = np.empty((len(y), 1), dtype=np.int32), np.argsort(classes)
    for first in range(0, len(y), _CHUNK):
        part = y[first : first + _CHUNK]
        found = order[np.minimum(np.searchsorted(classes, part, sorter=order), len(classes) - 1)]
        unknown = classes[found] != part
        if np.any(unknown):
            raise ValueError(f"y contains the label {brief(part[unknown][0])}, expected one of the classes {brief_list(classes)}")
        numbers[first : first + _CHUNK, 0] = found
    return numbers
