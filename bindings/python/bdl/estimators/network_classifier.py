"""Classification by networks."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from ..model import Model
from ..names import two_classes
from ..predict import ClassPrediction
from .base import PREDICTION_SEED
from .classification import PredictsClasses
from .compat import FAILS_BY_ORDER


CLASS_WEIGHT = """class_weight : dict or "balanced", default=None
        Weights of the classes, by which those of their rows are multiplied: {label: weight}, where other labels
        have weight 1; or "balanced", with which all classes weigh the same.
    """


def with_class_weight(constructor: Any) -> inspect.Signature:
    """Returns the signature of a network's constructor with the weights of classes as its last parameter."""
    signature = inspect.signature(constructor)
    weight = inspect.Parameter("class_weight", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="Any")
    return signature.replace(parameters=[*signature.parameters.values(), weight])


class NetworkClassifier(ClassifierMixin, PredictsClasses):
    """Base class of classifiers by networks."""

    def _encode(self, y: Any, known: bool, classes: Any = None) -> np.ndarray:
        return self._encode_labels(y, known, classes)

    def _likelihood(self, x: Any, targets: np.ndarray, stepwise: bool) -> str:
        return "bernoulli" if len(self.classes_) == 2 else "categorical"

    def _outputs(self, targets: np.ndarray) -> int:
        return self._class_outputs()

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        data_size: int | None = None,
        sample_weight: Any = None,
        offset: Any = None,
    ) -> Any:
        """Learns from one block of data, each row once, and returns the estimator.

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs of the block.
        y : array of shape (n,)
            Labels of the block.
        classes : array, default=None
            All labels that will ever come. The first call needs them.
        data_size : int, default=None
            Number of examples in all blocks together, for methods for batches. None: that of the first block.
        sample_weight : array of shape (n,), default=None
            Weights of the rows, as for :meth:`fit`. None: 1 if the first block had weights.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of the rows, as for :meth:`fit`. None: 0 if the first block had offsets.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> classifier = bdl.BayesianMLPClassifier()
        >>> classifier = classifier.partial_fit(X[:200], y[:200] > 10, [False, True])
        >>> classifier = classifier.partial_fit(X[200:], y[200:] > 10)
        >>> classifier.score(X, y > 10) > 0.9
        True
        """
        if classes is None and not self._is_fitted():
            raise ValueError("classes must be passed on the first call to partial_fit.")
        return self._learn_block(X, y, data_size, sample_weight, offset, classes)

    def predict(self, X: Any, offset: Any = None) -> np.ndarray:
        """Returns the most probable label of each row, of shape (n,).

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of an estimator that was fitted with them. None: 0.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> classifier = bdl.BayesianMLPClassifier().fit(X, y > 10)
        >>> classifier.predict(X[:3])
        array([False, False, False])
        """
        return self._predict_labels(X, offset)

    def predict_proba(self, X: Any, offset: Any = None) -> np.ndarray:
        """Returns the probabilities of the classes, of shape (n, classes), in the order of ``classes_``.

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of an estimator that was fitted with them. None: 0.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> classifier = bdl.BayesianMLPClassifier().fit(X, y > 10)
        >>> classifier.predict_proba(X[:3]).shape
        (3, 2)
        """
        return self._probabilities(X, offset)

    def predict_log_proba(self, X: Any, offset: Any = None) -> np.ndarray:
        """Returns the log probabilities of the classes, of shape (n, classes), in the order of ``classes_``.

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of an estimator that was fitted with them. None: 0.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> classifier = bdl.BayesianMLPClassifier().fit(X, y > 10)
        >>> classifier.predict_log_proba(X[:3]).shape
        (3, 2)
        """
        return np.log(self._probabilities(X, offset))

    def predict_uncertainty(self, X: Any, offset: Any = None) -> ClassPrediction:
        """Returns class probabilities and their uncertainty, a :class:`bdl.ClassPrediction`.

        ``entropy`` is that of the probabilities, in nats. ``mutual_information`` is its part from not knowing the
        parameters; more data reduce it.

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of an estimator that was fitted with them. None: 0.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> classifier = bdl.BayesianMLPClassifier().fit(X, y > 10)
        >>> found = classifier.predict_uncertainty(X[:3])
        >>> bool((found.mutual_information <= found.entropy).all())
        True
        """
        return self._class_uncertainty(X, offset)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = PREDICTION_SEED, offset: Any = None) -> np.ndarray:
        """Returns random samples of labels, of shape (n, n_samples).

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        n_samples : int, default=1
            Number of samples. With ``prediction="monte_carlo"`` each column belongs to one sample of the parameters; with
            ``"linearized"`` only the distribution of each row is right, and not that of sums over rows.
        random_state : int, RandomState or None, default=1
            Seed of the samples.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of an estimator that was fitted with them. None: 0.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> classifier = bdl.BayesianMLPClassifier().fit(X, y > 10)
        >>> classifier.sample_y(X[:3], n_samples=100).shape
        (3, 100)
        """
        return self._sample_labels(X, n_samples, random_state, offset)

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Returns the share of right labels.

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        y : array of shape (n,)
            Labels, or shares of successes.
        sample_weight : array of shape (n,), default=None
            Weights of the rows in the average.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of an estimator that was fitted with them. None: 0.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> classifier = bdl.BayesianMLPClassifier().fit(X, y > 10)
        >>> classifier.score(X, y > 10) > 0.9
        True
        """
        return self._accuracy(X, y, sample_weight, offset)

    def _more_tags(self) -> dict[str, Any]:
        return {"_xfail_checks": FAILS_BY_ORDER}

    def _loaded(self) -> None:
        self._labels_loaded()

    @classmethod
    def _accepts(cls, model: Model) -> bool:
        are_classes = model.likelihood == "categorical" or (model.likelihood in two_classes and model.outputs == 1)
        return are_classes and super()._accepts(model)
