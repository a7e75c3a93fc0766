"""Cross-validation of an estimator, and search of its options."""

from __future__ import annotations

from typing import Any, Callable, Mapping, NamedTuple, Sequence

import numpy as np
from sklearn.base import clone

from ..dataset import Dataset
from ..errors import UnsupportedError
from ..search import Search, Trial
from . import construction
from .compat import arrays_of


class Score(NamedTuple):
    """Mean log predictive density of held-out rows, in nats per row, and its standard error over the folds."""

    score: float
    standard_error: float


class Tunes:
    """``cross_validate`` and ``tune`` for BayesianEstimator."""

    trials_: list[Trial]

    def cross_validate(self, X: Any, y: Any, *, folds: int = 5, workers: int | None = None) -> Score:
        """The mean log predictive density of rows that were left out, over ``folds`` trainings with these parameters. The
        estimator stays as it is.

        ``workers`` threads train the folds (None: as many as BLAS uses); results do not depend on them. Data are
        standardised as ``fit`` does, by all rows; early stopping takes no part."""
        if self.members > 1:
            raise UnsupportedError(f"cross-validation is of one fit per fold, but members is {self.members}: set members=1")
        search, x, targets = self._search(X, y, folds, 1, with_noise=True)
        search.run(x, targets, random_trials=1, workers=workers)
        search.best  # raises why there is no score
        return Score(search.trials[0].score, search.trials[0].standard_error)

    def tune(
        self,
        X: Any,
        y: Any,
        ranges: Mapping[str, Sequence[Any]],
        *,
        random_trials: int = 5,
        bayesian_trials: int = 25,
        parallel_trials: int = 1,
        folds: int = 5,
        workers: int | None = None,
        progress: Callable[[Search], Any] | None = None,
    ) -> Any:
        """Searches values of options by cross-validation, at random and by Bayesian optimisation, puts the best into
        ``options``, and fits with them. ``trials_`` lists what was tried.

        ``ranges`` has for each option ``(low, high)``, ``(low, high, "log")``, or the words of a choice. ``progress`` is called
        with the search after each trial; a true result ends the search, whose best trial so far is taken. ``workers`` and the scores are as of
        ``cross_validate``; ``parallel_trials`` Bayesian trials are proposed, and trained, together: results depend
        on that number, not on ``workers``. What is searched should not be learned as well: options ``learn_prior``,
        ``learn_noise``. Of an ensemble (``members``) the search trains one member, and the fit all."""
        search, x, targets = self._search(X, y, folds, parallel_trials, "initial_noise_precision" not in ranges)
        for option, limits in ranges.items():
            scale = {}
            if len(limits) == 3 and limits[2] in ("log", "linear"):
                limits, scale = limits[:2], {"scale": limits[2]}
            search.add(option, *limits, **scale)
        search.run(x, targets, random_trials, bayesian_trials, progress, workers)
        trials = search.trials
        best = trials[search.best].values
        self.options = {**(self.options or {}), **best}
        self.fit(X, y)
        self.trials_ = trials
        return self

    def _search(self, X: Any, y: Any, folds: int, parallel_trials: int, with_noise: bool) -> tuple[Search, Any, np.ndarray]:
        """A search from a blank estimator with these parameters, and the data as the library takes them."""
        blank = clone(self)
        x, y = arrays_of(blank, X if isinstance(X, Dataset) else blank._rows(X, known=False), y, True, "a search")
        targets = blank._encode(y, known=False)
        prototype = blank._blank_optimizer(x, targets, len(x), stepwise=False)
        if with_noise:
            prototype.start_noise(targets)
        search = Search(
            prototype,
            folds,
            self.epochs,
            prototype.prediction if self.prediction == "auto" else self.prediction,
            self.samples,
            construction.seed_of(self.random_state),
            parallel_trials,
        )
        return search, x, targets
