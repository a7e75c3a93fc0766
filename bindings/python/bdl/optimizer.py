"""Optimizers, which learn a posterior."""

from __future__ import annotations

import operator
from typing import Any, Callable, NamedTuple

import numpy as np

from . import arrays, lowlevel, names, tables
from .communicator import Communicator
from .dataset import Dataset
from .errors import brief
from .handle import Handle, capsule_of, to_bytes
from .model import Model
from .posterior import Posterior


class Progress(NamedTuple):
    """Where training is: steps taken, the step at which the plan ends (0: no plan), epochs completed."""

    step: int
    planned: int
    epoch: float


class Evidence(NamedTuple):
    """The log marginal likelihood of a Laplace approximation, the log likelihood at its mean, and the number of
    parameters that the data determine."""

    log_evidence: float
    log_likelihood: float
    effective_parameters: float


class Elbo(NamedTuple):
    """The evidence lower bound's two parts; ``kl`` is None for dropout, which has none."""

    expected_log_likelihood: float
    kl: float | None

    @property
    def value(self) -> float:
        return self.expected_log_likelihood - (self.kl or 0.0)


class Diagnosis(NamedTuple):
    """How far training has moved mean and precision; ``message`` says what is wrong, "" if nothing is."""

    mean_shift: float
    precision_shift: float
    message: str


class Prequential(NamedTuple):
    """One-step-ahead scores of a stream: rows scored, their mean log density, RMSE or share of errors."""

    count: int
    log_density: float
    error: float


