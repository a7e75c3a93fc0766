"""Predictions of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dataset import Dataset
from ..posterior import Posterior
from ..predict import Prediction, predict, predict_interval, predict_quantiles
from . import construction, targets
from .points import warn_of_point
from .drawing import drawn


class PredictsNumbers:
    """Predicts numbers, for Gaussian, heteroscedastic, Student-t and Poisson likelihoods."""

    def _encode_numbers(self, y: Any, known: bool) -> np.ndarray:
        if isinstance(y, Dataset):
            if not known:
                self._y_is_vector = construction.targets_of(y) == 1
            return y
        numbers = targets.numbers(targets.arrays_only(y))
        if not known:
            self._y_is_vector = np.ndim(y) == 1
        return numbers

    def _shaped(self, columns: np.ndarray) -> np.ndarray:
        """Returns a vector if y was one."""
        return columns[:, 0] if self._y_is_vector else columns

    def _predict_numbers(self, X: Any, return_std: bool, interval: float | None, quantiles: Any, offset: Any = None) -> Any:
        if bool(return_std) + (interval is not None) + (quantiles is not None) > 1:
            raise ValueError("pass only one of return_std, interval and quantiles")
        x, handles, how = self._inputs(X, offset), self._handles(), self._how()
        if interval is not None:
            limits = predict_interval(*handles, x, interval, **how)
            return tuple(self._shaped(limit) for limit in limits)
        if quantiles is not None:
            return self._shaped_levels(predict_quantiles(*handles, x, quantiles, **how), quantiles)
        mean, epistemic, noise = predict(*handles, x, **how)
        if not return_std:
            return self._shaped(mean)
        return self._shaped(mean), self._shaped(np.sqrt(epistemic + noise))

    def _shaped_levels(self, values: np.ndarray, quantiles: Any) -> np.ndarray:
        values = values[:, :, 0] if np.isscalar(quantiles) else values
        return self._shaped(values)

    def _number_uncertainty(self, X: Any, offset: Any = None) -> Prediction:
        handles = self._handles()
        parts = predict(*handles, self._inputs(X, offset), **self._how())
        if isinstance(handles[1], Posterior) and not handles[1].has_covariance:  # members of an ensemble differ
            warn_of_point(self, stacklevel=4)
            parts = parts._replace(epistemic_variance=parts.epistemic_variance * np.nan)
        return Prediction(*(self._shaped(part) for part in parts))

    def _sample_numbers(self, X: Any, n_samples: int, random_state: Any, offset: Any = None) -> np.ndarray:
        method = "linearized_monte_carlo" if self._prediction().startswith("linearized") else "monte_carlo"
        seed = construction.seed_of(random_state)
        draws = drawn(self._handles(), self._inputs(X, offset), n_samples, seed, method)
        return self._shaped(draws)
