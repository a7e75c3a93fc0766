"""Scores of predictions.

Class probabilities have the shape (n, K), or (n,) for P(y = 1) of two classes. Labels are class numbers
from 0. :mod:`bdl.plots` draws the curves.

>>> import bdl
>>> bdl.metrics.accuracy([[0.9, 0.1], [0.4, 0.6]], [0, 0])
0.5
"""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np

from . import arrays, lowlevel, names
from .errors import InvalidArgumentError


class CalibrationCurve(NamedTuple):
    """A reliability diagram: for each bin of confidence, what was observed.

    ``counts`` are the numbers of examples, ``accuracy`` the shares of right predictions, and ``confidence``
    the mean probabilities of the predicted class. The last two are NaN in empty bins.

    >>> import bdl
    >>> probabilities, y = [[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]], [0, 1, 1]
    >>> curve = bdl.metrics.calibration_curve(probabilities, y, bins=2)
    >>> curve.counts, curve.accuracy.round(2), curve.confidence.round(2)
    (array([0, 3]), array([ nan, 0.67]), array([ nan, 0.77]))
    """

    counts: np.ndarray
    accuracy: np.ndarray
    confidence: np.ndarray


class RocCurve(NamedTuple):
    """An ROC curve from (0, 0) to (1, 1), with a point for each distinct score.

    ``fpr`` and ``tpr`` are the false and the true positive rate, ``threshold`` the score.

    >>> import bdl
    >>> curve = bdl.metrics.roc_curve([3, 1, 2], [2, 0])
    >>> curve.fpr, curve.tpr.round(2), curve.threshold
    (array([0. , 0. , 0.5, 0.5, 1. ]), array([0.  , 0.33, 0.67, 1.  , 1.  ]), array([inf,  3.,  2.,  1.,  0.]))
    """

    fpr: np.ndarray
    tpr: np.ndarray
    threshold: np.ndarray


class OutOfDistribution(NamedTuple):
    """Measures of how well certainty separates data of the training distribution from other data.

    ``auroc`` and ``aupr`` count the training distribution as positive, ``aupr_out`` the other data.
    ``fpr95`` is the false positive rate at a true positive rate of 95 %, and ``threshold`` its score.
    ``detection_error`` is the least mean of both error rates. ``entropy_inside`` and ``entropy_outside`` are
    mean entropies in nats.

    >>> import bdl
    >>> inside, outside = [[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.6, 0.4]]
    >>> found = bdl.metrics.out_of_distribution(inside, outside)
    >>> found.auroc, found.aupr, found.aupr_out, found.fpr95
    (1.0, 1.0, 1.0, 0.0)
    >>> found.threshold, found.detection_error
    (0.8, 0.0)
    >>> found.entropy_inside < found.entropy_outside
    True
    """

    auroc: float
    aupr: float
    aupr_out: float
    fpr95: float
    threshold: float
    detection_error: float
    entropy_inside: float
    entropy_outside: float


class ElpdEstimate(NamedTuple):
    """An estimate of the expected log predictive density (elpd) of new examples, in nats; higher is better.

    ``elpd`` is that of as many new examples as there are rows, ``standard_error`` that of the estimate,
    ``effective_parameters`` the effective number of parameters. ``pointwise`` holds the parts of the rows:
    ``pointwise[:, 0]`` adds up to ``elpd``, ``pointwise[:, 1]`` to ``effective_parameters``. ``pareto_k`` tells of
    each row how far :func:`loo` can be trusted; it is None for :func:`waic`.

    >>> import bdl, numpy as np
    >>> log_likelihood = -0.5 * np.random.default_rng(1).normal(1, 0.3, size=(500, 20)) ** 2
    >>> found = bdl.metrics.loo(log_likelihood)
    >>> bool(abs(found.pointwise[:, 0].sum() - found.elpd) < 1e-9), found.pareto_k.shape
    (True, (20,))
    >>> bool(found.standard_error < 1), bool(found.effective_parameters < 5)
    (True, True)
    """

    elpd: float
    standard_error: float
    effective_parameters: float
    pointwise: np.ndarray
    pareto_k: np.ndarray | None


