"""Predictions of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score

from ..dataset import Dataset
from ..errors import brief, brief_list
from ..predict import ClassPrediction, predict_classes
from . import construction, targets
from .drawing import drawn


class PredictsClasses:
    """Predicts labels, for Bernoulli (two classes) and categorical likelihoods."""

    classes_: np.ndarray

    def _encode_labels(self, y: Any, known: bool, classes: Any = None) -> np.ndarray:
        if isinstance(y, Dataset):
            return self._numbered_classes(y, known)
        if targets.are_shares(y) and getattr(self, "family", "") not in ("categorical", "ordinal"):
            return self._encode_shares(y, known, classes)
        if classes is not None:
            classes = np.asarray(classes) if self._keeps_order() else np.unique(np.asarray(classes))
        y = targets.labels(y)
        if known:
            if classes is not None and not np.array_equal(classes, self.classes_):
                raise ValueError(f"classes is {brief_list(classes)}, not the classes of former calls {brief_list(self.classes_)}")
            return targets.numbers_of_labels(y, self.classes_)
        if classes is None:
            classes = targets.classes_of(y)
            targets.check_are_classes(classes, len(y))
        if len(classes) < 2:
            raise ValueError(f"y has one class only, {brief(classes[0])}, expected at least 2 classes")
        numbers = targets.numbers_of_labels(y, classes)
        self.classes_ = classes
        return numbers

    def _encode_shares(self, y: Any, known: bool, classes: Any) -> np.ndarray:
        """Returns shares of successes; the classes are failure, 0, and success, 1."""
        for labels in [self.classes_ if known else None, classes]:
            if labels is not None and not np.array_equal(np.asarray(labels), [0, 1]):
                raise ValueError(f"y has shares of successes, between 0 and 1, but the classes are {brief_list(labels)}, expected 0 and 1")
        self.classes_ = np.array([0, 1])
        return targets.numbers(y).astype(np.float64)

    def _accuracy(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> float:
        """Returns the share of right labels; of shares of successes that of the single trials."""
        predicted = self._predict_labels(X, offset)
        if not targets.are_shares(y):
            return float(accuracy_score(y, predicted, sample_weight=sample_weight))
        share = targets.numbers(y)[:, 0]
        return float(np.average(np.where(predicted == 1, share, 1 - share), weights=sample_weight))

    def _numbered_classes(self, data: Dataset, known: bool) -> Dataset:
        """Checks the classes of a data set, whose labels are class numbers already."""
        if known:
            if not np.array_equal(self.classes_, np.arange(len(self.classes_))):
                raise ValueError(f"labels of a data set are 0, 1, ..., not the classes of former calls {brief_list(self.classes_)}")
            return data
        if construction.targets_of(data) != 1:
            raise ValueError(f"y has {construction.targets_of(data)} columns, expected one of class numbers")
        smallest, largest = (int(limit[0]) if float(limit[0]).is_integer() else limit[0] for limit in data.target_range())
        if not (isinstance(largest, int) and smallest in (0, 1) and largest >= 1):
            raise ValueError(f"labels of a data set are the numbers 0, 1, ... of classes, y lies between {smallest} and {largest}")
        self.classes_ = np.arange(largest + 1)
        return data

    def _keeps_order(self) -> bool:
        """True if classes have an order of their own: that of an ordered categorical, or of ``classes``."""
        return False

    def _class_outputs(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _class_distribution(self, X: Any, offset: Any) -> ClassPrediction:
        return predict_classes(*self._handles(), self._inputs(X, offset), **self._how())

    def _probabilities(self, X: Any, offset: Any = None) -> np.ndarray:
        return self._all_classes(self._class_distribution(X, offset).probabilities)

    def _all_classes(self, probabilities: np.ndarray) -> np.ndarray:
        """Returns probabilities of both classes if the model has only the second's."""
        return np.hstack([1 - probabilities, probabilities]) if probabilities.shape[1] == 1 else probabilities

    def _predict_labels(self, X: Any, offset: Any = None) -> np.ndarray:
        numbers = np.argmax(self._probabilities(X, offset), axis=1)
        return self.classes_[numbers]

    def _class_uncertainty(self, X: Any, offset: Any = None) -> ClassPrediction:
        found = self._class_distribution(X, offset)
        information = None if found.mutual_information is None else found.mutual_information[:, 0]
        return ClassPrediction(self._all_classes(found.probabilities), found.entropy[:, 0], information)

    def _sample_labels(self, X: Any, n_samples: int, random_state: Any, offset: Any = None) -> np.ndarray:
        prediction = self._prediction()
        method = prediction if prediction.startswith("linearized") else "monte_carlo"
        seed = construction.seed_of(random_state)
        draws = drawn(self._handles(), self._inputs(X, offset), n_samples, seed, method)
        return self.classes_[draws[:, 0].astype(np.intp)]

    def _labels_loaded(self) -> None:
        labels = self.model_.class_labels
        count = self.model_.levels or max(self.model_.outputs, 2)
        self.classes_ = np.arange(count) if labels is None else labels