class Optimizer(Handle):
    """Trains a posterior by a method of the table, with its options by name.

    >>> import bdl, numpy as np
    >>> x = np.linspace(-1, 1, 50)
    >>> model = bdl.Model.mlp([1, 1])
    >>> q = bdl.Posterior.full(model.parameters)
    >>> optimizer = bdl.Optimizer(model, q, "slang-exact-hess", 50, seed=3)
    >>> optimizer.fit(x, 2 * x + 1, epochs=400)
    True
    >>> np.round(q.mean, 1)
    array([2., 1.])
    """

    model: Model | None
    posterior: Posterior

    def __init__(
        self,
        model: Model | None,
        posterior: Posterior,
        method: str = "slang-ggn",
        data_size: int = 1,
        **options: Any,
    ):
        """``data_size`` is N, the number of examples in the whole data set."""
        of_model = None if model is None else capsule_of(model, Model, "model")
        of_posterior = capsule_of(posterior, Posterior, "posterior")
        self._capsule = lowlevel.bdl_optimizer_create(of_model, of_posterior, method, data_size)
        self.model, self.posterior = model, posterior
        lowlevel.share_parts(self._capsule, of_model, of_posterior)
        self.set(**options)

    def set(self, **options: Any) -> None:
        """Sets options by name: ``optimizer.set(learning_rate=0.01, seed=3)``; all or, on an error, none."""
        self.set_text(" ".join(_word(name, value) for name, value in options.items()))

    def set_text(self, text: str) -> None:
        """Sets options from a text: ``optimizer.set_text("learning_rate=0.01 seed=3")``."""
        lowlevel.bdl_optimizer_set_text(self._handle, text)

    def __setitem__(self, name: str, value: Any) -> None:
        kind = tables.types.get(name, "double")  # an unknown name is the library's to refuse
        if kind == "double":
            lowlevel.bdl_optimizer_set_double(self._handle, name, value)
        elif kind == "int":
            lowlevel.bdl_optimizer_set_int(self._handle, name, value)
        else:
            lowlevel.bdl_optimizer_set_choice(self._handle, name, value)

    def __getitem__(self, name: str) -> float | int | str:
        kind = tables.types.get(name, "double")
        read = {
            "double": lowlevel.bdl_optimizer_get_double,
            "int": lowlevel.bdl_optimizer_get_int,
            "choice": lowlevel.bdl_optimizer_get_choice,
        }[kind]
        return read(self._handle, name)

    @property
    def options(self) -> dict[str, float | int | str]:
        """All options and their present values."""
        return {name: self[name] for name in tables.types}

    def set_communicator(self, communicator: Communicator | None) -> None:
        """Makes all ranks of the communicator fit, step and make Laplace's approximation together; None: alone again.

        Every rank makes the same calls, and has the same posterior afterwards (docs/how-to/several-machines.md).
        """
        ranks = None if communicator is None else capsule_of(communicator, Communicator, "communicator")
        lowlevel.bdl_optimizer_set_communicator(self._handle, ranks)

    @property
    def method(self) -> str:
        return lowlevel.bdl_optimizer_method(self._handle)

    @property
    def data_size(self) -> int:
        return lowlevel.bdl_optimizer_data_size(self._handle)

    @property
    def prior_precision(self) -> np.ndarray:
        """Present prior precision of every parameter; setting it (one value or D) stops learning it."""
        precision = arrays.empty(1, self.posterior.dimension)
        lowlevel.bdl_optimizer_get_prior(self._handle, precision)
        return precision[0]

    @prior_precision.setter
    def prior_precision(self, precision: Any) -> None:
        lowlevel.bdl_optimizer_set_prior(self._handle, arrays.row(precision, "precision"))

    def set_prior(self, prior: Posterior | Any) -> None:
        """Fixes the prior: to a posterior, its mean and whole precision, or to N(0, 1 / precision), one precision or D.

        What was learned from other data is the prior of these:

        >>> import bdl, numpy as np
        >>> model = bdl.Model.mlp([1, 1])
        >>> model.noise_precision = 1.0
        >>> first, both = bdl.Posterior.full(2), bdl.Posterior.full(2)
        >>> x = np.arange(6.0)
        >>> fixed = dict(learn_prior=0, learn_noise=0)
        >>> bdl.Optimizer(model, first, "exact-full", 3, **fixed).fit(x[:3], 2 * x[:3], epochs=100)
        True
        >>> optimizer = bdl.Optimizer(model, both, "exact-full", 3, **fixed)
        >>> optimizer.set_prior(first)
        >>> optimizer.fit(x[3:], 2 * x[3:], epochs=100)
        True
        """
        if isinstance(prior, Posterior):
            of_prior = capsule_of(prior, Posterior, "prior")
            lowlevel.bdl_optimizer_set_prior_posterior(self._handle, of_prior)
        else:
            self.prior_precision = prior

    @property
    def prediction(self) -> str:
        """How the model predicts best when this method has trained it."""
        of_model = capsule_of(self.model, Model, "model")
        return names.predict_methods.word(lowlevel.bdl_method_prediction(self.method, of_model))

    @property
    def minibatch(self) -> int:
        """Examples in a minibatch of ``fit``, as options "minibatch" and "minibatches" say."""
        return lowlevel.bdl_optimizer_minibatch(self._handle)

    def start_noise(self, y: Any) -> None:
        """Lets training start from a noise of each target's own, for its variance in ``y``, or in a :class:`Dataset`."""
        if isinstance(y, Dataset):
            lowlevel.bdl_optimizer_start_noise_dataset(self._handle, y._handle)
            return
        lowlevel.bdl_optimizer_start_noise(self._handle, arrays.matrix(y, "y"))

    def initialize(self) -> None:
        """Restarts; fit and step do so by themselves when the posterior is blank."""
        lowlevel.bdl_optimizer_initialize(self._handle)

    def fit(
        self, x: Any, y: Any = None, epochs: int = 1, progress: Callable[[Optimizer], Any] | None = None
    ) -> bool:
        """Trains on minibatches for so many passes over the data; 0 finishes a fit that was stopped.

        The data are arrays ``x`` and ``y``, or a :class:`Dataset` in place of ``x``: ``optimizer.fit(data, epochs=2)``.

        ``progress(optimizer)`` is called after steps as option "progress_every" says; a true result stops. Returns
        whether training went to its end. After a stop, an exception or Ctrl-C, everything is as after the last step.
        """
        call = None if progress is None else lambda: progress(self)
        if isinstance(x, Dataset):
            stopped = lowlevel.bdl_optimizer_fit_dataset(self._handle, x._alone(y), epochs, call)
        else:
            x, y = arrays.matrix(x, "x"), arrays.matrix(y, "y")
            stopped = lowlevel.bdl_optimizer_fit(self._handle, x, y, epochs, call)
        return not stopped

    def step(self, x: Any, y: Any) -> None:
        """One step on a minibatch of the caller's."""
        lowlevel.bdl_optimizer_step(self._handle, arrays.matrix(x, "x"), arrays.matrix(y, "y"))

    def step_rows(self, rows: Any) -> None:
        """One step from the caller's gradient rows of -log p."""
        lowlevel.bdl_optimizer_step_rows(self._handle, arrays.rows(rows, "rows"))

    def laplace(self, x: Any, y: Any = None) -> None:
        """Laplace's approximation around the present mean, from arrays or a :class:`Dataset`."""
        if isinstance(x, Dataset):
            lowlevel.bdl_optimizer_laplace_dataset(self._handle, x._alone(y))
        else:
            lowlevel.bdl_optimizer_laplace(self._handle, arrays.matrix(x, "x"), arrays.matrix(y, "y"))

    def evidence(self, prior_precision: Any = None, noise_precision: Any = None) -> Evidence:
        """The evidence of the last Laplace approximation, for the present prior and noise or for others: one prior
        precision, one for each prior group, or one for each parameter."""
        prior = None if prior_precision is None else arrays.row(prior_precision, "prior_precision")
        noise = None if noise_precision is None else arrays.row(noise_precision, "noise_precision")
        return Evidence(*lowlevel.bdl_optimizer_evidence(self._handle, prior, noise))

    def maximize_evidence(self, of: str = "prior noise") -> float:
        """Sets prior ("prior"), noise ("noise") or both, and the covariance, to the optimum of the evidence, which it
        returns."""
        return lowlevel.bdl_optimizer_maximize_evidence(self._handle, of)[0]

    def mode_gap(self, x: Any, y: Any) -> float:
        """The nats that a Newton step from the mean would gain on these data; below 1 at a mode."""
        return lowlevel.bdl_optimizer_mode_gap(self._handle, arrays.matrix(x, "x"), arrays.matrix(y, "y"))

    def observe(self, x: Any, y: Any) -> np.ndarray:
        """Learns row after row, as a filter; returns each row's log density before it was used."""
        x = arrays.matrix(x, "x")
        log_density = arrays.empty(len(x), 1)
        lowlevel.bdl_optimizer_observe(self._handle, x, arrays.matrix(y, "y"), log_density)
        return log_density[:, 0]

    def forecast(self, steps: int = 1) -> None:
        """Moves time on without observations."""
        lowlevel.bdl_optimizer_forecast(self._handle, steps)

    def set_process_noise(self, variance: Any) -> None:
        """Variance of the drift per step of time, one value or D; None: option "process_noise" again."""
        variance = None if variance is None else arrays.row(variance, "variance")
        lowlevel.bdl_optimizer_set_process_noise(self._handle, variance)

    def set_draws(self, draws: Callable[[str, int, int, Posterior, int], Any] | None) -> None:
        """The random numbers of training, in place of the library's: ``draws(kind, step, iteration, q, count)`` returns
        an array of shape (count, D), kind being "parameters" (rows drawn from q) or "probes" (rows of +-1). q is lent
        for the time of the call. None: the library's own again."""
        if draws is None:
            lowlevel.bdl_optimizer_set_draws(self._handle, None)
            return
        if not callable(draws):
            raise TypeError(f"draws is a {type(draws).__name__}, expected a callable")
        dtype = self.posterior.dtype

        def call(kind: int, step: int, iteration: int, q: Any, count: int) -> np.ndarray:
            lent = Posterior._of(q)
            try:
                return np.asarray(draws(names.draw_kinds.word(kind), step, iteration, lent, count), dtype=dtype)
            finally:
                lent.close()

        lowlevel.bdl_optimizer_set_draws(self._handle, call)

    def request_stop(self) -> None:
        """Asks a running fit to stop after its step; any thread may do so."""
        lowlevel.bdl_optimizer_request_stop(self._handle)

    @property
    def progress(self) -> Progress:
        return Progress(*lowlevel.bdl_optimizer_progress(self._handle))

    def _has_kl(self) -> bool:
        return self.posterior.family != "dropout"

    @property
    def running_elbo(self) -> Elbo:
        """The ELBO's parts as training sees them: free of cost, but noisy."""
        return _elbo(lowlevel.bdl_optimizer_running_elbo(self._handle, self._has_kl()))

    def elbo(self, x: Any, y: Any = None, samples: int = 100, seed: int = 1) -> Elbo:
        """The ELBO's parts on these data, arrays or a :class:`Dataset`; 0 samples: exact integrals (generalised linear
        models of one output)."""
        if isinstance(x, Dataset):
            data = x._alone(y)
            return _elbo(lowlevel.bdl_optimizer_elbo_dataset(self._handle, data, samples, seed, self._has_kl()))
        x, y = arrays.matrix(x, "x"), arrays.matrix(y, "y")
        return _elbo(lowlevel.bdl_optimizer_elbo(self._handle, x, y, samples, seed, self._has_kl()))

    @property
    def prequential(self) -> Prequential:
        return Prequential(*lowlevel.bdl_optimizer_prequential(self._handle))

    @property
    def guarded_steps(self) -> int:
        """Steps in which option "guard" held something back."""
        return lowlevel.bdl_optimizer_guarded_steps(self._handle)

    @property
    def noise(self) -> tuple[bool, str]:
        """Returns, for a low-rank-moment posterior, whether all layers' noise is exact, and a line that describes each layer's."""
        is_exact, text = lowlevel.bdl_optimizer_noise(self._handle)
        return bool(is_exact), text

    @property
    def shortened_steps(self) -> int:
        """Steps that were shortened to stay positive definite."""
        return lowlevel.bdl_optimizer_shortened_steps(self._handle)

    def memory(self, minibatch: int = 0) -> int:
        """Upper estimate of the bytes that steps on so many examples take, at most a quarter above what is used but for
        some kilobytes; 0: as option "minibatch" says."""
        return lowlevel.bdl_optimizer_memory(self._handle, minibatch)

    @property
    def diagnosis(self) -> Diagnosis:
        return Diagnosis(*lowlevel.bdl_optimizer_diagnose(self._handle))

    def diagnose_answers(self, x: Any, y: Any) -> tuple[float, str]:
        """How much a network's answers for these rows differ, in standard deviations of the targets or as probabilities,
        and what to change if they are all the same: "" if they are not."""
        return lowlevel.bdl_optimizer_diagnose_answers(self._handle, arrays.matrix(x, "x"), arrays.matrix(y, "y"))

    def __repr__(self) -> str:
        if self.closed:
            return "<closed Optimizer>"
        return f"<Optimizer {self.method}: data_size={self.data_size}, step={self.progress.step}>"

    def __reduce__(self) -> Any:
        if self.model is not None:
            self.model._check_picklable()
        return _load_optimizer, (to_bytes(None, None, self._handle), self.model is not None)


