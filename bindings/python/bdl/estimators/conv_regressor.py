"""Regression by convolutional networks."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from .conv import PARAMETERS, BayesianConv
from .network_regressor import NOISE, NetworkRegressor, with_noise


class BayesianConvRegressor(NetworkRegressor, BayesianConv):
    __doc__ = f"""Regression of numbers on images by a Bayesian convolutional network, which also learns the noise.

    >>> import bdl, numpy as np
    >>> X = np.random.default_rng(1).integers(0, 256, (200, 6, 6), dtype=np.uint8)
    >>> y = X[:, :3].mean(axis=(1, 2)) - X[:, 3:].mean(axis=(1, 2))
    >>> regressor = bdl.BayesianConvRegressor("conv 4 3; relu", epochs=60)
    >>> regressor = regressor.fit(X, y)
    >>> regressor.score(X, y) > 0.9
    True
    {PARAMETERS.replace("image_shape :", NOISE + "image_shape :", 1)}"""

    def __init__(self, network: str | Sequence[str] = "lenet5", *, noise: str = "auto", **parameters: Any):
        super().__init__(network, **parameters)
        self.noise = noise

    def _chosen_noise(self, x: Any, targets: np.ndarray, stepwise: bool) -> tuple[str, float]:
        """Returns Gaussian noise for a whole network, which has no outputs for other noise."""
        return ("gaussian", 0.0) if self._is_whole() else super()._chosen_noise(x, targets, stepwise)

    __init__.__signature__ = with_noise(BayesianConv.__init__)  # type: ignore[attr-defined]
