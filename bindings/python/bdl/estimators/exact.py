"""The optimal Gaussian posterior of a generalised linear model, and the noise that goes with it."""

from __future__ import annotations

import numpy as np

from ..optimizer import Optimizer
from ..predict import predict
from .training import Course

_MOST_ROUNDS = 200
_TOLERANCE = 1e-9

# Noise is not learned below this share of y's variance: data on a line have none.
_LEAST_NOISE = 1e-12


def fit_exactly(
    course: Course, optimizer: Optimizer, x: np.ndarray, y: np.ndarray, epochs: int, learn_noise: bool
) -> None:
    """Alternates the exact posterior for a Gaussian noise, and the noise precision N / E[sum of squared errors] for a
    posterior: each raises the ELBO, so they meet at its optimum over both."""
    course.run(optimizer, x, y, epochs)
    if not learn_noise:
        return
    model = optimizer.model
    least = _LEAST_NOISE * (float(np.var(y, dtype=np.float64)) or 1.0)
    for _ in range(_MOST_ROUNDS):
        mean, epistemic, _ = predict(model, optimizer.posterior, x, "linearized")
        variance = max(float(np.mean((y - mean) ** 2 + epistemic)), least)
        change = abs(np.log(variance * model.noise_precision[0]))
        model.noise_precision = 1 / variance
        course.run(optimizer, x, y, epochs)
        if change < _TOLERANCE:
            return
