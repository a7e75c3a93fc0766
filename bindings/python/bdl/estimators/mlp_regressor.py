"""Regression by multilayer perceptrons."""

from __future__ import annotations

from typing import Any, Sequence

from ..tables import defaults
from .mlp import PARAMETERS, BayesianMLP
from .network_regressor import NOISE, NetworkRegressor, with_noise


class BayesianMLPRegressor(NetworkRegressor, BayesianMLP):
    __doc__ = f"""Regression by a Bayesian neural network, which also learns the noise.

    >>> import bdl, numpy as np
    >>> X = np.linspace(-2, 2, 80)[:, np.newaxis]
    >>> y = np.sin(2 * X[:, 0]) + 0.1 * np.random.default_rng(1).normal(size=80)
    >>> regressor = bdl.BayesianMLPRegressor(epochs=200).fit(X, y)
    >>> regressor.score(X, y) > 0.9
    True
    >>> lower, upper = regressor.predict(X, interval=0.9)
    >>> bool(np.mean((lower < y) & (y < upper)) > 0.9)
    True
    {PARAMETERS.replace("activation : str", NOISE + "activation : str", 1)}"""

    def __init__(self, hidden: int | Sequence[int] = (int(defaults["hidden"]),), *, noise: str = "auto", **parameters: Any):
        super().__init__(hidden, **parameters)
        self.noise = noise

    __init__.__signature__ = with_noise(BayesianMLP.__init__)  # type: ignore[attr-defined]
