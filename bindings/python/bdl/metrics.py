"""Scores of predictions.

>>> from bdl import metrics
>>> metrics.rmse([1.0, 2.0], [1.0, 4.0])
1.4142135623730951

Class probabilities are n x K, or n values of P(y = 1); labels are class numbers from 0. What a score can say of one prediction
(its ``confidence``, the largest probability, or by ``"entropy"``, minus its entropy) tells right from wrong ones, and those of the
training distribution from others. ``bdl.plots`` draws the curves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import arrays, lowlevel, names
from .errors import InvalidArgumentError


class CalibrationCurve(NamedTuple):
    """For each bin of confidence the number of examples, their accuracy and mean confidence (NaN in empty bins)."""

    counts: np.ndarray
    accuracy: np.ndarray
    confidence: np.ndarray


class RocCurve(NamedTuple):
    """Curve from (0, 0) to (1, 1): a point for each distinct score, which is its threshold."""

    fpr: np.ndarray
    tpr: np.ndarray
    threshold: np.ndarray


class OutOfDistribution(NamedTuple):
    """How well certainty tells examples of the training distribution, the positives, from others; entropies in nats."""

    auroc: float
    aupr: float
    aupr_out: float
    fpr95: float
    threshold: float
    detection_error: float
    entropy_inside: float
    entropy_outside: float


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


def nll(probabilities: Any, y: Any) -> float:
    """Mean of -log p of the labels, in nats."""
    return lowlevel.bdl_metric_nll(arrays.matrix(probabilities, "probabilities"), arrays.matrix(y, "y"))


def ece(probabilities: Any, y: Any, bins: int = 15) -> float:
    """Expected calibration error of the most probable class, over bins ((b - 1) / bins, b / bins] of its probability."""
    return lowlevel.bdl_metric_ece(arrays.matrix(probabilities, "probabilities"), arrays.matrix(y, "y"), bins)


def calibration_curve(probabilities: Any, y: Any, bins: int = 15) -> CalibrationCurve:
    """The reliability diagram that ece() sums up.

    >>> calibration_curve([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]], [0, 1, 1], bins=2).accuracy
    array([       nan, 0.66666667])
    """
    curve = arrays.empty(_at_least_one(bins, "bins"), 3)
    matrices = arrays.matrix(probabilities, "probabilities"), arrays.matrix(y, "y")
    lowlevel.bdl_metric_calibration_curve(*matrices, curve)
    return CalibrationCurve(curve[:, 0].astype(np.int64), curve[:, 1], curve[:, 2])


def _at_least_one(count: int, name: str) -> int:
    if count < 1:
        raise InvalidArgumentError(f"{name} is {count}, expected at least 1")
    return count


def entropy(probabilities: Any) -> np.ndarray:
    """Returns the entropy of each row, in nats.

    >>> entropy([[0.5, 0.5], [1.0, 0.0]])
    array([0.69314718, 0.        ])
    """
    probabilities = arrays.matrix(probabilities, "probabilities")
    values = arrays.empty(len(probabilities), 1)
    lowlevel.bdl_metric_entropy(probabilities, values)
    return values[:, 0]


def entropy_histogram(probabilities: Any, bins: int = 15) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of rows by entropy, and the edges of the bins over [0, log K]."""
    counts, probabilities = arrays.empty(_at_least_one(bins, "bins"), 1), arrays.matrix(probabilities, "probabilities")
    lowlevel.bdl_metric_entropy_histogram(probabilities, counts)
    return counts[:, 0].astype(np.int64), np.linspace(0, np.log(max(2, probabilities.shape[1])), bins + 1)


def auroc(positive: Any, negative: Any) -> float:
    """P(a positive has a higher score than a negative), equal scores counting half: the area under the ROC curve.

    >>> auroc([3, 1, 2], [2, 0])
    0.75
    """
    return lowlevel.bdl_metric_auroc(*_scores(positive, negative))


def aupr(positive: Any, negative: Any) -> float:
    """Average precision of scores, a higher one of which says positive."""
    return lowlevel.bdl_metric_aupr(*_scores(positive, negative))


def fpr(positive: Any, negative: Any, tpr: float = 0.95) -> tuple[float, float]:
    """The false positive rate at the largest threshold that a share ``tpr`` of the positives reaches, and that threshold."""
    return tuple(lowlevel.bdl_metric_fpr(*_scores(positive, negative), tpr))


def detection_error(positive: Any, negative: Any) -> float:
    """The least mean of both error rates over all thresholds."""
    return lowlevel.bdl_metric_detection_error(*_scores(positive, negative))


def roc_curve(positive: Any, negative: Any) -> RocCurve:
    """
    >>> roc_curve([3, 1, 2], [2, 0]).threshold
    array([inf,  3.,  2.,  1.,  0.])
    """
    positive, negative = _scores(positive, negative)
    curve = arrays.empty(len(positive) + len(negative) + 1, 3)
    lowlevel.bdl_metric_roc_curve(positive, negative, curve)
    distinct = np.concatenate([[True], np.diff(curve[:, 2]) < 0])
    return RocCurve(*curve[distinct].T)


def _scores(positive: Any, negative: Any) -> tuple[np.ndarray, np.ndarray]:
    return arrays.matrix(positive, "positive"), arrays.matrix(negative, "negative")


def auroc_correct(probabilities: Any, y: Any, score: str = "confidence") -> float:
    """Whether certainty tells right predictions from wrong ones: their AUROC."""
    matrices = arrays.matrix(probabilities, "probabilities"), arrays.matrix(y, "y")
    return lowlevel.bdl_metric_auroc_correct(*matrices, names.scores.number(score))


def out_of_distribution(inside: Any, outside: Any, score: str = "confidence") -> OutOfDistribution:
    """How well certainty tells probabilities of the training distribution from those of other data.

    >>> out_of_distribution([[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.6, 0.4]]).auroc
    1.0
    """
    matrices = arrays.matrix(inside, "inside"), arrays.matrix(outside, "outside")
    return OutOfDistribution(**lowlevel.bdl_metric_ood(*matrices, names.scores.number(score)))


def fit_temperature(logits: Any, y: Any) -> float:
    """The temperature in [1/1000, 1000] that makes softmax(logits / T) most likely on validation data; log probabilities
    serve as logits.

    >>> round(fit_temperature(np.log([[0.2, 0.8]] * 3), [1, 1, 0]), 12)
    2.0
    """
    return lowlevel.bdl_temperature_fit(arrays.matrix(logits, "logits"), arrays.matrix(y, "y"))


def apply_temperature(logits: Any, temperature: float) -> np.ndarray:
    """log softmax(logits / temperature), row by row."""
    logits = arrays.matrix(logits, "logits")
    log_probabilities = arrays.empty(*logits.shape)
    lowlevel.bdl_temperature_apply(logits, temperature, log_probabilities)
    return log_probabilities


def coverage(lower: Any, upper: Any, y: Any) -> float:
    """Fraction of y inside the limits."""
    limits = arrays.matrix(lower, "lower"), arrays.matrix(upper, "upper")
    return lowlevel.bdl_metric_coverage(*limits, arrays.matrix(y, "y"))


def crps(draws: Any, y: Any) -> float:
    """Continuous ranked probability score of draws (n x S), in units of y; lower is better."""
    return lowlevel.bdl_metric_crps(arrays.matrix(draws, "draws"), arrays.matrix(y, "y"))
