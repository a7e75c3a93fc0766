"""Coefficients of generalised linear models in the units of the data."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..errors import InvalidArgumentError, UnsupportedError, brief, brief_list
from ..model import Model
from ..posterior import Posterior
from ..prior import Normal
from ..tables import defaults
from .points import warn_of_point
from .priors import is_normal
from .summary import Coefficients

_SEED = int(defaults["seed"])


class Linear(NamedTuple):
    """f = coef x + intercept in the data's units, per output (C x d and C), as linear functions of the parameters."""

    coef: np.ndarray
    intercept: np.ndarray
    coef_std: np.ndarray
    intercept_std: np.ndarray


def linear_of(model: Model, posterior: Posterior) -> Linear:
    """Undoes the standardisation: f = t_mean + t_scale (w (x - m) / s + b) has coef = t_scale w / s and
    intercept = t_mean + t_scale (b - w m / s)."""
    outputs, inputs = model.outputs, model.inputs
    scaling = model.standardization
    weights = posterior.mean[: outputs * inputs].reshape(outputs, inputs)
    bias, target_scale = posterior.mean[outputs * inputs :], scaling.target_scale
    ratio = scaling.input_mean / scaling.input_scale
    rows = intercept_rows(model)
    variance, of_rows = np.full(model.parameters, np.nan), rows * np.nan
    if posterior.has_covariance:
        variance, of_rows = posterior.variance, posterior.solve(rows)
    return Linear(
        coef=target_scale[:, np.newaxis] * weights / scaling.input_scale,
        intercept=scaling.target_mean + target_scale * (bias - weights @ ratio),
        coef_std=coef_scales(model) * np.sqrt(variance[: outputs * inputs]).reshape(outputs, inputs),
        intercept_std=np.sqrt(np.einsum("cj,cj->c", rows, of_rows)),
    )


def coef_scales(model: Model) -> np.ndarray:
    """Returns the units of a coefficient per unit of its parameter, C x d."""
    scaling = model.standardization
    return scaling.target_scale[:, np.newaxis] / scaling.input_scale


def intercept_rows(model: Model) -> np.ndarray:
    """Returns the intercepts, up to a constant, as combinations of the parameters, C x D."""
    outputs, inputs = model.outputs, model.inputs
    scaling, rows = model.standardization, np.zeros((outputs, model.parameters))
    for c, scale in enumerate(scaling.target_scale):
        rows[c, c * inputs : (c + 1) * inputs] = -scale * scaling.input_mean / scaling.input_scale
        rows[c, outputs * inputs + c] = scale
    return rows


def covariance_of(model: Model, posterior: Posterior) -> np.ndarray:
    """Returns the covariance of intercepts, then coefficients output by output, in the data's units; NaN of a point."""
    weights = np.eye(model.outputs * model.inputs, model.parameters)
    to_units = np.vstack([intercept_rows(model), weights * coef_scales(model).reshape(-1, 1)])
    if not posterior.has_covariance:
        return np.full((len(to_units), len(to_units)), np.nan)
    return to_units @ posterior.solve(to_units).T


def _intercepts_first(rows: np.ndarray) -> np.ndarray:
    """Returns rows of coefficients of shape (n, outputs, 1 + d) in the order of names, of shape (n, K)."""
    return np.hstack([rows[:, :, 0], rows[:, :, 1:].reshape(len(rows), -1)])