def waic(log_likelihood: Any) -> ElpdEstimate:
    """Returns the elpd by the widely applicable information criterion, which is -2 elpd (Watanabe 2010).

    Prefer :func:`loo`, which tells where it fails.

    Parameters
    ----------
    log_likelihood : array of shape (S, n)
        Log likelihoods of S samples of the parameters and n rows, from :func:`bdl.predict_log_likelihood` or
        ``log_likelihood`` of an estimator.

    Examples
    --------
    >>> import bdl, numpy as np
    >>> log_likelihood = -0.5 * np.random.default_rng(1).normal(1, 0.3, size=(500, 20)) ** 2
    >>> found = bdl.metrics.waic(log_likelihood)
    >>> print(round(found.elpd, 1), round(found.effective_parameters, 1))
    -11.8 1.9
    """
    log_likelihood = arrays.matrix(log_likelihood, "log_likelihood")
    pointwise = arrays.empty(log_likelihood.shape[1], 2)
    return ElpdEstimate(*lowlevel.bdl_metric_waic(log_likelihood, pointwise), pointwise, None)


def loo(log_likelihood: Any) -> ElpdEstimate:
    """Returns the elpd by leave-one-out cross-validation without new fits (PSIS-LOO).

    It takes the samples as those of the posterior given all rows, and gives them importance weights for each row
    left out (Vehtari, Gelman, Gabry 2017). It warns if ``pareto_k`` of a row is above min(1 - 1 / log10(S), 0.7),
    where it cannot be trusted: leave such rows out and fit again, or use cross-validation. Samples of an
    approximate posterior give the elpd of that approximation.

    Parameters
    ----------
    log_likelihood : array of shape (S, n)
        Log likelihoods of S samples of the parameters and n rows, from :func:`bdl.predict_log_likelihood` or
        ``log_likelihood`` of an estimator.

    Examples
    --------
    >>> import bdl
    >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
    >>> glm = bdl.BayesianGLM().fit(X, y)
    >>> found = bdl.metrics.loo(glm.log_likelihood(X, y, 1000))
    >>> print(round(found.elpd), bool(found.effective_parameters < 10))
    -1116 True
    """
    log_likelihood = arrays.matrix(log_likelihood, "log_likelihood")
    pointwise = arrays.empty(log_likelihood.shape[1], 3)
    sums = lowlevel.bdl_metric_loo(log_likelihood, pointwise)
    limit = min(1 - 1 / math.log10(len(log_likelihood)), 0.7)
    if (high := int(np.sum(pointwise[:, 2] > limit))) > 0:
        warnings.warn(
            f"pareto_k is above {limit:.2g} for {high} of {len(pointwise)} rows, whose elpd cannot be trusted: leave them out and fit again",
            stacklevel=2,
        )
    return ElpdEstimate(*sums, pointwise[:, :2], pointwise[:, 2])


def rmse(mean: Any, y: Any) -> float:
    """Returns the root mean squared error, in units of y.

    Parameters
    ----------
    mean : array of shape (n,) or (n, C)
        Predicted means.
    y : array of the same shape
        Targets.

    Examples
    --------
    >>> import bdl
    >>> print(round(bdl.metrics.rmse([1.0, 2.0], [1.0, 4.0]), 3))
    1.414
    """
    return lowlevel.bdl_metric_rmse(arrays.matrix(mean, "mean"), arrays.matrix(y, "y"))


def log_predictive_density(log_density: Any) -> tuple[float, float]:
    """Returns the mean log predictive density of an example and its standard error, in nats.

    Parameters
    ----------
    log_density : array of shape (n,)
        Log densities, from :func:`bdl.predict_log_density` or ``log_predictive_density`` of an estimator.

    Examples
    --------
    >>> import bdl
    >>> mean, error = bdl.metrics.log_predictive_density([-1.0, -2.0, -3.0])
    >>> print(mean, round(error, 3))
    -2.0 0.577
    """
    return tuple(lowlevel.bdl_metric_log_predictive_density(arrays.matrix(log_density, "log_density")))


