"""Classification by networks."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from ..model import Model
from ..predict import ClassPrediction
from .base import PREDICTION_SEED
from .classification import PredictsClasses


class NetworkClassifier(ClassifierMixin, PredictsClasses):
    """Base class of their classifiers."""

    def _encode(self, y: Any, known: bool, classes: Any = None) -> np.ndarray:
        return self._encode_labels(y, known, classes)

    def _likelihood(self, x: Any, targets: np.ndarray, stepwise: bool) -> str:
        return "bernoulli" if len(self.classes_) == 2 else "categorical"

    def _outputs(self, targets: np.ndarray) -> int:
        return self._class_outputs()

    def partial_fit(self, X: Any, y: Any, classes: Any = None, data_size: int | None = None) -> Any:
        """As the regressor's; the first call needs all ``classes`` that will come."""
        if classes is None and not self._is_fitted():
            raise ValueError("classes must be passed on the first call to partial_fit.")
        return self._learn_block(X, y, data_size, classes)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable labels."""
        return self._predict_labels(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, in the order of ``classes_``."""
        return self._probabilities(X)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Their logarithms."""
        return np.log(self._probabilities(X))

    def predict_uncertainty(self, X: Any) -> ClassPrediction:
        """Probabilities, their entropy, and the part of it that is due to not knowing the parameters, in nats."""
        return self._class_uncertainty(X)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = PREDICTION_SEED) -> np.ndarray:
        """Draws of labels, in columns; each column is of one draw of the parameters."""
        return self._sample_labels(X, n_samples, random_state)

    def _loaded(self) -> None:
        self._labels_loaded()

    @classmethod
    def _accepts(cls, model: Model) -> bool:
        are_classes = model.likelihood == "categorical" or (model.likelihood == "bernoulli" and model.outputs == 1)
        return are_classes and super()._accepts(model)
