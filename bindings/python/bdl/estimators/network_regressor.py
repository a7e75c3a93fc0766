"""Regression by networks."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from ..dataset import Dataset
from ..errors import InvalidArgumentError, brief
from ..model import Model
from ..optimizer import Optimizer, _noise_and_outlier, suggest_noise
from ..predict import Prediction
from . import construction
from .base import PREDICTION_SEED
from .compat import FAILS_BY_ORDER
from .regression import PredictsNumbers

_NOISES = ("auto", "gaussian", "heteroscedastic", "student_t")

NOISE = """noise : str, default="auto"
        Distribution of y around its mean: "gaussian" (equal everywhere), "heteroscedastic" (Gaussian, with a
        variance that the network learns as a function of the inputs) or "student_t" (for outliers, with
        learned degrees of freedom). "auto" is usually "heteroscedastic" in ``fit`` and "gaussian" in
        ``partial_fit``. It is "student_t" if a target is more than 1000 robust standard deviations from
        the median. ``model_.likelihood`` is the one that was taken.
    """


def with_noise(constructor: Any) -> inspect.Signature:
    """Returns the signature of a network's constructor with the noise as its last parameter."""
    signature = inspect.signature(constructor)
    noise = inspect.Parameter("noise", inspect.Parameter.KEYWORD_ONLY, default="auto", annotation="str")
    return signature.replace(parameters=[*signature.parameters.values(), noise])


class NetworkRegressor(RegressorMixin, PredictsNumbers):
    """Base class of regressors by networks."""

    noise: str

    def _encode(self, y: Any, known: bool, classes: Any = None) -> np.ndarray:
        return self._encode_numbers(y, known)

    def _likelihood(self, x: Any, targets: np.ndarray, stepwise: bool) -> str:
        if self.noise not in _NOISES:
            raise InvalidArgumentError(f"noise is {brief(self.noise)}, expected one of: {', '.join(_NOISES)}")
        if self.noise != "auto":
            return self.noise
        noise, distance = self._chosen_noise(x, targets, stepwise)
        if distance > 0:
            warnings.warn(
                f"a target is {distance:.5g} robust standard deviations from the median, so the noise is Student's t, in which "
                f"outliers count little: if the target is right, set noise='heteroscedastic' or 'gaussian'",
                stacklevel=6,
            )
        return noise

    def _chosen_noise(self, x: Any, targets: np.ndarray, stepwise: bool) -> tuple[str, float]:
        """Returns the noise that libbdl suggests for these parameters, and the distance of the outlier behind it, or 0."""
        if "heteroscedastic_from" in (self.options or {}):  # it has no other meaning
            return "heteroscedastic", 0.0
        model = self._blank_model(x, targets, "gaussian")
        optimizer = Optimizer(model, *self._blank_posterior(model, len(x), stepwise), len(x))
        self._set_options(optimizer)
        known = None if isinstance(x, Dataset) else self._columns.targets_without_offsets(x, targets)
        return _noise_and_outlier(optimizer, stepwise, construction.prior_of(self.prior), known)

    def _parameters_of_members(self) -> dict[str, Any]:
        """Returns the parameters of the members, with the noise of the first."""
        return {**super()._parameters_of_members(), "noise": self.model_.likelihood}

    def _outputs(self, targets: np.ndarray) -> int:
        return construction.targets_of(targets)

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
        >>> regressor = bdl.BayesianMLPRegressor().fit(X, y)
        >>> mean, std = regressor.predict(X[:3], return_std=True)
        >>> lower, upper = regressor.predict(X[:3], interval=0.9)
        >>> mean.shape, std.shape, bool((lower < upper).all())
        ((3,), (3,), True)
        >>> regressor.predict(X[:3], quantiles=[0.1, 0.5, 0.9]).shape
        (3, 3)
        """
        return self._predict_numbers(X, return_std, interval, quantiles, offset)

    def predict_uncertainty(self, X: Any, offset: Any = None) -> Prediction:
        """Returns the means of y and their two variances, a :class:`bdl.Prediction`.

        ``epistemic_variance`` comes from not knowing the parameters, ``noise_variance`` is that of the noise. The
        former is NaN, with a warning, after methods that find a point, such as "map".

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
        >>> regressor = bdl.BayesianMLPRegressor().fit(X, y)
        >>> found = regressor.predict_uncertainty(X[:3])
        >>> std = (found.epistemic_variance + found.noise_variance) ** 0.5
        >>> bool(abs(std - regressor.predict(X[:3], return_std=True)[1]).max() < 1e-9)
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
        >>> regressor = bdl.BayesianMLPRegressor().fit(X, y)
        >>> regressor.sample_y(X[:3], n_samples=100).shape
        (3, 100)
        """
        return self._sample_numbers(X, n_samples, random_state, offset)

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
        >>> regressor = bdl.BayesianMLPRegressor().fit(X, y)
        >>> regressor.score(X, y) > 0.9
        True
        """
        return float(r2_score(y, self.predict(X, offset=offset), sample_weight=sample_weight))

    def _loaded(self) -> None:
        self._y_is_vector = self.model_.targets == 1

    @classmethod
    def _accepts(cls, model: Model) -> bool:
        return model.likelihood in _NOISES and super()._accepts(model)

    @classmethod
    def _parameters_of(cls, optimizer: Optimizer) -> dict[str, Any]:
        noise = optimizer.model.likelihood
        return {**super()._parameters_of(optimizer), "noise": "auto" if noise == suggest_noise(optimizer) else noise}

    def _more_tags(self) -> dict[str, Any]:
        return {"multioutput": True, "_xfail_checks": FAILS_BY_ORDER}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