class HasCoefficients:
    """Adds coefficients to an estimator without hidden units."""

    coef_: np.ndarray
    intercept_: np.ndarray | float
    coef_std_: np.ndarray
    intercept_std_: np.ndarray | float

    def _has_trained(self) -> None:
        super()._has_trained()
        linear = linear_of(*self._handles())
        is_row = self._estimator_type == "regressor" and self._y_is_vector
        self.coef_, self.coef_std_ = (part[0] if is_row else part for part in (linear.coef, linear.coef_std))
        self.intercept_, self.intercept_std_ = (
            float(part[0]) if is_row else part for part in (linear.intercept, linear.intercept_std)
        )

    def coef_covariance(self, base: Any = None) -> np.ndarray:
        """Returns the covariance of ``intercept_`` and ``coef_``, intercepts first, in the data's units.

        With several outputs, all intercepts come first, then the coefficients output by output. It is NaN, with
        a warning, after methods that find a point, such as "map".

        Parameters
        ----------
        base : label, default=None
            Class of family "categorical" with which the others are compared: the covariance of contrasts, as for
            :meth:`summary`.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> glm = bdl.BayesianGLM().fit(X, y)
        >>> glm.coef_covariance().shape
        (7, 7)
        """
        check_is_fitted(self, "optimizer_")
        warn_of_point(self)
        if base is None:
            return covariance_of(*self._handles())
        return self._contrasts(base)[1]

    def sample_coefficients(self, n_samples: int = 1, random_state: Any = _SEED, base: Any = None) -> np.ndarray:
        """Returns random samples of the coefficients in the data's units, of shape (n_samples, K).

        They are in the order of :meth:`coef_covariance` and of the names of :meth:`summary`.

        Parameters
        ----------
        n_samples : int, default=1
            Number of samples of the posterior.
        random_state : int, RandomState or None, default=1
            Seed of the samples: those of ``sample_posterior``, in other units.
        base : label, default=None
            Class of family "categorical" with which the others are compared, as for :meth:`summary`.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> glm = bdl.BayesianGLM().fit(X, y)
        >>> glm.sample_coefficients(100).shape
        (100, 7)
        """
        parameters = self.sample_posterior(n_samples, random_state)
        return _intercepts_first(self.model_.coefficients(parameters, self._base_number(base)))

    def _base_number(self, base: Any) -> int | None:
        if base is None:
            return None
        if self.family != "categorical":
            raise UnsupportedError(f"base is for family 'categorical', the family is {self.family!r}")
        found = np.flatnonzero(self.classes_ == base)
        if len(found) != 1:
            raise InvalidArgumentError(f"base is {brief(base)}, expected one of the classes: {brief_list(self.classes_)}")
        return int(found[0])

    def _contrasts(self, base: Any) -> tuple[np.ndarray, np.ndarray]:
        """Returns means and covariance of contrasts with the base class, intercepts first."""
        number = self._base_number(base)
        mean = _intercepts_first(self.model_.coefficients(self.posterior_.mean, number))[0]
        if not self.posterior_.has_covariance:
            return mean, np.full((len(mean), len(mean)), np.nan)
        _, covariance = self.posterior_.coefficients(self.model_, number)
        outputs = self.model_.outputs - 1
        order = np.arange(len(mean)).reshape(1, outputs, -1)
        order = _intercepts_first(order)[0]
        return mean, covariance[np.ix_(order, order)]

    def summary(self, base: Any = None) -> Coefficients:
        """Returns the table of coefficients, a :class:`bdl.estimators.Coefficients`; print it.

        Intercepts come first. With several outputs, names begin with the number of the output or the class.

        Parameters
        ----------
        base : label, default=None
            Class of family "categorical" with which the others are compared, as in other packages: the table is of
            their coefficients less those of this class. None gives each class coefficients of its own, whose common
            level only the prior determines, so standard deviations, above all of intercepts, are large.

        Examples
        --------
        >>> import bdl, numpy as np
        >>> X = np.random.default_rng(1).normal(size=(200, 1))
        >>> y = 3 + 2 * X[:, 0] + np.sin(99 * X[:, 0])
        >>> print(bdl.BayesianGLM().fit(X, y).summary())
                               mean        std      2.5 %     97.5 %   P(> 0)
        intercept             3.079    0.04949      2.982      3.176    1.000
        x0                    1.993    0.05334      1.889      2.098    1.000
        """
        check_is_fitted(self, "optimizer_")
        warn_of_point(self)
        inputs = getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)])
        outputs = self.model_.outputs
        labels = self.classes_ if self.family == "categorical" else range(outputs)
        if base is not None:
            self._base_number(base)
            labels = [label for label in labels if label != base]
        heads = [f"{label}: " for label in labels] if outputs > 1 else [""]
        names = [head + "intercept" for head in heads] + [f"{head}{name}" for head in heads for name in inputs]
        if base is not None:
            mean, covariance = self._contrasts(base)
            return Coefficients(names, mean, np.sqrt(np.diag(covariance)))
        mean = np.concatenate([np.ravel(self.intercept_), np.ravel(self.coef_)])
        std = np.concatenate([np.ravel(self.intercept_std_), np.ravel(self.coef_std_)])
        return Coefficients(names, mean, std, self._normal_prior())

    def _normal_prior(self) -> Normal | None:
        """Returns the normal priors of coefficients in the order of :meth:`summary`, if the user has given some."""
        if not is_normal(self.prior):
            return None
        prior = self.optimizer_.coefficient_prior
        return Normal(*(_intercepts_first(part[np.newaxis])[0] for part in (prior.location, prior.scale)))