def accuracy(probabilities: Any, y: Any) -> float:
    """Returns the share of examples whose most probable class is the label.

    Parameters
    ----------
    probabilities : array of shape (n, K) or (n,)
        Class probabilities, or P(y = 1).
    y : array of shape (n,)
        Class numbers.

    Examples
    --------
    >>> import bdl
    >>> bdl.metrics.accuracy([[0.9, 0.1], [0.4, 0.6]], [0, 0])
    0.5
    """
    return lowlevel.bdl_metric_accuracy(arrays.matrix(probabilities, "probabilities"), arrays.matrix(y, "y"))


def brier(probabilities: Any, y: Any) -> float:
    """Returns the Brier score, from 0 (best) to 2.

    It is the mean over examples of the summed squares of probability minus outcome over all classes.

    Parameters
    ----------
    probabilities : array of shape (n, K) or (n,)
        Class probabilities, or P(y = 1).
    y : array of shape (n,)
        Class numbers.

    Examples
    --------
    >>> import bdl
    >>> print(round(bdl.metrics.brier([[0.9, 0.1], [0.4, 0.6]], [0, 0]), 3))
    0.37
    """
    return lowlevel.bdl_metric_brier(arrays.matrix(probabilities, "probabilities"), arrays.matrix(y, "y"))


def nll(probabilities: Any, y: Any) -> float:
    """Returns the mean of -log p of the labels, in nats.

    A label of probability 0 is an error, :class:`DivergedError`.

    Parameters
    ----------
    probabilities : array of shape (n, K) or (n,)
        Class probabilities, or P(y = 1).
    y : array of shape (n,)
        Class numbers.

    Examples
    --------
    >>> import bdl
    >>> print(round(bdl.metrics.nll([[0.9, 0.1], [0.4, 0.6]], [0, 0]), 3))
    0.511
    """
    return lowlevel.bdl_metric_nll(arrays.matrix(probabilities, "probabilities"), arrays.matrix(y, "y"))


def ece(probabilities: Any, y: Any, bins: int = 15) -> float:
    """Returns the expected calibration error of the most probable class, from 0 (best) to 1.

    Parameters
    ----------
    probabilities : array of shape (n, K) or (n,)
        Class probabilities, or P(y = 1).
    y : array of shape (n,)
        Class numbers.
    bins : int, default=15
        Number of bins of equal width.

    Examples
    --------
    >>> import bdl
    >>> print(round(bdl.metrics.ece([[0.9, 0.1], [0.4, 0.6]], [0, 0]), 3))
    0.35
    """
    return lowlevel.bdl_metric_ece(arrays.matrix(probabilities, "probabilities"), arrays.matrix(y, "y"), bins)


