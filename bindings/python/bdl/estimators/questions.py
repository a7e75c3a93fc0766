"""What a posterior can be asked: intervals and samples of means and links, log likelihoods, comparisons of models."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import metrics
from ..errors import UnsupportedError
from ..metrics import ElpdEstimate
from ..posterior import Posterior
from ..predict import predict_interval, predict_log_likelihood, predict_quantiles
from ..tables import defaults
from . import construction
from .drawing import drawn
from .points import no_covariance

_SEED = int(defaults["seed"])


class AnswersQuestions:
    """Adds to an estimator or an ensemble what its posterior can be asked."""

    def predict_interval(self, X: Any, of: str, probability: float = 0.95, offset: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Returns the lower and upper limits of central intervals of y, of its mean or of its link.

        Each has the shape of predictions: (n,) or (n, targets). Means of classes are their probabilities, of shape
        (n, classes); the link of two classes is the log odds of the second.

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        of : str
            "mean" for the mean of y or the probabilities of classes, "link" for the linear predictor (log odds, log
            rates, logits of classes), both credible, without noise; or "y" for a new observation, noise included.
        probability : float, default=0.95
            Probability of the intervals.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of the rows, as for ``fit``. None: 0 if training had offsets.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> glm = bdl.BayesianGLM("bernoulli").fit(X, y > 10)
        >>> lower, upper = glm.predict_interval(X[:3], "mean")
        >>> p = glm.predict_proba(X[:3])
        >>> lower.shape, bool(((lower < p) & (p < upper)).all())
        ((3, 2), True)
        """
        self._check_spread(of)
        lower, upper = predict_interval(*self._handles(), self._inputs(X, offset), probability, of=of, **self._how())
        if self._has_one_logit() and of == "mean":
            return np.hstack([1 - upper, lower]), np.hstack([1 - lower, upper])
        return self._as_y(lower), self._as_y(upper)

    def predict_quantiles(self, X: Any, levels: Any, of: str, offset: Any = None) -> np.ndarray:
        """Returns quantiles of y, of its mean or of its link; levels are the last dimension.

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        levels : float or sequence of float
            Levels, such as [0.1, 0.5, 0.9].
        of : str
            "mean", "link" or "y", as for :meth:`predict_interval`.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of the rows, as for ``fit``. None: 0 if training had offsets.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> glm = bdl.BayesianGLM().fit(X, y)
        >>> glm.predict_quantiles(X[:3], [0.05, 0.5, 0.95], "mean").shape
        (3, 3)
        """
        self._check_spread(of)
        wanted = np.ravel(levels)
        if self._has_one_logit() and of == "mean":
            first = predict_quantiles(*self._handles(), self._inputs(X, offset), 1 - wanted, of=of, **self._how())
            second = predict_quantiles(*self._handles(), self._inputs(X, offset), wanted, of=of, **self._how())
            values = np.hstack([1 - first, second])
        else:
            values = self._as_y(predict_quantiles(*self._handles(), self._inputs(X, offset), wanted, of=of, **self._how()))
        return values[..., 0] if np.isscalar(levels) else values

    def sample_mean(self, X: Any, n_samples: int = 1, random_state: Any = _SEED, offset: Any = None) -> np.ndarray:
        """Returns samples of the mean of y, or of the probabilities of classes, of shape (n, n_samples).

        With several targets the shape is (n, targets, n_samples), with classes (n, classes, n_samples).

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        n_samples : int, default=1
            Number of samples of the posterior.
        random_state : int, RandomState or None, default=1
            Seed of the samples. ``sample_y`` and ``sample_link`` with equal seeds belong to the same samples.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of the rows, as for ``fit``. None: 0 if training had offsets.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> glm = bdl.BayesianGLM().fit(X, y)
        >>> glm.sample_mean(X[:3], 100).shape
        (3, 100)
        """
        draws = self._drawn(X, n_samples, random_state, "mean", offset)
        return np.hstack([1 - draws, draws]) if self._has_one_logit() else self._as_y(draws)

    def sample_link(self, X: Any, n_samples: int = 1, random_state: Any = _SEED, offset: Any = None) -> np.ndarray:
        """Returns samples of the linear predictor: of the mean, log odds, log rates or logits of classes.

        Their shape is (n, n_samples), or (n, targets or classes, n_samples).

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        n_samples : int, default=1
            Number of samples of the posterior.
        random_state : int, RandomState or None, default=1
            Seed of the samples.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of the rows, as for ``fit``. None: 0 if training had offsets.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> glm = bdl.BayesianGLM("bernoulli").fit(X, y > 10)
        >>> glm.sample_link(X[:3], 100).shape
        (3, 100)
        """
        return self._as_y(self._drawn(X, n_samples, random_state, "link", offset))

    def log_likelihood(
        self, X: Any, y: Any, n_samples: int | None = None, random_state: Any = _SEED, sample_weight: Any = None, offset: Any = None
    ) -> np.ndarray:
        """Returns log p(y_i | x_i, parameters) for samples of the posterior, of shape (n_samples, n), in nats.

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        y : array of shape (n,) or (n, targets)
            Targets or labels.
        n_samples : int, default=None
            Number of samples, of an ensemble those of each member. None is ``samples``.
        random_state : int, RandomState or None, default=1
            Seed of the samples.
        sample_weight : array of shape (n,), default=None
            Weights of the rows, or numbers of trials. None: 1 if training had weights.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of the rows, as for ``fit``. None: 0 if training had offsets.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> glm = bdl.BayesianGLM().fit(X, y)
        >>> glm.log_likelihood(X, y, 100).shape
        (100, 308)
        """
        x, targets = self._targets(X, y, sample_weight, offset)
        samples = self._how()["samples"] if n_samples is None else n_samples
        seed = construction.seed_of(random_state)
        return predict_log_likelihood(*self._handles(), x, targets, samples, seed, self._drawing())

    def loo(
        self, X: Any, y: Any, n_samples: int = 2000, random_state: Any = _SEED, sample_weight: Any = None, offset: Any = None
    ) -> ElpdEstimate:
        """Returns the elpd by leave-one-out cross-validation without new fits, see :func:`bdl.metrics.loo`.

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs of the training data.
        y : array of shape (n,) or (n, targets)
            Targets or labels of the training data.
        n_samples : int, default=2000
            Number of samples of the posterior.
        random_state : int, RandomState or None, default=1
            Seed of the samples.
        sample_weight : array of shape (n,), default=None
            Weights of the rows, or numbers of trials. None: 1 if training had weights.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of the rows, as for ``fit``. None: 0 if training had offsets.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> one, all = bdl.BayesianGLM().fit(X[:, -1:], y), bdl.BayesianGLM().fit(X, y)
        >>> bool(abs(one.loo(X[:, -1:], y).elpd - all.loo(X, y).elpd) < 10)  # one feature explains as much
        True
        """
        self._check_spread("mean")
        return metrics.loo(self.log_likelihood(X, y, n_samples, random_state, sample_weight, offset))

    def waic(
        self, X: Any, y: Any, n_samples: int = 2000, random_state: Any = _SEED, sample_weight: Any = None, offset: Any = None
    ) -> ElpdEstimate:
        """Returns the elpd by the widely applicable information criterion, see :func:`bdl.metrics.waic`.

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs of the training data.
        y : array of shape (n,) or (n, targets)
            Targets or labels of the training data.
        n_samples : int, default=2000
            Number of samples of the posterior.
        random_state : int, RandomState or None, default=1
            Seed of the samples.
        sample_weight : array of shape (n,), default=None
            Weights of the rows, or numbers of trials. None: 1 if training had weights.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of the rows, as for ``fit``. None: 0 if training had offsets.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> glm = bdl.BayesianGLM().fit(X, y)
        >>> bool(abs(glm.waic(X, y).elpd - glm.loo(X, y).elpd) < 1)
        True
        """
        self._check_spread("mean")
        return metrics.waic(self.log_likelihood(X, y, n_samples, random_state, sample_weight, offset))

    # How the library is asked.

    def _has_one_logit(self) -> bool:
        return hasattr(self, "classes_") and len(self.classes_) == 2 and self._first_model().outputs == 1

    def _first_model(self) -> Any:
        return self._members()[0].model_

    def _as_y(self, values: np.ndarray) -> np.ndarray:
        """Returns a vector in place of one column."""
        is_vector = self._has_one_logit() if hasattr(self, "classes_") else self._y_is_vector
        return values[:, 0] if is_vector else values

    def _drawing(self) -> str:
        """Returns the method of draws, which integrals do not have."""
        return "linearized_monte_carlo" if self._prediction().startswith("linearized") else "monte_carlo"

    def _drawn(self, X: Any, n_samples: int, random_state: Any, of: str, offset: Any) -> np.ndarray:
        return drawn(self._handles(), self._inputs(X, offset), n_samples, construction.seed_of(random_state), self._drawing(), of)

    def _check_spread(self, of: str) -> None:
        """Fails for a point, whose intervals would have no width; the members of an ensemble differ."""
        posterior = self._handles()[1]
        if of in ("mean", "link") and isinstance(posterior, Posterior) and not posterior.has_covariance:
            raise UnsupportedError(f"there is no spread: {no_covariance(self.optimizer_)}")
