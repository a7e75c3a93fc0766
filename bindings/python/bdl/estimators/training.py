"""Training runs: their history, progress and early end."""

from __future__ import annotations

import math
from typing import Callable, NamedTuple, Sequence

import numpy as np

from ..dataset import Dataset
from ..errors import DivergedError
from ..optimizer import Optimizer
from ..predict import predict_log_density
from ..tables import describe_method
from .progress import Bar

History = dict[str, list[float]]

# Draws of each validation.
_VALIDATION_SAMPLES = 50


class Validation(NamedTuple):
    """Held-out data."""

    x: np.ndarray
    y: np.ndarray
    constant: float  # the score of predictions that do not look at x

    def densities(self, optimizer: Optimizer) -> np.ndarray:
        """Returns the log predictive density of each row; -inf if the network has diverged."""
        handles = optimizer.model, optimizer.posterior
        method = "monte_carlo" if describe_method(optimizer.method).prediction == "monte_carlo" else "plug_in"
        try:
            return predict_log_density(*handles, self.x, self.y, method=method, samples=_VALIDATION_SAMPLES)
        except DivergedError:
            return np.full(len(self.x), -np.inf)

    def check(self, densities: np.ndarray) -> None:
        """Fails if their mean is far below that of a constant."""
        if not np.mean(densities) > self.constant - 10 * (1 + abs(self.constant)):
            raise DivergedError(
                "training diverged: the score on held-out data fell far below that of a constant prediction. Lower "
                "learning_rate in options, or look for outliers in X and y"
            )


def constant_score(
    y: np.ndarray,
    held: np.ndarray,
    classes: int | None,
    weights: np.ndarray | None = None,
    held_weights: np.ndarray | None = None,
) -> float:
    """Returns the mean log density of held-out targets by the frequencies of the classes, or by a Gaussian.

    Densities are multiplied by the weights of rows. With weights, two classes may be shares of successes.

    >>> y, held = np.array([[0], [0], [1], [1]]), np.array([[0], [1]])
    >>> float(np.round(constant_score(y, held, 2), 3))
    -0.693
    """
    weights = np.ones(len(y)) if weights is None else weights
    held_weights = np.ones(len(held)) if held_weights is None else held_weights
    if classes == 2:
        successes, all_of_them = weights @ y[:, 0], np.sum(weights)
        first, second = np.log([(all_of_them - successes + 1) / (all_of_them + 2), (successes + 1) / (all_of_them + 2)])
        density = held_weights * (first + held[:, 0] * (second - first))
        return float(np.mean(density + _log_orders(held[:, 0], held_weights)))
    if classes is not None:
        counts = np.bincount(y[:, 0].astype(int), weights, classes)
        return float(np.mean(held_weights * np.log((counts + 1) / (np.sum(weights) + classes))[held[:, 0].astype(int)]))
    mean = np.average(y, axis=0, weights=weights)
    variance = np.average((y - mean) ** 2, axis=0, weights=weights)
    variance = np.where(variance > 0, variance, 1.0)
    density = -0.5 * (np.log(2 * np.pi * variance) + (held - mean) ** 2 / variance)
    return float(np.mean(held_weights * np.sum(density, axis=1)))


def _log_orders(shares: np.ndarray, trials: np.ndarray) -> np.ndarray:
    """Returns the logs of the binomial coefficients.

    >>> np.exp(_log_orders(np.array([0.5, 1.0]), np.array([2.0, 7.0]))).round(1)
    array([2., 1.])
    """
    log_factorial = np.vectorize(lambda number: math.lgamma(number + 1), otypes=[float])
    return log_factorial(trials) - log_factorial(shares * trials) - log_factorial((1 - shares) * trials)


def lengths_of_courses(first: int, all_epochs: int) -> list[int]:
    """Returns the epochs of courses: each has twice as many as the one before, the last one all.

    >>> lengths_of_courses(10, 120)
    [10, 20, 40, 120]
    """
    lengths = [first]
    while 2 * lengths[-1] <= all_epochs:
        lengths.append(2 * lengths[-1])
    return [*lengths[:-1], all_epochs]


class Course:
    """Records each epoch of an optimizer's fit."""

    def __init__(self, history: History, bar: Bar):
        self._history, self._bar = history, bar

    def run(self, optimizer: Optimizer, x: np.ndarray, y: np.ndarray, epochs: int) -> None:
        optimizer.fit(x, None if isinstance(x, Dataset) else y, epochs, self._epoch_ends)

    def _epoch_ends(self, optimizer: Optimizer) -> bool:
        epoch, elbo = optimizer.progress.epoch, optimizer.running_elbo
        self._record("epoch", epoch)
        self._record("expected_log_likelihood", elbo.expected_log_likelihood)
        self._record("kl", np.nan if elbo.kl is None else elbo.kl)
        self._record("elbo", elbo.value)
        self._bar.update(epoch, elbo.value)
        return False

    def _record(self, name: str, value: float) -> None:
        self._history.setdefault(name, []).append(float(value))


def best_length(train: Callable[[int], Optimizer], lengths: Sequence[int], validation: Validation) -> tuple[int, History]:
    """Returns the most epochs with which held-out data are not clearly less probable than with fewer, and what was tried.

    ``train`` takes a whole course of so many epochs: what training has learned in the middle of one, while rates are high, says
    little about its end. The search ends when two courses in turn are worse than a shorter one."""
    best, best_densities, worse, tried = 0, None, 0, {"validation_epoch": [], "validation_log_density": []}
    for length in lengths:
        densities = validation.densities(train(length))
        tried["validation_epoch"].append(float(length))
        tried["validation_log_density"].append(float(np.mean(densities)))
        if best_densities is None:
            validation.check(densities)
        elif _is_worse(densities, best_densities):
            worse += 1
            if worse == 2:
                break
            continue
        best, best_densities, worse = length, densities, 0
    return best, tried


def _is_worse(densities: np.ndarray, best: np.ndarray) -> bool:
    """True if their mean is lower by more than two standard errors of the difference."""
    difference = densities - best
    return not np.mean(difference) >= -2 * np.std(difference) / np.sqrt(len(difference))