def suggest_method(model: Model, posterior: Posterior, is_stream: bool = False) -> str:
    """The method to take where you have no wish of your own: in batches, or for a stream.

    >>> import bdl
    >>> model = bdl.Model.mlp([2, 10, 1])
    >>> q = bdl.Posterior.low_rank(model.parameters, 5)
    >>> bdl.suggest_method(model, q), bdl.suggest_method(model, q, is_stream=True)
    ('slang', 'lo-fi')
    """
    of_model, of_posterior = capsule_of(model, Model, "model"), capsule_of(posterior, Posterior, "posterior")
    return lowlevel.bdl_method_suggest(of_model, of_posterior, is_stream)


class Training(NamedTuple):
    """Suggested training: the method, the posterior's family and rank, options for ``Optimizer.set_text()``."""

    method: str
    family: str
    rank: int
    options: str


def suggest_training(
    model: Model, examples: int, in_blocks: bool = False, method: str = "auto", family: str = "auto"
) -> Training:
    """Suggests training as the estimators do it, if you name a method, a family, both or neither.

    >>> import bdl
    >>> bdl.suggest_training(bdl.Model.mlp([2, 10, 1]), 100, method="vogn")
    Training(method='vogn', family='diagonal', rank=0, options='')
    >>> bdl.suggest_training(bdl.Model.mlp([2, 1]), 100)[:2]
    ('exact-full', 'full')
    """
    of_model = capsule_of(model, Model, "model")
    return Training(*lowlevel.bdl_training_suggest(of_model, examples, in_blocks, method, family))


