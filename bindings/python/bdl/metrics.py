"""Scores of predictions.

>>> from bdl import metrics
>>> metrics.rmse([1.0, 2.0], [1.0, 4.0])
1.4142135623730951
"""

from __future__ import annotations

from typing import Any

from . import arrays, lowlevel


def rmse(mean: Any, y: Any) -> float:
    """Root mean squared error."""
    return lowlevel.bdl_metric_rmse(arrays.matrix(mean, "mean"), arrays.matrix(y, "y"))


def log_predictive_density(log_density: Any) -> tuple[float, float]:
    """Mean over examples and its standard error, in nats, of what predict_log_density() returns."""
    return tuple(lowlevel.bdl_metric_log_predictive_density(arrays.matrix(log_density, "log_density")))


def accuracy(probabilities: Any, y: Any) -> float:
    """Fraction of examples whose most probable class is the label."""
    return lowlevel.bdl_metric_accuracy(arrays.matrix(probabilities, "probabilities"), arrays.matrix(y, "y"))


def brier(probabilities: Any, y: Any) -> float:
    """Brier score, in [0, 2]."""
    return lowlevel.bdl_metric_brier(arrays.matrix(probabilities, "probabilities"), arrays.matrix(y, "y"))


def ece(probabilities: Any, y: Any, bins: int = 15) -> float:
    """Expected calibration error of the most probable class."""
    return lowlevel.bdl_metric_ece(arrays.matrix(probabilities, "probabilities"), arrays.matrix(y, "y"), bins)


def coverage(lower: Any, upper: Any, y: Any) -> float:
    """Fraction of y inside the limits."""
    limits = arrays.matrix(lower, "lower"), arrays.matrix(upper, "upper")
    return lowlevel.bdl_metric_coverage(*limits, arrays.matrix(y, "y"))


def crps(draws: Any, y: Any) -> float:
    """Continuous ranked probability score of draws (n x S), in units of y; lower is better."""
    return lowlevel.bdl_metric_crps(arrays.matrix(draws, "draws"), arrays.matrix(y, "y"))
