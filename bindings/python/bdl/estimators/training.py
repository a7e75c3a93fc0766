"""The course of a fit: what is recorded and shown at each epoch, and when it ends early."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..dataset import Dataset
from ..errors import DivergedError
from ..handle import to_bytes
from ..optimizer import Optimizer, _load_optimizer
from ..predict import predict_log_density
from ..tables import describe_method
from .progress import Bar

History = dict[str, list[float]]

# Draws that each epoch's validation takes: as many passes over a tenth of the data as training takes over all.
_VALIDATION_SAMPLES = 50


class Validation(NamedTuple):
    """Held-out data, and how many epochs may bring nothing better."""

    x: np.ndarray
    y: np.ndarray
    patience: int
    constant: float  # the score of predictions that do not look at x

    def score(self, optimizer: Optimizer) -> float:
        """Mean log predictive density, from the same draws at every epoch; -inf if the network has diverged."""
        handles = optimizer.model, optimizer.posterior
        method = "monte_carlo" if describe_method(optimizer.method).prediction == "monte_carlo" else "plug_in"
        try:
            density = predict_log_density(*handles, self.x, self.y, method=method, samples=_VALIDATION_SAMPLES)
        except DivergedError:
            return -np.inf
        return float(np.mean(density))

    def has_diverged(self, score: float, first: float) -> bool:
        """Far below a constant's score and below that of the first epoch, where the noise is not learned yet."""
        usual = min(self.constant, first)
        return not score > usual - 10 * (1 + abs(usual))


def constant_score(y: np.ndarray, held: np.ndarray, classes: int | None) -> float:
    """Mean log density of held-out targets by the frequencies of the classes, or by a Gaussian.

    >>> float(np.round(constant_score(np.array([[0], [0], [1], [1]]), np.array([[0], [1]]), 2), 3))
    -0.693
    """
    if classes is not None:
        counts = np.bincount(y[:, 0], minlength=classes)
        return float(np.mean(np.log((counts + 1) / (len(y) + classes))[held[:, 0]]))
    variance = np.var(y, axis=0)
    variance = np.where(variance > 0, variance, 1.0)
    density = -0.5 * (np.log(2 * np.pi * variance) + (held - np.mean(y, axis=0)) ** 2 / variance)
    return float(np.mean(np.sum(density, axis=1)))


class Course:
    """Records each epoch of an optimizer's fit, and keeps its best state if there are data to validate on."""

    def __init__(self, history: History, bar: Bar, validation: Validation | None = None, first_counted: float = 0.0):
        """``first_counted``: the best state is sought from this epoch on."""
        self._history, self._bar = history, bar
        self._validation, self._first_counted = validation, first_counted
        self._best, self._stale, self._state = -np.inf, 0, None
        self._first_score, self._diverged = None, False

    def run(self, optimizer: Optimizer, x: np.ndarray, y: np.ndarray, epochs: int) -> None:
        optimizer.fit(x, None if isinstance(x, Dataset) else y, epochs, self._epoch_ends)
        if self._diverged:
            raise DivergedError("training diverged: the score on held-out data fell far below that of a constant prediction")

    def best(self, optimizer: Optimizer) -> Optimizer:
        """The state to keep: the present one, or another optimizer if an earlier state was better."""
        if self._state is None or (self._stale == 0 and not self._diverged):
            return optimizer
        return _load_optimizer(self._state, True)

    def _epoch_ends(self, optimizer: Optimizer) -> bool:
        epoch, elbo = optimizer.progress.epoch, optimizer.running_elbo
        self._record("epoch", epoch)
        self._record("expected_log_likelihood", elbo.expected_log_likelihood)
        self._record("kl", np.nan if elbo.kl is None else elbo.kl)
        self._record("elbo", elbo.value)
        self._bar.update(epoch, elbo.value)
        return self._validation is not None and self._is_stale(optimizer, epoch)

    def _is_stale(self, optimizer: Optimizer, epoch: float) -> bool:
        score = self._validation.score(optimizer)
        self._record("validation_log_density", score)
        if self._first_score is None:
            self._first_score = score if np.isfinite(score) else 0.0
        self._diverged = self._validation.has_diverged(score, self._first_score)
        if self._diverged:
            return True
        if epoch < self._first_counted:
            return False
        if score > self._best:
            self._best, self._stale = score, 0
            self._state = to_bytes(None, None, optimizer._handle)
        else:
            self._stale += 1
        return self._stale >= self._validation.patience

    def _record(self, name: str, value: float) -> None:
        self._history.setdefault(name, []).append(float(value))
