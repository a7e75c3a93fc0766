"""Predictive distributions of a model under a posterior. All take the data x, a method and, for Monte-Carlo methods, the
number of samples and their seed (include/bdl/predict.h describes the methods)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import arrays, lowlevel, names
from .handle import capsule_of
from .model import Model
from .posterior import Posterior
from .tables import defaults

_SAMPLES, _SEED = int(defaults["samples"]), int(defaults["seed"])


class Prediction(NamedTuple):
    """n x C each (n x targets if heteroscedastic); the predictive variance is the sum of the two."""

    mean: np.ndarray
    epistemic_variance: np.ndarray
    noise_variance: np.ndarray


class ClassPrediction(NamedTuple):
    """Probabilities, and entropy and mutual information in nats (None where it has no formula)."""

    probabilities: np.ndarray
    entropy: np.ndarray
    mutual_information: np.ndarray | None


def _inputs(model: Model, posterior: Posterior, x: Any) -> np.ndarray:
    capsule_of(model, Model, "model")
    capsule_of(posterior, Posterior, "posterior")
    return arrays.matrix(x, "x")


def _call(function: Any, model: Model, posterior: Posterior, x: np.ndarray, how: tuple[str, int, int], *rest: Any) -> None:
    method, samples, seed = how
    number = names.predict_methods.number(method)
    function(model._handle, posterior._handle, x, number, samples, seed, *rest)


def predict(
    model: Model, posterior: Posterior, x: Any, method: str = "monte_carlo", samples: int = _SAMPLES, seed: int = _SEED
) -> Prediction:
    """Mean of y, its variance from not knowing theta, and that of the noise.

    >>> import bdl
    >>> model, q = bdl.Model.mlp([2, 1]), bdl.Posterior.full(3)
    >>> bdl.predict(model, q, [[1.0, 2.0]], method="linearized").epistemic_variance
    array([[6.]])
    """
    x = _inputs(model, posterior, x)
    result = Prediction(*(arrays.empty(len(x), model.means) for _ in range(3)))
    infinite = model.likelihood == "student_t" and model.degrees_of_freedom <= 2
    mean, epistemic, noise = result
    how = method, samples, seed
    _call(lowlevel.bdl_predict, model, posterior, x, how, mean, epistemic, None if infinite else noise)
    if infinite:
        noise.fill(np.inf)
    return result


def predict_quantiles(
    model: Model,
    posterior: Posterior,
    x: Any,
    levels: Any,
    method: str = "monte_carlo",
    samples: int = _SAMPLES,
    seed: int = _SEED,
) -> np.ndarray:
    """Quantiles of y, of shape (n, C, levels)."""
    x, levels = _inputs(model, posterior, x), arrays.row(levels, "levels")
    quantiles = arrays.empty(len(x), model.means * levels.shape[1])
    _call(lowlevel.bdl_predict_quantiles, model, posterior, x, (method, samples, seed), levels, quantiles)
    return quantiles.reshape(len(x), model.means, levels.shape[1])


def predict_interval(
    model: Model,
    posterior: Posterior,
    x: Any,
    probability: float = 0.95,
    method: str = "monte_carlo",
    samples: int = _SAMPLES,
    seed: int = _SEED,
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper limits, n x C, between which y is with this probability."""
    x = _inputs(model, posterior, x)
    limits = arrays.empty(len(x), model.means), arrays.empty(len(x), model.means)
    _call(lowlevel.bdl_predict_interval, model, posterior, x, (method, samples, seed), probability, *limits)
    return limits


def predict_classes(
    model: Model, posterior: Posterior, x: Any, method: str = "monte_carlo", samples: int = _SAMPLES, seed: int = _SEED
) -> ClassPrediction:
    """Class probabilities and their uncertainty: n x C, and for a categorical model n x 1 entropies."""
    x = _inputs(model, posterior, x)
    columns = 1 if model.likelihood == "categorical" else model.outputs
    has_information = not (method == "linearized" and model.likelihood == "categorical")
    probabilities, entropy = arrays.empty(len(x), model.outputs), arrays.empty(len(x), columns)
    information = arrays.empty(len(x), columns) if has_information else None
    how = method, samples, seed
    _call(lowlevel.bdl_predict_classes, model, posterior, x, how, probabilities, entropy, information)
    return ClassPrediction(probabilities, entropy, information)


def predict_log_density(
    model: Model, posterior: Posterior, x: Any, y: Any, method: str = "monte_carlo", samples: int = _SAMPLES, seed: int = _SEED
) -> np.ndarray:
    """log p(y_i | x_i) of each example, in nats."""
    x, y = _inputs(model, posterior, x), arrays.matrix(y, "y")
    result = arrays.empty(len(x), 1)
    number = names.predict_methods.number(method)
    lowlevel.bdl_predict_log_density(model._handle, posterior._handle, x, y, number, samples, seed, result)
    return result[:, 0]


def predict_draws(
    model: Model, posterior: Posterior, x: Any, samples: int = _SAMPLES, seed: int = _SEED, method: str = "monte_carlo"
) -> np.ndarray:
    """Draws of y, of shape (n, targets, samples)."""
    x = _inputs(model, posterior, x)
    draws = arrays.empty(len(x), model.targets * samples)
    _call(lowlevel.bdl_predict_draws_by, model, posterior, x, (method, samples, seed), draws)
    return draws.reshape(len(x), model.targets, samples)


def predict_output_distribution(model: Model, posterior: Posterior, x: Any) -> tuple[np.ndarray, np.ndarray]:
    """Means (n, C) and covariances (n, C, C) of the linearised model's outputs."""
    x = _inputs(model, posterior, x)
    outputs = model.outputs
    mean, covariance = arrays.empty(len(x), outputs), arrays.empty(len(x), outputs * outputs)
    lowlevel.bdl_predict_output_distribution(model._handle, posterior._handle, x, mean, covariance)
    return mean, covariance.reshape(len(x), outputs, outputs)
