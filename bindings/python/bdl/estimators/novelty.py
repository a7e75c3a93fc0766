"""How unlike the training rows a row is."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dataset import Dataset
from ..errors import UnsupportedError
from ..optimizer import Optimizer
from ..predict import predict_leverage
from ..tables import defaults
from .points import no_covariance

_ROWS, _STREAM_ROWS = int(defaults["novelty_rows"]), int(defaults["novelty_stream_rows"])


class ScoresNovelty:
    """``novelty`` of an estimator or of the members of an ensemble, which ``_members`` gives."""

    def _members(self) -> list[Any]:
        raise NotImplementedError

    def novelty(self, X: Any) -> np.ndarray:
        """How unlike the training rows each row is: its leverage, the variance that a mean has from not knowing the parameters, over
        that of the training rows on average. It grows where the data say little (docs/how-to/unlike-rows.md); ``novelty_limit`` says
        what is unusual.

        >>> import bdl, numpy as np
        >>> X = np.random.default_rng(1).uniform(-1, 1, (100, 2))
        >>> glm = bdl.BayesianGLM().fit(X, X[:, 0])
        >>> float(np.round(glm.novelty(X).mean(), 6))
        1.0
        >>> glm.novelty([[0.0, 0.0], [5.0, 0.0]]) > glm.novelty_limit()
        array([False,  True])
        """
        known, _ = self._known_leverages()
        x = self._inputs(X)
        return np.mean([member._leverages(x)[0] for member in self._members()], axis=0) / np.mean(known)

    def novelty_limit(self, false_alarms: float = 0.05) -> float:
        """The novelty that this share of the training rows would exceed had each been left out, and so about this share of new rows of
        the same kind."""
        if not 0 < false_alarms < 1:
            raise ValueError(f"false_alarms is {false_alarms}, expected a number between 0 and 1")
        known, left_out = self._known_leverages()
        return float(np.quantile(left_out, 1 - false_alarms) / np.mean(known))

    def learn_novelty(self, X: Any) -> Any:
        """Takes rows of X, or of a ``Dataset``, as those that ``novelty`` compares with, as ``fit`` does by itself. Estimators of checkpoints and of
        large networks, and fits that were interrupted, need it."""
        x = X if isinstance(X, Dataset) else self._inputs(X)
        for member in self._members():
            _refuse_without_covariance(member.optimizer_)
            member.leverages_ = member._leverages(_rows_of(x))
        return self

    def _known_leverages(self) -> np.ndarray:
        """Of the rows that are compared with: of an ensemble, the members' mean."""
        for member in self._members():
            _refuse_without_covariance(member.optimizer_)
            if not hasattr(member, "leverages_"):
                raise UnsupportedError(
                    "novelty needs leverages of training rows, which an estimator of a checkpoint or of a large network, or an "
                    "interrupted fit, does not have: call learn_novelty(X) with the training data"
                )
        return np.mean([member.leverages_ for member in self._members()], axis=0)


class KeepsLeverages(ScoresNovelty):
    """``leverages_`` of rows that a fit has learned from: as they are, and as if each had been left out."""

    leverages_: np.ndarray

    def _leverages(self, x: np.ndarray) -> np.ndarray:
        return np.array(predict_leverage(self.model_, self.posterior_, x))

    def _keeps_leverages(self) -> bool:
        is_small = self.model_.parameters * self.model_.outputs**2 <= defaults["novelty_numbers"]
        return is_small and _lack_of_covariance(self.optimizer_) is None

    def _keep_leverages(self, x: Any) -> None:
        if self._keeps_leverages():
            self.leverages_ = self._leverages(_rows_of(x))

    def _keep_last_leverages(self, x: np.ndarray) -> None:
        """Those of the last rows of a stream, each when it was learned."""
        if self._keeps_leverages():
            former = getattr(self, "leverages_", np.empty((2, 0)))
            self.leverages_ = np.hstack([former, self._leverages(x[-_STREAM_ROWS:])])[:, -_STREAM_ROWS:]


def _lack_of_covariance(optimizer: Optimizer) -> str | None:
    if optimizer.posterior.family == "dropout":
        return "a dropout posterior has no covariance: method 'laplace', or that by default, finds one"
    return None if optimizer.posterior.has_covariance else no_covariance(optimizer)


def _refuse_without_covariance(optimizer: Optimizer) -> None:
    lack = _lack_of_covariance(optimizer)
    if lack is not None:
        raise UnsupportedError(f"there is no novelty: {lack}")


def _rows_of(x: Any) -> np.ndarray:
    """Rows of the data at equal distances, as many as are kept."""
    count = min(len(x), _ROWS)
    numbers = np.arange(count) * len(x) // count
    return x.read(numbers)[0] if isinstance(x, Dataset) else x[numbers]
