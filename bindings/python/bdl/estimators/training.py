"""The course of a fit: what is recorded and shown at each epoch, and when it ends early."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..handle import to_bytes
from ..optimizer import Optimizer, _load_optimizer
from ..predict import predict_log_density
from .progress import Bar

History = dict[str, list[float]]

# Draws that each epoch's validation takes: as many passes over a tenth of the data as training takes over all.
_VALIDATION_SAMPLES = 50


class Validation(NamedTuple):
    """Held-out data, and how many epochs may bring nothing better."""

    x: np.ndarray
    y: np.ndarray
    patience: int

    def score(self, optimizer: Optimizer) -> float:
        """Mean log predictive density, from the same draws at every epoch."""
        handles = optimizer.model, optimizer.posterior
        return float(np.mean(predict_log_density(*handles, self.x, self.y, samples=_VALIDATION_SAMPLES)))


class Course:
    """Records each epoch of an optimizer's fit, and keeps its best state if there are data to validate on."""

    def __init__(self, history: History, bar: Bar, validation: Validation | None = None, first_counted: float = 0.0):
        """``first_counted``: the best state is sought from this epoch on."""
        self._history, self._bar = history, bar
        self._validation, self._first_counted = validation, first_counted
        self._best, self._stale, self._state = -np.inf, 0, None

    def run(self, optimizer: Optimizer, x: np.ndarray, y: np.ndarray, epochs: int) -> None:
        optimizer.fit(x, y, epochs, self._epoch_ends)

    def best(self, optimizer: Optimizer) -> Optimizer:
        """The state to keep: the present one, or another optimizer if an earlier state was better."""
        if self._state is None or self._stale == 0:
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
