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
    """Values that were tried, by option; mean log predictive density over the folds; why it failed, or ""."""

    values: dict[str, Any]
    score: float
    standard_error: float
    message: str


class Search(Handle):
    """Varies named options of an optimizer within ranges, at random or by Bayesian optimisation.

    >>> import bdl, numpy as np
    >>> x = np.linspace(-1, 1, 40)
    >>> model = bdl.Model.mlp([1, 1])
    >>> optimizer = bdl.Optimizer(model, bdl.Posterior.full(2), "slang-exact-hess", 40, learn_prior=0)
    >>> search = bdl.Search(optimizer, folds=4, epochs=20)
    >>> search.add("prior_precision", 0.01, 100, scale="log")
    >>> search.run(x, 2 * x, random_trials=3)
    True
    >>> len(search.trials)
    3
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
        """``parallel_trials``: how many Bayesian trials are proposed from the same scores, to be trained at the same
        time. Without any ``add`` the one trial scores the prototype's own options."""
        number = names.predict_methods.number(method)
        self._capsule = lowlevel.bdl_search_create(
            capsule_of(prototype, Optimizer, "prototype"), folds, epochs, number, samples, seed
        )
        lowlevel.bdl_search_set_parallel_trials(self._capsule, parallel_trials)
        self._words: dict[str, Sequence[str] | None] = {}

    def add(self, option: str, *limits: Any, scale: str = "linear") -> None:
        """Varies an option: between two limits, or, of a choice, among words."""
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
        """Adds trials; ``progress(search)`` is called after each, and a true result stops. Returns whether it went to
        its end; a search that was stopped can be run again.

        ``workers``: threads that train the folds, from now on; results do not depend on them. At first as many as option
        ``threads`` of the prototype says. A model of your own has one."""
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
        """Makes all ranks of the communicator run the search together, on the same data, with the same
        trials; None: alone again (docs/how-to/tune.md)."""
        ranks = None if communicator is None else capsule_of(communicator, Communicator, "communicator")
        lowlevel.bdl_search_set_communicator(self._handle, ranks)

    def request_stop(self) -> None:
        """Asks a running search to stop; any thread may do so."""
        lowlevel.bdl_search_request_stop(self._handle)

    @property
    def trials(self) -> list[Trial]:
        """Trials so far, in order."""
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
        """Sets an optimizer's options to a trial's values."""
        lowlevel.bdl_search_apply(self._handle, trial, capsule_of(optimizer, Optimizer, "optimizer"))

    def folds(self, count: int) -> np.ndarray:
        """The fold of each of so many rows."""
        numbers = arrays.empty(count, 1)
        lowlevel.bdl_search_folds(self._handle, numbers)
        return numbers[:, 0].astype(int)

    def __reduce__(self) -> Any:
        raise UnsupportedError("a search cannot be pickled: its trials can")
