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
    """Score of a cross-validation, in nats per row, and its standard error over the folds.

    ``score`` is the mean log predictive density of the rows that were left out; higher is better.

    >>> import bdl
    >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
    >>> found = bdl.BayesianGLM().cross_validate(X, y)
    >>> found.score > -4, found.standard_error < 1
    (True, True)
    """

    score: float
    standard_error: float


class Tunes:
    """Adds ``cross_validate`` and ``tune`` to BayesianEstimator."""

    trials_: list[Trial]

    def cross_validate(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        offset: Any = None,
        folds: int = 5,
        workers: int | None = None,
    ) -> Score:
        """Returns the score of these parameters on left-out rows; the estimator stays as it is.

        It trains once for each fold, on the rows of the other folds. Early stopping takes no part.

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        y : array of shape (n,) or (n, targets)
            Targets or labels.
        sample_weight : array of shape (n,), default=None
            Weights of the rows, in training and in scores.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of the rows, as for :meth:`fit`.
        folds : int, default=5
            Number of folds.
        workers : int, default=None
            Threads that train the folds; results do not depend on it. None: as many as BLAS uses.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> linear = bdl.BayesianGLM().cross_validate(X, y).score
        >>> network = bdl.BayesianMLPRegressor(epochs=20).cross_validate(X, y).score
        >>> network > linear
        True
        """
        if self.members > 1:
            raise UnsupportedError(f"cross-validation takes one fit per fold, but members is {self.members}: set members=1")
        search, x, targets = self._search(X, y, folds, 1, True, sample_weight, offset)
        search.run(x, targets, random_trials=1, workers=workers)
        search.best  # raises why there is no score
        return Score(search.trials[0].score, search.trials[0].standard_error)

    def tune(
        self,
        X: Any,
        y: Any,
        ranges: Mapping[str, Sequence[Any]],
        *,
        sample_weight: Any = None,
        offset: Any = None,
        random_trials: int = 5,
        bayesian_trials: int = 25,
        parallel_trials: int = 1,
        folds: int = 5,
        workers: int | None = None,
        progress: Callable[[Search], Any] | None = None,
    ) -> Any:
        """Searches options by cross-validation, fits with the best, and returns the estimator.

        The best values are put into ``options``; ``trials_`` lists all trials. An option that training learns is not
        worth a search: set ``learn_prior`` or ``learn_noise`` to 0 in ``options`` first.

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        y : array of shape (n,) or (n, targets)
            Targets or labels.
        ranges : dict of str to tuple
            For each option ``(low, high)``, ``(low, high, "log")``, or the words of a choice.
        sample_weight : array of shape (n,), default=None
            Weights of the rows, in training and in scores.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of the rows, as for :meth:`fit`.
        random_trials : int, default=5
            Number of trials at random, which come first.
        bayesian_trials : int, default=25
            Number of trials by Bayesian optimisation.
        parallel_trials : int, default=1
            Number of Bayesian trials that are proposed, and trained, together. Results depend on it.
        folds : int, default=5
            Number of folds.
        workers : int, default=None
            Threads that train the folds; results do not depend on it. None: as many as BLAS uses.
        progress : callable, default=None
            ``progress(search)`` is called after each trial. A true result ends the search.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> ranges = {"prior_precision": (0.01, 100, "log")}
        >>> glm = bdl.BayesianGLM().tune(X, y, ranges, random_trials=2, bayesian_trials=1)
        >>> len(glm.trials_), "prior_precision" in glm.options
        (3, True)
        """
        with_noise = "initial_noise_precision" not in ranges
        search, x, targets = self._search(X, y, folds, parallel_trials, with_noise, sample_weight, offset)
        for option, limits in ranges.items():
            scale = {}
            if len(limits) == 3 and limits[2] in ("log", "linear"):
                limits, scale = limits[:2], {"scale": limits[2]}
            search.add(option, *limits, **scale)
        search.run(x, targets, random_trials, bayesian_trials, progress, workers)
        trials = search.trials
        best = trials[search.best].values
        self.options = {**(self.options or {}), **best}
        self.fit(X, y, sample_weight, offset)
        self.trials_ = trials
        return self

    def _search(
        self, X: Any, y: Any, folds: int, parallel_trials: int, with_noise: bool, sample_weight: Any = None, offset: Any = None
    ) -> tuple[Search, Any, np.ndarray]:
        """Returns a search from a new estimator with these parameters, and the data as libbdl takes them."""
        blank = clone(self)
        x, y = arrays_of(blank, X if isinstance(X, Dataset) else blank._rows(X, known=False), y, True, "a search")
        targets = blank._encode(y, known=False)
        x, targets = blank._training_rows(x, targets, sample_weight, offset, known=False)
        prototype = blank._blank_optimizer(x, targets, len(x), stepwise=False)
        if with_noise:
            blank._start_noise(prototype, x, targets)
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