def calibration_curve(probabilities: Any, y: Any, bins: int = 15) -> CalibrationCurve:
    """Returns a reliability diagram, a :class:`CalibrationCurve`.

    Parameters
    ----------
    probabilities : array of shape (n, K) or (n,)
        Class probabilities, or P(y = 1).
    y : array of shape (n,)
        Class numbers.
    bins : int, default=15
        Number of bins of equal width.

    Examples
    --------
    >>> import bdl
    >>> probabilities, y = [[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]], [0, 1, 1]
    >>> bdl.metrics.calibration_curve(probabilities, y, bins=2).accuracy
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
    """Returns the entropy of each row, of shape (n,), in nats.

    Parameters
    ----------
    probabilities : array of shape (n, K) or (n,)
        Class probabilities, or P(y = 1).

    Examples
    --------
    >>> import bdl
    >>> bdl.metrics.entropy([[0.5, 0.5], [1.0, 0.0]]).round(3)
    array([0.693, 0.   ])
    """
    probabilities = arrays.matrix(probabilities, "probabilities")
    values = arrays.empty(len(probabilities), 1)
    lowlevel.bdl_metric_entropy(probabilities, values)
    return values[:, 0]


def entropy_histogram(probabilities: Any, bins: int = 15) -> tuple[np.ndarray, np.ndarray]:
    """Returns the numbers of rows by entropy, and the limits of the bins over [0, log K] in nats.

    Parameters
    ----------
    probabilities : array of shape (n, K) or (n,)
        Class probabilities, or P(y = 1).
    bins : int, default=15
        Number of bins of equal width.

    Examples
    --------
    >>> import bdl
    >>> probabilities = [[0.5, 0.5], [1.0, 0.0]]
    >>> counts, limits = bdl.metrics.entropy_histogram(probabilities, bins=2)
    >>> counts, limits.round(2)
    (array([1, 1]), array([0.  , 0.35, 0.69]))
    """
    counts, probabilities = arrays.empty(_at_least_one(bins, "bins"), 1), arrays.matrix(probabilities, "probabilities")
    lowlevel.bdl_metric_entropy_histogram(probabilities, counts)
    return counts[:, 0].astype(np.int64), np.linspace(0, np.log(max(2, probabilities.shape[1])), bins + 1)


def auroc(positive: Any, negative: Any) -> float:
    """Returns the area under the ROC curve: the probability that a positive has the higher score.

    Equal scores count half.

    Parameters
    ----------
    positive, negative : array of shape (n,), (m,)
        Scores of the positives and of the negatives; a higher score should mean positive.

    Examples
    --------
    >>> import bdl
    >>> bdl.metrics.auroc([3, 1, 2], [2, 0])
    0.75
    """
    return lowlevel.bdl_metric_auroc(*_scores(positive, negative))


def aupr(positive: Any, negative: Any) -> float:
    """Returns the area under the precision-recall curve, as average precision.

    Parameters
    ----------
    positive, negative : array of shape (n,), (m,)
        Scores of the positives and of the negatives; a higher score should mean positive.

    Examples
    --------
    >>> import bdl
    >>> bdl.metrics.aupr([3, 2], [1, 0])
    1.0
    """
    return lowlevel.bdl_metric_aupr(*_scores(positive, negative))


def fpr(positive: Any, negative: Any, tpr: float = 0.95) -> tuple[float, float]:
    """Returns the false positive rate at a true positive rate, and the threshold of the score.

    Parameters
    ----------
    positive, negative : array of shape (n,), (m,)
        Scores of the positives and of the negatives; a higher score should mean positive.
    tpr : float, default=0.95
        True positive rate, in (0, 1]. The threshold is the largest score that such a share of the positives
        reaches.

    Examples
    --------
    >>> import bdl
    >>> bdl.metrics.fpr([3, 1, 2], [2, 0])
    (0.5, 1.0)
    """
    return tuple(lowlevel.bdl_metric_fpr(*_scores(positive, negative), tpr))


def detection_error(positive: Any, negative: Any) -> float:
    """Returns the least mean of both error rates over all thresholds, from 0 (best) to 1/2.

    Parameters
    ----------
    positive, negative : array of shape (n,), (m,)
        Scores of the positives and of the negatives; a higher score should mean positive.

    Examples
    --------
    >>> import bdl
    >>> bdl.metrics.detection_error([3, 2], [2, 0])
    0.25
    """
    return lowlevel.bdl_metric_detection_error(*_scores(positive, negative))


def roc_curve(positive: Any, negative: Any) -> RocCurve:
    """Returns the ROC curve, a :class:`RocCurve`.

    Parameters
    ----------
    positive, negative : array of shape (n,), (m,)
        Scores of the positives and of the negatives; a higher score should mean positive.

    Examples
    --------
    >>> import bdl
    >>> bdl.metrics.roc_curve([3, 1, 2], [2, 0]).threshold
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
    """Returns the AUROC of right against wrong predictions, which certainty should separate.

    It is an error if all predictions are right, or all wrong.

    Parameters
    ----------
    probabilities : array of shape (n, K) or (n,)
        Class probabilities, or P(y = 1).
    y : array of shape (n,)
        Class numbers.
    score : str, default="confidence"
        Measure of certainty: "confidence" (the largest probability) or "entropy" (minus the entropy).

    Examples
    --------
    >>> import bdl
    >>> bdl.metrics.auroc_correct([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]], [0, 0, 0])
    1.0
    """
    matrices = arrays.matrix(probabilities, "probabilities"), arrays.matrix(y, "y")
    return lowlevel.bdl_metric_auroc_correct(*matrices, names.scores.number(score))


