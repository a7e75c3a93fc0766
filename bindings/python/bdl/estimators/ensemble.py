"""Deep ensembles (Lakshminarayanan et al. 2017): estimators that differ in their seeds, and predict together."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from ..predict import ClassPrediction, Prediction, predict_log_density
from . import construction
from .base import PREDICTION_SEED
from .classification import PredictsClasses
from .compat import FAILS_BY_ORDER
from .drawing import drawn
from .novelty import ScoresNovelty
from .questions import AnswersQuestions
from .mlp_classifier import BayesianMLPClassifier
from .mlp_regressor import BayesianMLPRegressor
from .regression import PredictsNumbers

PARAMETERS = """
    Parameters
    ----------
    estimator : estimator, default={default}
        Estimator of this package, of which each member is a clone.
    n_estimators : int, default=5
        Number of members.
    random_state : int, RandomState or None, default=1
        Seed of the first member; that of member j is j larger.

    Attributes
    ----------
    estimators_ : list of estimators
        Fitted members.
    """


class DeepEnsemble(MetaEstimatorMixin, ScoresNovelty, AnswersQuestions, BaseEstimator):
    """Base class of ensembles; ``estimators_`` are the members."""

    estimators_: list[Any]

    def __init__(self, estimator: Any = None, n_estimators: int = 5, *, random_state: Any = 1):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.random_state = random_state

    def _default(self) -> Any:
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None) -> Any:
        """Fits the members, one after the other, each on all data, and returns the ensemble.

        Parameters
        ----------
        X : array of shape (n, features), or Dataset
            Inputs, or a :class:`bdl.Dataset` in place of X and y.
        y : array of shape (n,) or (n, targets), default=None
            Targets or labels.
        sample_weight : array of shape (n,), default=None
            Weights: a row of weight 2 counts as if it stood there twice, a row of weight 0 as if it did not.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Numbers that are added to the outputs: to means, logits, or log rates.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> member = bdl.BayesianMLPRegressor(epochs=20)
        >>> ensemble = bdl.DeepEnsembleRegressor(member, 2).fit(X, y)
        >>> len(ensemble.estimators_)
        2
        """
        if self.n_estimators < 1:
            raise ValueError(f"n_estimators is {self.n_estimators}, expected at least 1")
        member = self._default() if self.estimator is None else self.estimator
        if getattr(member, "members", 1) > 1:
            raise ValueError(f"estimator has members={member.members}: it is an ensemble already")
        seed = construction.seed_of(self.random_state)
        members = [
            clone(member).set_params(random_state=seed + j).fit(X, y, sample_weight, offset) for j in range(self.n_estimators)
        ]
        for name in ("n_features_in_", "feature_names_in_", "classes_", "_y_is_vector"):
            if hasattr(members[0], name):
                setattr(self, name, getattr(members[0], name))
        self.estimators_ = members
        return self

    def log_predictive_density(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> np.ndarray:
        """Returns log p(y_i | x_i, training data) of each example, of shape (n,), in nats.

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        y : array of shape (n,) or (n, targets)
            Targets, labels, or shares of successes.
        sample_weight : array of shape (n,), default=None
            Weights, by which log densities are multiplied. Only for an ensemble that was fitted with weights. None: 1.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of an ensemble that was fitted with them. None: 0.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> member = bdl.BayesianMLPRegressor(epochs=20)
        >>> ensemble = bdl.DeepEnsembleRegressor(member, 2).fit(X, y)
        >>> ensemble.log_predictive_density(X, y).shape
        (308,)
        """
        return predict_log_density(*self._handles(), *self._targets(X, y, sample_weight, offset), **self._how())

    # Methods that predictions use.

    def _members(self) -> list[Any]:
        check_is_fitted(self, "estimators_")
        return self.estimators_

    def _handles(self) -> Any:
        return [member.model_ for member in self._members()], [member.posterior_ for member in self.estimators_]

    def _targets(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> tuple[np.ndarray, np.ndarray]:
        return self._members()[0]._targets(X, y, sample_weight, offset)

    def _inputs(self, X: Any, offset: Any = None) -> np.ndarray:
        check_is_fitted(self, "estimators_")
        return self.estimators_[0]._inputs(X, offset)

    def _prediction(self) -> str:
        return self.estimators_[0]._prediction()

    def _how(self) -> dict[str, Any]:
        return self.estimators_[0]._how()

    def _draws(self, X: Any, n_samples: int, random_state: Any, offset: Any) -> np.ndarray:
        linearized = self._prediction().startswith("linearized")
        method = "linearized_monte_carlo" if linearized else "monte_carlo"
        return drawn(self._handles(), self._inputs(X, offset), n_samples, construction.seed_of(random_state), method)


class DeepEnsembleRegressor(RegressorMixin, PredictsNumbers, DeepEnsemble):
    __doc__ = f"""Regression by an ensemble of Bayesian neural networks or generalised linear models.

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
        self, X: Any, return_std: bool = False, interval: float | None = None, quantiles: Any = None, offset: Any = None
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Returns the means of y, of shape (n,), or (n, targets) if y had several columns.

        Pass one of the other arguments to get more than means.

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        return_std : bool, default=False
            True: return (means, standard deviations), noise included.
        interval : float, default=None
            Probability of central intervals, such as 0.9: return (lower limits, upper limits), noise included.
        quantiles : float or sequence of float, default=None
            Levels, such as [0.1, 0.5, 0.9]: return quantiles of y, with one column for each level.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of an estimator that was fitted with them. None: 0.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> member = bdl.BayesianMLPRegressor(epochs=20)
        >>> ensemble = bdl.DeepEnsembleRegressor(member, 2).fit(X, y)
        >>> mean, std = ensemble.predict(X[:3], return_std=True)
        >>> mean.shape, std.shape
        ((3,), (3,))
        """
        return self._predict_numbers(X, return_std, interval, quantiles, offset)

    def predict_uncertainty(self, X: Any, offset: Any = None) -> Prediction:
        """Returns the means of y and their two variances, a :class:`bdl.Prediction`.

        ``epistemic_variance`` comes from not knowing member and parameters, ``noise_variance`` is that of the noise.

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
        >>> member = bdl.BayesianMLPRegressor(epochs=20)
        >>> ensemble = bdl.DeepEnsembleRegressor(member, 2).fit(X, y)
        >>> bool((ensemble.predict_uncertainty(X[:3]).epistemic_variance > 0).all())
        True
        """
        return self._number_uncertainty(X, offset)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = PREDICTION_SEED, offset: Any = None) -> np.ndarray:
        """Returns random samples of y, noise included, of shape (n, n_samples).

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        n_samples : int, default=1
            Number of samples, of each member in turn.
        random_state : int, RandomState or None, default=1
            Seed of the samples.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of an estimator that was fitted with them. None: 0.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> member = bdl.BayesianMLPRegressor(epochs=20)
        >>> ensemble = bdl.DeepEnsembleRegressor(member, 2).fit(X, y)
        >>> ensemble.sample_y(X[:3], n_samples=100).shape
        (3, 100)
        """
        return self._shaped(self._draws(X, n_samples, random_state, offset))

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Returns R2, the share of the variance of y that the means explain.

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        y : array of shape (n,) or (n, targets)
            Targets.
        sample_weight : array of shape (n,), default=None
            Weights of the rows in the average.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of an estimator that was fitted with them. None: 0.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> ensemble = bdl.DeepEnsembleRegressor(n_estimators=2).fit(X, y)
        >>> ensemble.score(X, y) > 0.9
        True
        """
        return float(r2_score(y, self.predict(X, offset=offset), sample_weight=sample_weight))

    def _more_tags(self) -> dict[str, Any]:
        return {"multioutput": True, "_xfail_checks": FAILS_BY_ORDER}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class DeepEnsembleClassifier(ClassifierMixin, PredictsClasses, DeepEnsemble):
    __doc__ = f"""Classification by an ensemble of Bayesian neural networks or generalised linear models.

    >>> import bdl, numpy as np
    >>> X = np.random.default_rng(1).normal(size=(80, 2))
    >>> member = bdl.BayesianMLPClassifier(method="laplace", epochs=50)
    >>> ensemble = bdl.DeepEnsembleClassifier(member, n_estimators=3)
    >>> ensemble = ensemble.fit(X, X[:, 0] > 0)
    >>> ensemble.predict([[2.0, 0.0], [-2.0, 0.0]])
    array([ True, False])
    {PARAMETERS.format(default="BayesianMLPClassifier()")}"""

    def _default(self) -> Any:
        return BayesianMLPClassifier()

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
        >>> member = bdl.BayesianMLPClassifier(epochs=20)
        >>> ensemble = bdl.DeepEnsembleClassifier(member, 2).fit(X, y > 10)
        >>> ensemble.predict(X[:3])
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
        >>> member = bdl.BayesianMLPClassifier(epochs=20)
        >>> ensemble = bdl.DeepEnsembleClassifier(member, 2).fit(X, y > 10)
        >>> ensemble.predict_proba(X[:3]).shape
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
        >>> member = bdl.BayesianMLPClassifier(epochs=20)
        >>> ensemble = bdl.DeepEnsembleClassifier(member, 2).fit(X, y > 10)
        >>> ensemble.predict_log_proba(X[:3]).shape
        (3, 2)
        """
        return np.log(self._probabilities(X, offset))

    def predict_uncertainty(self, X: Any, offset: Any = None) -> ClassPrediction:
        """Returns class probabilities and their uncertainty, a :class:`bdl.ClassPrediction`.

        ``entropy`` is that of the probabilities, in nats. ``mutual_information`` is its part from not knowing member
        and parameters; more data reduce it.

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
        >>> member = bdl.BayesianMLPClassifier(epochs=20)
        >>> ensemble = bdl.DeepEnsembleClassifier(member, 2).fit(X, y > 10)
        >>> ensemble.predict_uncertainty(X[:3]).entropy.shape
        (3,)
        """
        return self._class_uncertainty(X, offset)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = PREDICTION_SEED, offset: Any = None) -> np.ndarray:
        """Returns random samples of labels, of shape (n, n_samples).

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        n_samples : int, default=1
            Number of samples, of each member in turn.
        random_state : int, RandomState or None, default=1
            Seed of the samples.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of an estimator that was fitted with them. None: 0.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> member = bdl.BayesianMLPClassifier(epochs=20)
        >>> ensemble = bdl.DeepEnsembleClassifier(member, 2).fit(X, y > 10)
        >>> ensemble.sample_y(X[:3], n_samples=100).shape
        (3, 100)
        """
        return self.classes_[self._draws(X, n_samples, random_state, offset)[:, 0].astype(np.intp)]

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
        >>> member = bdl.BayesianMLPClassifier(epochs=20)
        >>> ensemble = bdl.DeepEnsembleClassifier(member, 2).fit(X, y > 10)
        >>> ensemble.score(X, y > 10) > 0.9
        True
        """
        return self._accuracy(X, y, sample_weight, offset)

    def _more_tags(self) -> dict[str, Any]:
        return {"_xfail_checks": FAILS_BY_ORDER}