def suggest_noise(optimizer: Optimizer, in_blocks: bool = False, prior: Posterior | None = None, y: Any = None) -> str:
    """Suggests the noise of a regression, from an optimizer of the model with Gaussian noise: "heteroscedastic" if fits learn
    scales by the evidence, else "gaussian"; "student_t" in place of "heteroscedastic" if a target of ``y`` is more than 1000 robust
    standard deviations from the median. A ``prior`` says by its number of parameters of which it is.

    >>> import bdl
    >>> model = bdl.Model.mlp([2, 10, 1])
    >>> optimizer = bdl.Optimizer(model, bdl.Posterior.low_rank(model.parameters, 5), "slang-ggn", 100)
    >>> bdl.suggest_noise(optimizer), bdl.suggest_noise(optimizer, in_blocks=True)
    ('heteroscedastic', 'gaussian')
    >>> bdl.suggest_noise(optimizer, y=[0.1, 0.4, 0.3, 1e4])
    'student_t'
    """
    return _noise_and_outlier(optimizer, in_blocks, prior, y)[0]


def _noise_and_outlier(optimizer: Optimizer, in_blocks: bool, prior: Posterior | None, y: Any) -> tuple[str, float]:
    """The noise, and the distance of the outlier that makes it "student_t", else 0."""
    of_optimizer = capsule_of(optimizer, Optimizer, "optimizer")
    parameters = 0 if prior is None else prior.dimension
    targets = None if y is None else arrays.matrix(y, "y")
    noise, distance = lowlevel.bdl_noise_suggest(of_optimizer, in_blocks, parameters, targets)
    return names.likelihoods.word(noise), distance