def out_of_distribution(inside: Any, outside: Any, score: str = "confidence") -> OutOfDistribution:
    """Returns how well certainty separates the training distribution from other data.

    The result is an :class:`OutOfDistribution`.

    Parameters
    ----------
    inside : array of shape (n, K) or (n,)
        Class probabilities of examples of the training distribution.
    outside : array of shape (m, K) or (m,)
        Class probabilities of other data.
    score : str, default="confidence"
        Measure of certainty: "confidence" (the largest probability) or "entropy" (minus the entropy).

    Examples
    --------
    >>> import bdl
    >>> inside, outside = [[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.6, 0.4]]
    >>> bdl.metrics.out_of_distribution(inside, outside).auroc
    1.0
    """
    matrices = arrays.matrix(inside, "inside"), arrays.matrix(outside, "outside")
    return OutOfDistribution(**lowlevel.bdl_metric_ood(*matrices, names.scores.number(score)))


def fit_temperature(logits: Any, y: Any) -> float:
    """Returns the temperature T that makes softmax(logits / T) most likely on validation data.

    It is above 1 if predictions are too certain, and lies in [1/1000, 1000].

    Parameters
    ----------
    logits : array of shape (n, K)
        Logits or log probabilities of validation data.
    y : array of shape (n,)
        Class numbers.

    Examples
    --------
    >>> import bdl
    >>> import numpy as np
    >>> logits = np.log([[0.2, 0.8]] * 3)
    >>> print(round(bdl.metrics.fit_temperature(logits, [1, 1, 0]), 3))
    2.0
    """
    return lowlevel.bdl_temperature_fit(arrays.matrix(logits, "logits"), arrays.matrix(y, "y"))


def apply_temperature(logits: Any, temperature: float) -> np.ndarray:
    """Returns log softmax(logits / temperature) of each row, of shape (n, K).

    Parameters
    ----------
    logits : array of shape (n, K)
        Logits or log probabilities.
    temperature : float
        Temperature, such as that of :func:`fit_temperature`.

    Examples
    --------
    >>> import bdl
    >>> import numpy as np
    >>> np.exp(bdl.metrics.apply_temperature(np.log([[0.2, 0.8]]), 2.0)).round(3)
    array([[0.333, 0.667]])
    """
    logits = arrays.matrix(logits, "logits")
    log_probabilities = arrays.empty(*logits.shape)
    lowlevel.bdl_temperature_apply(logits, temperature, log_probabilities)
    return log_probabilities


def coverage(lower: Any, upper: Any, y: Any) -> float:
    """Returns the share of y that lies inside intervals.

    Parameters
    ----------
    lower, upper : array of shape (n,) or (n, C)
        Limits, such as those of :func:`bdl.predict_interval`.
    y : array of the same shape
        Targets.

    Examples
    --------
    >>> import bdl
    >>> bdl.metrics.coverage([0.0, 0.0], [1.0, 1.0], [0.5, 2.0])
    0.5
    """
    limits = arrays.matrix(lower, "lower"), arrays.matrix(upper, "upper")
    return lowlevel.bdl_metric_coverage(*limits, arrays.matrix(y, "y"))


def crps(draws: Any, y: Any) -> float:
    """Returns the continuous ranked probability score, in units of y; lower is better.

    Parameters
    ----------
    draws : array of shape (n, S)
        Samples of y, such as those of :func:`bdl.predict_draws` or ``sample_y`` of an estimator.
    y : array of shape (n,)
        Targets.

    Examples
    --------
    >>> import bdl
    >>> draws = [[1.0, 2.0, 3.0], [0.0, 1.0, 2.0]]
    >>> print(round(bdl.metrics.crps(draws, [2.0, 2.0]), 3))
    0.167
    """
    return lowlevel.bdl_metric_crps(arrays.matrix(draws, "draws"), arrays.matrix(y, "y"))
