"""Weights and offsets of rows, which libbdl takes as the last columns of y and of x."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier

from .. import arrays
from ..dataset import Dataset
from ..errors import brief
from ..model import Model


class Columns(NamedTuple):
    """What rows have besides inputs and targets: whether a weight, and how many offsets."""

    weight: bool = False
    offsets: int = 0

    @classmethod
    def of(cls, source: Model | Dataset) -> Columns:
        return cls(source.row_weights, source.offsets)

    def set_in(self, model: Model) -> Model:
        """Tells a new model of the columns, and returns it."""
        if self.weight:
            model.row_weights = True
        if self.offsets:
            model.offsets = True
            if model.offsets != self.offsets:
                raise ValueError(f"offset has {self.offsets} columns, expected {model.offsets}: one for each output of the model")
        return model

    def weights(self, targets: np.ndarray) -> np.ndarray | None:
        return targets[:, -1] if self.weight else None

    def targets_alone(self, targets: Any) -> Any:
        return targets[:, :-1] if self.weight and not isinstance(targets, Dataset) else targets

    def targets_without_offsets(self, x: Any, targets: Any) -> Any:
        """Returns real targets as they are without the offsets, with their weights."""
        if not self.offsets or isinstance(x, Dataset):
            return targets
        reduced = np.array(targets, dtype=np.float64)
        reduced[:, : self.offsets] -= x[:, -self.offsets :]
        return reduced


class TakesRows:
    """Adds weights and offsets to the rows of an estimator."""

    class_weight: Any = None
    model_: Model
    classes_: np.ndarray
    _columns = Columns()  # of the data that a new model is for

    def _with_columns(self, x: Any, targets: Any, sample_weight: Any, offset: Any, known: bool) -> tuple[Any, Any]:
        """Returns x and targets with the columns of the model, or, unless the model is known, with those that are given."""
        if isinstance(x, Dataset):
            self._take_columns_of(x, sample_weight, offset, known)
            return x, targets
        weights = None if sample_weight is None else weights_of(sample_weight, x)
        if weights is None and known and self.model_.row_weights and not self._has_shares(targets):
            weights = np.ones(len(x))
        if weights is None and self._has_shares(targets):
            raise ValueError("y has shares of successes, between 0 and 1: pass their numbers of trials as sample_weight")
        if known and weights is not None and not self.model_.row_weights:
            raise ValueError("sample_weight is given, but training was without: fit again, with sample_weight")
        x = self._with_offsets(x, offset) if known else _beside(x, offset)
        if not known:
            self._columns = Columns(weights is not None, 0 if offset is None else offsets_of(offset, x).shape[1])
        if weights is not None:
            targets = np.concatenate([targets, weights[:, np.newaxis]], axis=1, dtype=np.float64)
        return x, targets

    def _training_rows(
        self, x: Any, targets: Any, sample_weight: Any, offset: Any, known: bool, may_count: bool = True
    ) -> tuple[Any, Any]:
        """Returns x and targets with their columns, with the weights of classes, and without rows of weight 0."""
        weights = self._training_weight(sample_weight, x, targets, may_count)
        x, targets = self._with_columns(x, targets, weights, offset, known)
        if weights is None or np.all(targets[:, -1]):
            return x, targets
        present = targets[:, -1] > 0
        return x[present], targets[present]

    def _has_shares(self, targets: np.ndarray) -> bool:
        """True if encoded targets are shares of successes."""
        return is_classifier(self) and targets.dtype.kind == "f"

    def _take_columns_of(self, data: Dataset, sample_weight: Any, offset: Any, known: bool) -> None:
        if sample_weight is not None or offset is not None:
            raise TypeError(
                "X is a data set, which has weights and offsets as columns: create it with row_weights=True and offsets=1 (or more)"
            )
        if self.class_weight is not None:
            raise TypeError("class_weight takes arrays, X is a data set: give it weights as a column, with row_weights=True")
        columns = Columns.of(data)
        if known and columns != Columns.of(self.model_):
            raise ValueError(f"the rows have {_in_words(columns)}, but training was with {_in_words(Columns.of(self.model_))}")
        self._columns = columns

    def _with_offsets(self, x: np.ndarray, offset: Any) -> np.ndarray:
        """Returns x with the offsets that the model takes; without an offset they are 0."""
        expected = self.model_.offsets
        if offset is None:
            return _beside(x, np.zeros((len(x), expected))) if expected else x
        if not expected:
            raise ValueError("offset is given, but training was without: fit again, with offset")
        offset = offsets_of(offset, x)
        if offset.shape[1] != expected:
            raise ValueError(f"offset has {offset.shape[1]} columns, expected {expected} as in fit")
        return _beside(x, offset)

    def _training_weight(self, sample_weight: Any, x: Any, targets: Any, may_count: bool = True) -> Any:
        """Returns the weights of training rows: those of their classes times those that are given."""
        chosen = self.class_weight
        if chosen is None or isinstance(x, Dataset):
            return sample_weight
        if not is_classifier(self):
            raise ValueError("class_weight is for classifiers, y has numbers: leave it out")
        if self._has_shares(targets):
            raise ValueError("class_weight is for labels, y has shares of successes: leave it out")
        weights = np.ones(len(x)) if sample_weight is None else weights_of(sample_weight, x)
        if isinstance(chosen, str) and chosen == "balanced":
            if not may_count:
                raise ValueError("class_weight='balanced' needs all data: pass a dict for partial_fit, such as {label: weight}")
            sums = np.bincount(targets[:, 0], weights, len(self.classes_))
            of_class = np.sum(weights) / (np.count_nonzero(sums) * np.where(sums > 0, sums, 1.0))
        elif isinstance(chosen, dict):
            unknown = [label for label in chosen if label not in self.classes_]
            if unknown:
                raise ValueError(f"class_weight has the label {brief(unknown[0])}, which is not a class of y")
            of_class = np.array([chosen.get(label, 1.0) for label in self.classes_], dtype=np.float64)
        else:
            raise ValueError(f"class_weight is {brief(chosen)}, expected None, 'balanced' or a dict of labels and weights")
        return weights * of_class[targets[:, 0]]


def weights_of(sample_weight: Any, x: np.ndarray) -> np.ndarray:
    """Returns one weight for each row, at least 0, and not all 0."""
    weights = _column(sample_weight, "sample_weight", x)
    if weights.shape[1] != 1:
        raise ValueError(f"sample_weight has the shape {weights.shape}, expected one number for each row: ({len(x)},)")
    weights = weights[:, 0]
    if np.any(weights < 0):
        row = np.argmax(weights < 0)
        raise ValueError(f"sample_weight[{row}] is {weights[row]}, expected a number of at least 0")
    if len(weights) and not np.any(weights):
        raise ValueError("sample_weight is 0 in all rows, expected a positive weight in one of them")
    return weights


def offsets_of(offset: Any, x: np.ndarray) -> np.ndarray:
    """Returns the offsets of each row as columns."""
    return _column(offset, "offset", x)


def _column(values: Any, name: str, x: np.ndarray) -> np.ndarray:
    """Returns finite numbers, one row for each of x; a single number is that of all rows."""
    values = values if hasattr(values, "ndim") else np.asarray(values)
    if values.ndim == 0:
        values = np.full(len(x), values)
    columns = arrays.matrix(values, name).astype(np.float64)
    if len(columns) != len(x):
        raise ValueError(f"{name} has {len(columns)} rows, expected {len(x)} as X")
    wrong = ~np.isfinite(columns).all(axis=1)
    if np.any(wrong):
        row = np.argmax(wrong)
        raise ValueError(f"{name}[{row}] is {columns[row][~np.isfinite(columns[row])][0]}, expected a finite number")
    return columns


def _beside(x: np.ndarray, offset: Any) -> np.ndarray:
    """Returns x with offsets as its last columns, in single precision where x has no more."""
    if offset is None:
        return x
    dtype = np.float64 if x.dtype == np.float64 else np.float32
    return np.concatenate([x, offsets_of(offset, x)], axis=1, dtype=dtype)


def _in_words(columns: Columns) -> str:
    return f"{'weights' if columns.weight else 'no weights'} and {columns.offsets or 'no'} offsets"


def weighted_quantile(values: np.ndarray, weights: np.ndarray, level: float) -> float:
    """Returns a quantile of values that stand there as often as their weights say; between two of them only for whole weights.

    >>> weighted_quantile(np.array([3.0, 1.0]), np.array([1.0, 3.0]), 0.5)
    1.0
    """
    order = np.argsort(values)
    values, ends = values[order], np.cumsum(weights[order])
    if not np.all(weights == np.round(weights)):
        return float(values[min(np.searchsorted(ends, level * ends[-1]), len(values) - 1)])
    place = level * (ends[-1] - 1)
    below, above = values[np.searchsorted(ends, [np.floor(place), min(np.floor(place) + 1, ends[-1] - 1)], side="right")]
    return float(below + (place - np.floor(place)) * (above - below))
