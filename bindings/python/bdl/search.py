"""Search of options by cross-validation."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Sequence

import numpy as np

from . import arrays, lowlevel, names, tables
from .communicator import Communicator
from .errors import UnsupportedError
from .handle import Handle, capsule_of
from .optimizer import Optimizer


class Trial(NamedTuple):
    """A trial of a search: the values that it tried, and their score.

    ``values`` is a dict by option. ``score`` is the mean log predictive density of the left-out rows in nats
    per row, and ``standard_error`` its standard error over the folds. ``message`` states why a trial failed,
    or is "".

    >>> import bdl, numpy as np
    >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
    >>> optimizer = bdl.Optimizer(model, q, "exact-full", 40, learn_prior=0)
    >>> search = bdl.Search(optimizer)
    >>> search.add("prior_precision", 0.01, 100, scale="log")
    >>> search.run(np.arange(40.0), np.arange(40.0) % 7, random_trials=1)
    True
    >>> trial = search.trials[0]
    >>> list(trial.values), trial.score < 0, trial.standard_error > 0, trial.message
    (['prior_precision'], True, True, '')
    """

    values: dict[str, Any]
    score: float
    standard_error: float
    message: str


class Search(Handle):
    """Searches options of an optimizer by cross-validation, at random or by Bayesian optimisation.

    Each trial trains on all folds but one, and scores the left-out fold by its log predictive density. A
    search without ranges has one trial: the options of the prototype.

    Parameters
    ----------
    prototype : Optimizer
        Optimizer with a model, which is copied and stays as it is.
    folds : int, default=5
        Number of folds, at least 2.
    epochs : int, default=100
        Passes over the data in each training.
    method : str, default="monte_carlo"
        How predictions average over the posterior, as for :func:`predict`.
    samples : int, default=100
        Number of samples of these predictions.
    seed : int, default=1
        Seed of the folds, the trials and the predictions.
    parallel_trials : int, default=1
        Number of Bayesian trials that are proposed, and trained, together. Results depend on it.

    Examples
    --------
    >>> import bdl, numpy as np
    >>> x = np.linspace(-1, 1, 40)
    >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
    >>> optimizer = bdl.Optimizer(model, q, "slang-exact-hess", 40, learn_prior=0)
    >>> search = bdl.Search(optimizer, folds=4, epochs=20)
    >>> search.add("prior_precision", 0.01, 100, scale="log")
    >>> search.run(x, 2 * x, random_trials=3)
    True
    >>> len(search.trials), search.best in range(3)
    (3, True)
    >>> search.apply(search.best, optimizer)
    """

    def __init__(
        self,
        prototype: Optimizer,
        folds: int = 5,
        epochs: int = int(tables.defaults["epochs"]),
        method: str = "monte_carlo",
        samples: int = 100,
        seed: int = int(tables.defaults["seed"]),
        parallel_trials: int = 1,
    ):
        """Creates a search; the class describes the arguments."""
        number = names.predict_methods.number(method)
        self._capsule = lowlevel.bdl_search_create(
            capsule_of(prototype, Optimizer, "prototype"), folds, epochs, number, samples, seed
        )
        lowlevel.bdl_search_set_parallel_trials(self._capsule, parallel_trials)
        self._words: dict[str, Sequence[str] | None] = {}

    def add(self, option: str, *limits: Any, scale: str = "linear") -> None:
        """Adds an option to vary, before the first trial.

        An option that training learns is not worth a search: set ``learn_prior`` or ``learn_noise`` to 0 first.

        Parameters
        ----------
        option : str
            Name of the option.
        *limits
            The smallest and the largest value; for a choice, the words to choose from.
        scale : str, default="linear"
            "linear", or "log" for precisions, rates and sizes.

        Examples
        --------
        >>> import bdl
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> search = bdl.Search(bdl.Optimizer(model, q, "slang-exact-hess", 40))
        >>> search.add("learning_rate", 0.001, 0.1, scale="log")
        >>> search.add("schedule", "cosine", "power")
        """
        kind = tables.types.get(option, "double")
        if kind == "choice":
            lowlevel.bdl_search_add_choice(self._handle, option, " | ".join(limits))
        else:
            low, high = limits
            add = lowlevel.bdl_search_add_int if kind == "int" else lowlevel.bdl_search_add_double
            add(self._handle, option, low, high, names.scales.number(scale))
        self._words[option] = limits if kind == "choice" else None

    def run(
        self,
        x: Any,
        y: Any,
        random_trials: int = 5,
        bayesian_trials: int = 0,
        progress: Callable[[Search], Any] | None = None,
        workers: int | None = None,
    ) -> bool:
        """Adds trials, at random ones first. Returns True unless the search was stopped.

        You may run a search again, with the same data, to add trials.

        Parameters
        ----------
        x : array of shape (n, inputs)
            Inputs.
        y : array of shape (n, targets)
            Targets.
        random_trials : int, default=5
            Number of trials at random.
        bayesian_trials : int, default=0
            Number of trials by Bayesian optimisation.
        progress : callable, default=None
            ``progress(search)`` is called after each trial. A true result stops the search.
        workers : int, default=None
            Threads that train the folds, also in later runs; results do not depend on it. None: as many as
            option ``threads`` of the prototype. A custom model has one.

        Examples
        --------
        >>> import bdl, numpy as np
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> optimizer = bdl.Optimizer(model, q, "exact-full", 40)
        >>> search = bdl.Search(optimizer, folds=4)
        >>> search.run(np.arange(40.0), np.arange(40.0) % 7, random_trials=1)
        True
        >>> len(search.trials)
        1
        """
        if workers is not None:
            lowlevel.bdl_search_set_workers(self._handle, workers)
        stopped = lowlevel.bdl_search_run(
            self._handle,
            arrays.matrix(x, "x"),
            arrays.matrix(y, "y"),
            random_trials,
            bayesian_trials,
            None if progress is None else lambda: progress(self),
        )
        return not stopped

    def set_communicator(self, communicator: Communicator | None) -> None:
        """Makes the processes of a communicator run the search together; None ends that.

        All processes call :meth:`run` with the same data, and have the same trials afterwards.

        Parameters
        ----------
        communicator : Communicator or None
            Processes, such as ``bdl.mpi.world()``.

        Examples
        --------
        >>> import bdl, numpy as np
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> optimizer = bdl.Optimizer(model, q, "exact-full", 40)
        >>> search = bdl.Search(optimizer, folds=4)
        >>> search.set_communicator(None)
        """
        ranks = None if communicator is None else capsule_of(communicator, Communicator, "communicator")
        lowlevel.bdl_search_set_communicator(self._handle, ranks)

    def request_stop(self) -> None:
        """Asks a running search to stop. Any thread may call it.

        >>> import bdl, numpy as np
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> optimizer = bdl.Optimizer(model, q, "exact-full", 40, learn_prior=0)
        >>> search = bdl.Search(optimizer)
        >>> search.add("prior_precision", 0.01, 100, scale="log")
        >>> def stop(search):
        ...     search.request_stop()
        >>> search.run(np.arange(40.0), np.arange(40.0) % 7, 5, progress=stop)
        False
        """
        lowlevel.bdl_search_request_stop(self._handle)

    @property
    def trials(self) -> list[Trial]:
        """Trials so far, in order, as a list of :class:`bdl.search.Trial`.

        >>> import bdl, numpy as np
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> optimizer = bdl.Optimizer(model, q, "exact-full", 40)
        >>> search = bdl.Search(optimizer, folds=4)
        >>> search.trials
        []
        """
        return [self._trial(number) for number in range(lowlevel.bdl_search_trial_count(self._handle))]

    def _trial(self, number: int) -> Trial:
        values = arrays.empty(1, len(self._words)) if self._words else None
        score, standard_error, message = lowlevel.bdl_search_trial(self._handle, number, values)
        named = {name: self._value(name, value) for name, value in zip(self._words, () if values is None else values[0])}
        return Trial(named, score, standard_error, message)

    def _value(self, name: str, value: float) -> Any:
        words = self._words[name]
        if words is not None:
            return words[int(value)]
        return int(value) if tables.types[name] == "int" else float(value)

    @property
    def best(self) -> int:
        """Number of the trial with the highest score."""
        return lowlevel.bdl_search_best(self._handle)

    def apply(self, trial: int, optimizer: Optimizer) -> None:
        """Sets the options that were varied to the values of a trial.

        Parameters
        ----------
        trial : int
            Number of the trial, such as :attr:`best`.
        optimizer : Optimizer
            Optimizer whose options are set.

        Examples
        --------
        >>> import bdl, numpy as np
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> optimizer = bdl.Optimizer(model, q, "exact-full", 40, learn_prior=0)
        >>> search = bdl.Search(optimizer)
        >>> search.add("prior_precision", 0.01, 100, scale="log")
        >>> search.run(np.arange(40.0), np.arange(40.0) % 7, random_trials=2)
        True
        >>> search.apply(search.best, optimizer)
        >>> best = search.trials[search.best].values
        >>> optimizer["prior_precision"] == best["prior_precision"]
        True
        """
        lowlevel.bdl_search_apply(self._handle, trial, capsule_of(optimizer, Optimizer, "optimizer"))

    def folds(self, count: int) -> np.ndarray:
        """Returns the number of the fold of each of ``count`` rows, of shape (count,).

        >>> import bdl, numpy as np
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> optimizer = bdl.Optimizer(model, q, "exact-full", 40)
        >>> search = bdl.Search(optimizer, folds=4)
        >>> np.bincount(search.folds(40))
        array([10, 10, 10, 10])
        """
        numbers = arrays.empty(count, 1)
        lowlevel.bdl_search_folds(self._handle, numbers)
        return numbers[:, 0].astype(int)

    def __reduce__(self) -> Any:
        raise UnsupportedError("a search cannot be pickled: pickle its trials instead")