def _word(name: str, value: Any) -> str:
    """An option as ``set_text()`` reads it."""
    kind = tables.types.get(name)
    if kind is None:
        return f"{name}=0"  # for the library to refuse
    if kind == "choice":
        if not isinstance(value, str):
            raise TypeError(f"option {name!r} is {brief(value)}, expected a string")
        return f"{name}={'_'.join(value.split())}"
    return f"{name}={_number(name, value, kind)!r}"


def _number(name: str, value: Any, kind: str) -> int | float:
    convert, expected = (operator.index, "a whole number") if kind == "int" else (float, "a number")
    try:
        if not isinstance(value, str):
            return convert(value)
    except TypeError:
        pass
    raise TypeError(f"option {name!r} is {brief(value)}, expected {expected}")


def _elbo(parts: list[Any]) -> Elbo:
    return Elbo(parts[0], None if parts[1] is False else parts[1])


def _with_parts(model: Model | None, posterior: Any, optimizer: Any) -> Optimizer:
    """An optimizer of its model and two capsules."""
    handle = Optimizer._of(optimizer)
    lowlevel.share_parts(optimizer, None if model is None else model._handle, posterior)
    handle.model = model
    handle.posterior = Posterior._of(posterior)
    return handle


def _load_optimizer(data: bytes, has_model: bool) -> Optimizer:
    model, posterior, optimizer = lowlevel.bdl_load_bytes(data, None, has_model, True, True)
    return _with_parts(Model._of(model) if has_model else None, posterior, optimizer)
