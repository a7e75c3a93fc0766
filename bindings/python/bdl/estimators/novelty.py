"""Novelty: how unlike the training rows a row is."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dataset import Dataset
from ..errors import UnsupportedError
from ..optimizer import Optimizer
from ..predict import predict_leverage
from ..tables import defaults
from .points import no_covariance
from .rows import Columns, weighted_quantile, weights_of

_ROWS, _STREAM_ROWS = int(defaults["novelty_rows"]), int(defaults["novelty_stream_rows"])


class ScoresNovelty:
    """Adds ``novelty`` to an estimator or an ensemble, whose members ``_members`` returns."""

    def _members(self) -> list[Any]:
        raise NotImplementedError

    def novelty(self, X: Any) -> np.ndarray:
        """Returns how unlike the training rows each row is, of shape (n,).

        It is the variance of a mean from not knowing the parameters, divided by its average over the training rows.
        Compare it with :meth:`novelty_limit`.

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.

        Examples
        --------
        >>> import bdl, numpy as np
        >>> X = np.random.default_rng(1).uniform(-1, 1, (100, 2))
        >>> glm = bdl.BayesianGLM().fit(X, X[:, 0])
        >>> glm.novelty([[0.0, 0.0], [5.0, 0.0]]) > glm.novelty_limit()
        array([False,  True])
        """
        usual, x = self._usual_leverage(), self._inputs(X)
        return np.mean([member._leverages(x)[0] for member in self._members()], axis=0) / usual

    def novelty_limit(self, false_alarms: float = 0.05) -> float:
        """Returns the novelty that a given share of new rows like the training rows exceeds.

        It is a quantile over the training rows, each as if it had been left out.

        Parameters
        ----------
        false_alarms : float, default=0.05
            Share of rows of the same kind above the limit, between 0 and 1.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> glm = bdl.BayesianGLM().fit(X, y)
        >>> glm.novelty_limit(0.01) > glm.novelty_limit(0.05)
        True
        """
        if not 0 < false_alarms < 1:
            raise ValueError(f"false_alarms is {false_alarms}, expected a number between 0 and 1")
        _, left_out = self._known_leverages()
        return weighted_quantile(left_out, self._known_weights(), 1 - false_alarms) / self._usual_leverage()

    def learn_novelty(self, X: Any, sample_weight: Any = None) -> Any:
        """Takes the rows of X as those that :meth:`novelty` compares with; returns the estimator.

        ``fit`` does so itself. Call it for an estimator from a file, for a large network, and after an interrupted fit.

        Parameters
        ----------
        X : array of shape (n, features), or Dataset
            Inputs, usually those of training.
        sample_weight : array of shape (n,), default=None
            Weights of the rows. None: 1.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> glm = bdl.BayesianGLM().fit(X, y)
        >>> glm.learn_novelty(X[:100]).novelty(X[:3]).shape
        (3,)
        """
        x = X if isinstance(X, Dataset) else self._inputs(X)
        weights = None if sample_weight is None else weights_of(sample_weight, x)
        for member in self._members():
            _refuse_without_covariance(member.optimizer_)
            member._learn_leverages(*_kept_rows(x, weights, Columns(True)))
        return self

    def _usual_leverage(self) -> float:
        """Returns the mean leverage of the rows to compare with."""
        return float(np.average(self._known_leverages()[0], weights=self._known_weights()))

    def _known_weights(self) -> np.ndarray:
        weights = self._members()[0]._leverage_weights
        return np.ones(self._members()[0].leverages_.shape[1]) if weights is None else weights

    def _known_leverages(self) -> np.ndarray:
        """Returns leverages of the rows to compare with; for an ensemble, means over the members."""
        for member in self._members():
            _refuse_without_covariance(member.optimizer_)
            if not hasattr(member, "leverages_"):
                raise UnsupportedError(
                    "novelty needs leverages of training rows, which an estimator of a checkpoint or of a large network, or an "
                    "interrupted fit, does not have: call learn_novelty(X) with the training data"
                )
        return np.mean([member.leverages_ for member in self._members()], axis=0)


class KeepsLeverages(ScoresNovelty):
    """Adds ``leverages_`` of training rows: as they are, and as if each had been left out."""

    leverages_: np.ndarray
    _leverage_weights: np.ndarray | None = None  # of the rows of leverages_

    def _leverages(self, x: np.ndarray) -> np.ndarray:
        return np.array(predict_leverage(self.model_, self.posterior_, x))

    def _keeps_leverages(self) -> bool:
        is_small = self.model_.parameters * self.model_.outputs**2 <= defaults["novelty_numbers"]
        return is_small and _lack_of_covariance(self.optimizer_) is None

    def _keep_leverages(self, x: Any, targets: Any) -> None:
        if self._keeps_leverages():
            columns = Columns.of(self.model_)
            self._learn_leverages(*_kept_rows(x, None if isinstance(x, Dataset) else columns.weights(targets), columns))

    def _learn_leverages(self, rows: np.ndarray, weights: np.ndarray | None) -> None:
        self.leverages_, self._leverage_weights = self._leverages(rows), weights

    def _keep_last_leverages(self, x: np.ndarray, targets: np.ndarray) -> None:
        """Keeps the leverages of the last rows of a stream, each as it was when the row was learned."""
        if self._keeps_leverages():
            former = getattr(self, "leverages_", np.empty((2, 0)))
            self.leverages_ = np.hstack([former, self._leverages(x[-_STREAM_ROWS:])])[:, -_STREAM_ROWS:]
            weights = Columns.of(self.model_).weights(targets)
            if weights is not None:
                known = np.ones(former.shape[1]) if self._leverage_weights is None else self._leverage_weights
                self._leverage_weights = np.concatenate([known, weights[-_STREAM_ROWS:]])[-_STREAM_ROWS:]


def _lack_of_covariance(optimizer: Optimizer) -> str | None:
    if optimizer.posterior.family == "dropout":
        return "a dropout posterior has no covariance: method 'laplace', or that by default, finds one"
    return None if optimizer.posterior.has_covariance else no_covariance(optimizer)


def _refuse_without_covariance(optimizer: Optimizer) -> None:
    lack = _lack_of_covariance(optimizer)
    if lack is not None:
        raise UnsupportedError(f"there is no novelty: {lack}")


def _kept_rows(x: Any, weights: np.ndarray | None, columns: Columns) -> tuple[np.ndarray, np.ndarray | None]:
    """Returns evenly spaced rows of the data, as many as are kept, and their weights; a row of weight 0 counts as none."""
    present = None if weights is None else np.flatnonzero(weights)
    rows = len(x) if present is None else len(present)
    count = min(rows, _ROWS)
    numbers = np.arange(count) * rows // count
    if isinstance(x, Dataset):
        inputs, targets = x.read(numbers)
        return inputs, None if targets is None or not x.row_weights else columns.weights(targets)
    numbers = numbers if present is None else present[numbers]
    return x[numbers], None if weights is None else weights[numbers]
