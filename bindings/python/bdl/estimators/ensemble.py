"""Deep ensembles (Lakshminarayanan et al. 2017): estimators that differ in their seeds, and predict together."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from ..predict import ClassPrediction, Prediction, predict_log_density
from . import construction
from .base import PREDICTION_SEED
from .classification import PredictsClasses
from .compat import validated_data
from .drawing import drawn
from .novelty import ScoresNovelty
from .mlp_classifier import BayesianMLPClassifier
from .mlp_regressor import BayesianMLPRegressor
from .regression import PredictsNumbers

PARAMETERS = """
    Parameters
    ----------
    estimator : estimator of this package, default={default}
        What each member is a clone of, whatever its method.
    n_estimators : int, default=5
        Number of members.
    random_state : int, RandomState or None, default=1
        Member j has the seed that this gives plus j.
    """


class DeepEnsemble(MetaEstimatorMixin, ScoresNovelty, BaseEstimator):
    """Base class of ensembles. ``estimators_`` are the members."""

    estimators_: list[Any]

    def __init__(self, estimator: Any = None, n_estimators: int = 5, *, random_state: Any = 1):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.random_state = random_state

    def _default(self) -> Any:
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None) -> Any:
        """Fits the members, one after the other, each on all data, arrays or a ``Dataset`` in place of both."""
        if self.n_estimators < 1:
            raise ValueError(f"n_estimators is {self.n_estimators}, expected at least 1")
        member = self._default() if self.estimator is None else self.estimator
        if getattr(member, "members", 1) > 1:
            raise ValueError(f"estimator has members={member.members}: it is an ensemble already")
        seed = construction.seed_of(self.random_state)
        members = [clone(member).set_params(random_state=seed + j).fit(X, y) for j in range(self.n_estimators)]
        for name in ("n_features_in_", "feature_names_in_", "classes_", "_y_is_vector"):
            if hasattr(members[0], name):
                setattr(self, name, getattr(members[0], name))
        self.estimators_ = members
        return self

    def log_predictive_density(self, X: Any, y: Any) -> np.ndarray:
        """log p(y_i | x_i) of each example given the training data, in nats and in y's units."""
        check_is_fitted(self, "estimators_")
        first = self.estimators_[0]
        x, y = validated_data(first, first._rows(X, known=True), y, reset=False)
        return predict_log_density(*self._handles(), x, first._encode(y, known=True), **self._how())

    # Methods that predictions use.

    def _members(self) -> list[Any]:
        check_is_fitted(self, "estimators_")
        return self.estimators_

    def _handles(self) -> Any:
        return [member.model_ for member in self._members()], [member.posterior_ for member in self.estimators_]

    def _inputs(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "estimators_")
        return self.estimators_[0]._inputs(X)

    def _prediction(self) -> str:
        return self.estimators_[0]._prediction()

    def _how(self) -> dict[str, Any]:
        return self.estimators_[0]._how()

    def _draws(self, X: Any, n_samples: int, random_state: Any) -> np.ndarray:
        linearized = self._prediction().startswith("linearized")
        method = "linearized_monte_carlo" if linearized else "monte_carlo"
        return drawn(self._handles(), self._inputs(X), n_samples, construction.seed_of(random_state), method)


class DeepEnsembleRegressor(RegressorMixin, PredictsNumbers, DeepEnsemble):
    __doc__ = f"""Regression by an ensemble of Bayesian networks or generalised linear models.

    >>> import bdl, numpy as np
    >>> X = np.linspace(-2, 2, 80)[:, np.newaxis]
    >>> y = np.sin(2 * X[:, 0]) + 0.1 * np.random.default_rng(1).normal(size=80)
    >>> member = bdl.BayesianMLPRegressor(method="laplace", epochs=200)
    >>> ensemble = bdl.DeepEnsembleRegressor(member, n_estimators=3).fit(X, y)
    >>> mean, std = ensemble.predict([[0.0], [5.0]], return_std=True)
    >>> bool(std[1] > std[0])  # members differ where there are no data
    True
    {PARAMETERS.format(default="BayesianMLPRegressor()")}"""

    def _default(self) -> Any:
        return BayesianMLPRegressor()

    def predict(
        self, X: Any, return_std: bool = False, interval: float | None = None, quantiles: Any = None
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Means of y, or what else is asked, as of the members."""
        return self._predict_numbers(X, return_std, interval, quantiles)

    def predict_uncertainty(self, X: Any) -> Prediction:
        """Mean of y, its variance from not knowing member and parameters, and that of the noise."""
        return self._number_uncertainty(X)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = PREDICTION_SEED) -> np.ndarray:
        """Draws of y, noise included, in columns, of each member in turn."""
        return self._shaped(self._draws(X, n_samples, random_state))

    def _more_tags(self) -> dict[str, Any]:
        return {"multioutput": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class DeepEnsembleClassifier(ClassifierMixin, PredictsClasses, DeepEnsemble):
    __doc__ = f"""Classification by an ensemble of Bayesian networks or generalised linear models.

    >>> import bdl, numpy as np
    >>> X = np.random.default_rng(1).normal(size=(80, 2))
    >>> member = bdl.BayesianMLPClassifier(method="laplace", epochs=50)
    >>> ensemble = bdl.DeepEnsembleClassifier(member, n_estimators=3).fit(X, X[:, 0] > 0)
    >>> ensemble.predict([[2.0, 0.0], [-2.0, 0.0]])
    array([ True, False])
    {PARAMETERS.format(default="BayesianMLPClassifier()")}"""

    def _default(self) -> Any:
        return BayesianMLPClassifier()

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
        """Probabilities, their entropy, and the part of it that is due to not knowing member and parameters, in nats."""
        return self._class_uncertainty(X)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = PREDICTION_SEED) -> np.ndarray:
        """Draws of labels, in columns, of each member in turn."""
        return self.classes_[self._draws(X, n_samples, random_state)[:, 0].astype(np.intp)]
