"""Optimizers: training methods that learn a posterior."""

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
from .prior import Normal


class Progress(NamedTuple):
    """Progress of training: steps taken, planned last step (0 without a plan), epochs completed.

    >>> import bdl
    >>> glm = bdl.BayesianGLM(method="slang-ggn", epochs=10)
    >>> glm = glm.fit([[0.0], [1.0]], [1.0, 2.0])
    >>> progress = glm.optimizer_.progress
    >>> progress.step, progress.planned, progress.epoch
    (10, 10, 10.0)
    """

    step: int
    planned: int
    epoch: float


class Evidence(NamedTuple):
    """Evidence of a Laplace approximation, in nats, and the parameters that the data determine.

    ``log_evidence`` is the log marginal likelihood, ``log_likelihood`` the log likelihood at the mean, and
    ``effective_parameters`` the effective number of parameters that the data determine.

    >>> import bdl
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 2.9, 5.2, 7.0]
    >>> evidence = bdl.BayesianGLM(method="laplace").fit(X, y).optimizer_.evidence()
    >>> evidence.log_evidence < evidence.log_likelihood
    True
    >>> bool(0 < evidence.effective_parameters <= 2)
    True
    """

    log_evidence: float
    log_likelihood: float
    effective_parameters: float


class Elbo(NamedTuple):
    """The two parts of the evidence lower bound (ELBO), in nats.

    ``expected_log_likelihood`` is the sum over all N examples, ``kl`` the divergence from the prior.
    ``kl`` is None for dropout posteriors, which have no divergence.

    >>> import bdl
    >>> glm = bdl.BayesianGLM().fit([[0.0], [1.0], [2.0]], [1.0, 2.9, 5.0])
    >>> elbo = glm.optimizer_.running_elbo
    >>> elbo.value == elbo.expected_log_likelihood - elbo.kl
    True
    """

    expected_log_likelihood: float
    kl: float | None

    @property
    def value(self) -> float:
        """ELBO: the expected log likelihood minus the KL divergence, in nats."""
        return self.expected_log_likelihood - (self.kl or 0.0)


class Diagnosis(NamedTuple):
    """Distance by which training has moved the posterior, and advice.

    ``mean_shift`` is the root mean square change of the mean in posterior standard deviations,
    ``precision_shift`` that of the logarithms of the precisions. ``message`` states a problem and its
    remedy, or is "".

    >>> import bdl
    >>> glm = bdl.BayesianGLM().fit([[0.0], [1.0], [2.0]], [1.0, 2.9, 5.0])
    >>> diagnosis = glm.optimizer_.diagnosis
    >>> diagnosis.mean_shift > 1, diagnosis.precision_shift > 0.1, diagnosis.message
    (True, True, '')
    """

    mean_shift: float
    precision_shift: float
    message: str


class Prequential(NamedTuple):
    """One-step-ahead scores of a stream, each row judged before the optimizer learned from it.

    ``count`` is the number of rows, ``log_density`` their mean log density in nats, and ``error`` the root
    mean squared error, or the fraction of wrong classes.

    >>> import bdl
    >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
    >>> optimizer = bdl.Optimizer(model, q, "ekf")
    >>> log_density = optimizer.observe([0.0, 1.0, 2.0], [1.0, 3.0, 5.0])
    >>> scores = optimizer.prequential
    >>> scores.count, scores.log_density < 0, scores.error > 0
    (3, True, True)
    """

    count: int
    log_density: float
    error: float


def _flat(values: Any, name: str) -> Any:
    return arrays.row(np.ravel(np.asarray(values, dtype=float)), name)


class Optimizer(Handle):
    """Trains a posterior by one of the methods of :func:`bdl.methods`.

    Parameters
    ----------
    model : Model or None
        Model to learn. Training also changes its noise, if the noise is learned. None allows only
        :meth:`step_rows`.
    posterior : Posterior
        Posterior to learn, of the model's dtype and number of parameters. Training changes it in place.
    method : str, default="slang-ggn"
        Name of the method. :func:`bdl.describe_method` lists the families of posteriors that it learns;
        :func:`bdl.suggest_training` suggests a method.
    data_size : int, default=1
        Number N of examples in the whole data set. It weighs the likelihood against the prior. Methods
        for streams ignore it.
    **options
        Options by name, as for :meth:`set`. :func:`bdl.options` describes them. Their defaults depend on
        the method: :attr:`options` has the values. An option that the method does not use is refused.

    Attributes
    ----------
    model, posterior : Model or None, Posterior
        The handles that it was created with.

    Examples
    --------
    >>> import bdl, numpy as np
    >>> x = np.linspace(-1, 1, 50)
    >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
    >>> optimizer = bdl.Optimizer(model, q, "slang-exact-hess", 50, seed=3)
    >>> optimizer.fit(x, 2 * x + 1, epochs=400)
    True
    >>> q.mean.round(1)
    array([2., 1.])
    >>> optimizer.model is model, optimizer.posterior is q
    (True, True)
    >>> optimizer.method, optimizer.data_size, optimizer["learning_rate"]
    ('slang-exact-hess', 50, 0.02)
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
        """Creates an optimizer; the class describes the arguments."""
        of_model = None if model is None else capsule_of(model, Model, "model")
        of_posterior = capsule_of(posterior, Posterior, "posterior")
        self._capsule = lowlevel.bdl_optimizer_create(of_model, of_posterior, method, data_size)
        self.model, self.posterior = model, posterior
        lowlevel.share_parts(self._capsule, of_model, of_posterior)
        self.set(**options)

    def set(self, **options: Any) -> None:
        """Sets options by name: all of them or, on an error, none.

        Options that are only valid together have to be set in one call. ``optimizer["seed"] = 3`` sets one
        option, ``optimizer["seed"]`` reads it.

        >>> import bdl
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> optimizer = bdl.Optimizer(model, q)
        >>> optimizer.set(learning_rate=0.01, seed=3)
        >>> optimizer["learning_rate"], optimizer["seed"]
        (0.01, 3)
        """
        self.set_text(" ".join(_word(name, value) for name, value in options.items()))

    def set_text(self, text: str) -> None:
        """Sets options from a text of the form "name=value name=value": all or, on an error, none.

        >>> import bdl
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> optimizer = bdl.Optimizer(model, q)
        >>> optimizer.set_text("learning_rate=0.01 seed=3")
        >>> optimizer["learning_rate"]
        0.01
        """
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
        """All options with their present values, a dict.

        The values of a new optimizer are the defaults of its method.

        >>> import bdl
        >>> model, q = bdl.Model.mlp([2, 5, 1]), bdl.Posterior.low_rank(21, 3)
        >>> for method in "slang", "slang-ggn", "map":
        ...     print(method, bdl.Optimizer(model, q, method).options["learning_rate"])
        slang 0.2
        slang-ggn 0.02
        map 0.01
        """
        return {name: self[name] for name in tables.types}

    def set_communicator(self, communicator: Communicator | None) -> None:
        """Makes the processes of a communicator train together; None ends that.

        Every process makes the same calls, and has the same posterior afterwards. That holds for
        :meth:`fit`, :meth:`step` and :meth:`laplace`.

        Parameters
        ----------
        communicator : Communicator or None
            Processes, such as ``bdl.mpi.world()``.

        Examples
        --------
        >>> import bdl
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> optimizer = bdl.Optimizer(model, q)
        >>> optimizer.set_communicator(None)
        """
        ranks = None if communicator is None else capsule_of(communicator, Communicator, "communicator")
        lowlevel.bdl_optimizer_set_communicator(self._handle, ranks)

    @property
    def method(self) -> str:
        """Name of the method."""
        return lowlevel.bdl_optimizer_method(self._handle)

    @property
    def data_size(self) -> int:
        """Number N of examples in the whole data set."""
        return lowlevel.bdl_optimizer_data_size(self._handle)

    @property
    def prior_precision(self) -> np.ndarray:
        """Present prior precision of each parameter, of shape (D,).

        Set one value for all parameters or one for each. Setting it fixes the prior: training no longer
        learns it.

        >>> import bdl
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> optimizer = bdl.Optimizer(model, q)
        >>> optimizer.prior_precision = [4.0, 0.01]
        >>> optimizer.prior_precision
        array([4.  , 0.01])
        """
        precision = arrays.empty(1, self.posterior.dimension)
        lowlevel.bdl_optimizer_get_prior(self._handle, precision)
        return precision[0]

    @prior_precision.setter
    def prior_precision(self, precision: Any) -> None:
        lowlevel.bdl_optimizer_set_prior(self._handle, arrays.row(precision, "precision"))

    @property
    def coefficient_prior(self) -> Normal:
        """Priors of the coefficients of a generalised linear model, in the units of the data.

        Location and scale have shape (outputs, 1 + inputs): the intercept, then the slopes. Set a scale to NaN
        to leave the prior of the options, which training may learn; an intercept then has a prior at the
        inputs' means. ``numpy.inf`` is a flat prior. The priors stay when the model is standardised.

        >>> import bdl, numpy as np
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> optimizer = bdl.Optimizer(model, q, "exact-full")
        >>> optimizer.coefficient_prior = bdl.normal([0, 2], [np.nan, 0.5])
        >>> optimizer.coefficient_prior.scale
        array([[1. , 0.5]])
        """
        location, scale = (arrays.empty(1, self.model.coefficient_count) for _ in range(2))
        lowlevel.bdl_optimizer_get_prior_coefficients(self._handle, location, scale)
        return Normal(location.reshape(self.model.outputs, -1), scale.reshape(self.model.outputs, -1))

    @coefficient_prior.setter
    def coefficient_prior(self, prior: Normal) -> None:
        location, scale = (_flat(part, name) for part, name in ((prior.location, "location"), (prior.scale, "scale")))
        lowlevel.bdl_optimizer_set_prior_coefficients(self._handle, location, scale)

    def set_prior(self, prior: Posterior | Any) -> None:
        """Sets the prior, so that training does not learn it.

        Use the posterior of earlier data as the prior of new data to learn task after task.

        Parameters
        ----------
        prior : Posterior, Normal, float or array of shape (D,)
            A posterior, whose mean and precision become those of the prior; :func:`bdl.normal` of parameters
            (of standardised data), where a scale of NaN leaves the prior of the options; or the precision of
            the prior N(0, 1 / precision), one for all parameters or one for each.

        Examples
        --------
        >>> import bdl, numpy as np
        >>> x, model = np.arange(6.0), bdl.Model.mlp([1, 1])
        >>> model.noise_precision = 1.0
        >>> first, both = bdl.Posterior.full(2), bdl.Posterior.full(2)
        >>> before = bdl.Optimizer(model, first, "exact-full", 3, learn_noise=0)
        >>> before.fit(x[:3], 2 * x[:3], epochs=100)
        True
        >>> after = bdl.Optimizer(model, both, "exact-full", 3, learn_noise=0)
        >>> after.set_prior(first)
        >>> after.fit(x[3:], 2 * x[3:], epochs=100)
        True
        >>> bool((both.variance < first.variance).all())
        True
        """
        if isinstance(prior, Posterior):
            of_prior = capsule_of(prior, Posterior, "prior")
            lowlevel.bdl_optimizer_set_prior_posterior(self._handle, of_prior)
        elif isinstance(prior, Normal):
            location, scale = arrays.row(prior.location, "location"), arrays.row(prior.scale, "scale")
            lowlevel.bdl_optimizer_set_prior_normal(self._handle, location, scale)
        else:
            self.prior_precision = prior

    @property
    def prediction(self) -> str:
        """Name of the prediction method that suits the model after training by this method.

        Pass it as ``method`` to :func:`bdl.predict` and the other predict functions.

        >>> import bdl
        >>> model, q = bdl.Model.mlp([2, 5, 1]), bdl.Posterior.low_rank(21, 0)
        >>> for method in "laplace", "map", "bbb":
        ...     print(method, bdl.Optimizer(model, q, method).prediction)
        laplace linearized
        map plug_in
        bbb monte_carlo
        """
        of_model = capsule_of(self.model, Model, "model")
        return names.predict_methods.word(lowlevel.bdl_method_prediction(self.method, of_model))

    @property
    def minibatch(self) -> int:
        """Number of examples in a minibatch of :meth:`fit`, from options ``minibatch`` and ``minibatches``.

        >>> import bdl
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> bdl.Optimizer(model, q, "slang-ggn", data_size=10000).minibatch
        50
        """
        return lowlevel.bdl_optimizer_minibatch(self._handle)

    def start_noise(self, y: Any) -> None:
        """Starts the noise of each target from the variance of that target in the data.

        Without this call, training starts from one noise for all (standardised) targets. The call has no
        effect on a model whose noise you have set, or which has no noise to learn.

        Parameters
        ----------
        y : array of shape (n, targets), or Dataset
            Targets. NaN does not count.

        Examples
        --------
        >>> import bdl
        >>> model = bdl.Model.mlp([1, 1])
        >>> bdl.Optimizer(model, bdl.Posterior.full(2)).start_noise([1.0, 5.0])
        >>> model.noise_precision
        array([0.25])
        """
        if isinstance(y, Dataset):
            lowlevel.bdl_optimizer_start_noise_dataset(self._handle, y._handle)
            return
        lowlevel.bdl_optimizer_start_noise(self._handle, arrays.matrix(y, "y"))

    def initialize(self) -> None:
        """Restarts training from initial parameters that the seed determines.

        :meth:`fit` and :meth:`step` initialise an uninitialised posterior themselves.

        >>> import bdl
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> optimizer = bdl.Optimizer(model, q, "ekf")
        >>> log_density = optimizer.observe([0.0, 1.0], [1.0, 3.0])
        >>> optimizer.initialize()
        >>> optimizer.progress.step
        0
        """
        lowlevel.bdl_optimizer_initialize(self._handle)

    def fit(
        self, x: Any, y: Any = None, epochs: int = 1, progress: Callable[[Optimizer], Any] | None = None
    ) -> bool:
        """Trains on minibatches. Returns True unless training was stopped.

        After a stop, an exception or Ctrl-C, the optimizer has the state of its last complete step. Methods
        "exact-..." end earlier, once they have converged.

        Parameters
        ----------
        x : array of shape (n, inputs), or Dataset
            Inputs, or a :class:`Dataset` in place of x and y.
        y : array of shape (n, targets), default=None
            Targets.
        epochs : int, default=1
            Passes over the data. 0 finishes a fit that was stopped.
        progress : callable, default=None
            ``progress(optimizer)`` is called after steps, as option ``progress_every`` sets. A true result
            stops training.

        Examples
        --------
        >>> import bdl
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> optimizer = bdl.Optimizer(model, q, "exact-full", data_size=4)
        >>> optimizer.fit([0.0, 1.0, 2.0, 3.0], [1.0, 2.9, 5.2, 7.0], epochs=100)
        True
        >>> q.mean.round(1)
        array([1.9, 0.9])
        """
        call = None if progress is None else lambda: progress(self)
        if isinstance(x, Dataset):
            stopped = lowlevel.bdl_optimizer_fit_dataset(self._handle, x._alone(y), epochs, call)
        else:
            x, y = arrays.matrix(x, "x"), arrays.matrix(y, "y")
            stopped = lowlevel.bdl_optimizer_fit(self._handle, x, y, epochs, call)
        return not stopped

    def step(self, x: Any, y: Any) -> None:
        """Takes one step on a minibatch that you choose.

        Parameters
        ----------
        x : array of shape (n, inputs)
            Inputs.
        y : array of shape (n, targets)
            Targets.

        Examples
        --------
        >>> import bdl
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> optimizer = bdl.Optimizer(model, q, data_size=100)
        >>> optimizer.step([0.0, 1.0], [1.0, 3.0])
        >>> optimizer.progress.step
        1
        """
        lowlevel.bdl_optimizer_step(self._handle, arrays.matrix(x, "x"), arrays.matrix(y, "y"))

    def step_rows(self, rows: Any) -> None:
        """Takes one step from gradients that you computed; the optimizer needs no model.

        Parameters
        ----------
        rows : array of shape (n, D)
            Gradients of -log p(y_i | theta), one example (or one example and sample of the parameters) a row.

        Examples
        --------
        >>> import bdl
        >>> q = bdl.Posterior.full(2)
        >>> bdl.Optimizer(None, q, data_size=100).step_rows([[1.0, 0.0], [1.0, 0.0]])
        >>> bool(q.mean[0] < 0)
        True
        """
        lowlevel.bdl_optimizer_step_rows(self._handle, arrays.rows(rows, "rows"))

    def laplace(self, x: Any, y: Any = None) -> None:
        """Sets the covariance to that of the Laplace approximation around the present mean.

        The mean should be a mode, as after training by method "map". Method "laplace" is "map" with this
        call at the end.

        Parameters
        ----------
        x : array of shape (n, inputs), or Dataset
            Inputs, or a :class:`Dataset` in place of x and y.
        y : array of shape (n, targets), default=None
            Targets.

        Examples
        --------
        >>> import bdl
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> x, y = [0.0, 1.0], [1.0, 3.0]
        >>> optimizer = bdl.Optimizer(model, q, "map", data_size=2)
        >>> optimizer.fit(x, y, epochs=100), q.has_covariance
        (True, False)
        >>> optimizer.laplace(x, y)
        >>> q.has_covariance
        True
        """
        if isinstance(x, Dataset):
            lowlevel.bdl_optimizer_laplace_dataset(self._handle, x._alone(y))
        else:
            lowlevel.bdl_optimizer_laplace(self._handle, arrays.matrix(x, "x"), arrays.matrix(y, "y"))

    def evidence(self, prior_precision: Any = None, noise_precision: Any = None) -> Evidence:
        """Returns the evidence (log marginal likelihood) of the last Laplace approximation.

        Parameters
        ----------
        prior_precision : float or array, default=None
            One precision, one for each prior group, or one for each parameter. None is the present prior.
        noise_precision : float or array of shape (targets,), default=None
            Precision of Gaussian noise. None is the present noise.

        Examples
        --------
        >>> import bdl
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 2.9, 5.2, 7.0]
        >>> optimizer = bdl.BayesianGLM(method="laplace").fit(X, y).optimizer_
        >>> strong, weak = optimizer.evidence(1e4), optimizer.evidence(1.0)
        >>> strong.log_evidence < weak.log_evidence
        True
        """
        prior = None if prior_precision is None else arrays.row(prior_precision, "prior_precision")
        noise = None if noise_precision is None else arrays.row(noise_precision, "noise_precision")
        return Evidence(*lowlevel.bdl_optimizer_evidence(self._handle, prior, noise))

    def maximize_evidence(self, of: str = "prior noise") -> float:
        """Sets prior, noise and covariance to the optimum of the evidence. Returns it, in nats.

        It needs a Laplace approximation (:meth:`laplace`). The mean stays as it is.

        Parameters
        ----------
        of : str, default="prior noise"
            "prior", "noise" or "prior noise": the precisions to change.

        Examples
        --------
        >>> import bdl
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 2.9, 5.2, 7.0]
        >>> optimizer = bdl.BayesianGLM(method="laplace").fit(X, y).optimizer_
        >>> optimizer.evidence().log_evidence <= optimizer.maximize_evidence("noise")
        True
        """
        return lowlevel.bdl_optimizer_maximize_evidence(self._handle, of)[0]

    def mode_gap(self, x: Any, y: Any) -> float:
        """Returns the nats that a Newton step from the mean would gain on these data.

        It needs a Laplace approximation. The gap is below 1 if training has found a mode.

        Parameters
        ----------
        x : array of shape (n, inputs)
            Inputs.
        y : array of shape (n, targets)
            Targets.

        Examples
        --------
        >>> import bdl
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 2.9, 5.2, 7.0]
        >>> bdl.BayesianGLM(method="laplace").fit(X, y).optimizer_.mode_gap(X, y) < 1
        True
        """
        return lowlevel.bdl_optimizer_mode_gap(self._handle, arrays.matrix(x, "x"), arrays.matrix(y, "y"))

    def observe(self, x: Any, y: Any) -> np.ndarray:
        """Learns from rows in their order, each once. Returns log p(y_i | x_i, rows before), in nats.

        Each row is scored before the optimizer learns from it. A missing target is NaN: the row's time
        passes, and the other targets of the row count. The score of a row without any target is NaN.

        Parameters
        ----------
        x : array of shape (n, inputs)
            Inputs.
        y : array of shape (n, targets)
            Targets.

        Examples
        --------
        >>> import bdl
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> optimizer = bdl.Optimizer(model, q, "ekf")
        >>> optimizer.observe([0.0, 1.0, 2.0], [1.0, 3.0, float("nan")]).round(2)
        array([-1.45, -2.56,   nan])
        """
        x = arrays.matrix(x, "x")
        log_density = arrays.empty(len(x), 1)
        lowlevel.bdl_optimizer_observe(self._handle, x, arrays.matrix(y, "y"), log_density)
        return log_density[:, 0]

    def forecast(self, steps: int = 1) -> None:
        """Moves time on by a number of steps without observations.

        Uncertainty grows as options ``process_noise``, ``transition`` and ``forgetting`` (or
        :meth:`set_process_noise`) set. Predictions made afterwards are forecasts.

        Parameters
        ----------
        steps : int, default=1
            Steps of time.

        Examples
        --------
        >>> import bdl
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> optimizer = bdl.Optimizer(model, q, "ekf")
        >>> optimizer.set_process_noise(0.1)
        >>> optimizer.forecast(steps=3)
        >>> q.variance.round(3)
        array([1.3, 1.3])
        """
        lowlevel.bdl_optimizer_forecast(self._handle, steps)

    def set_process_noise(self, variance: Any) -> None:
        """Sets the variance by which each parameter drifts in a step of time.

        Parameters
        ----------
        variance : float, array of shape (D,) or None
            One variance, or one for each parameter. None: option ``process_noise`` counts again.

        Examples
        --------
        >>> import bdl
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> optimizer = bdl.Optimizer(model, q, "ekf")
        >>> optimizer.set_process_noise([0.0, 0.1])
        >>> optimizer.forecast()
        >>> q.variance.round(3)
        array([1. , 1.1])
        """
        variance = None if variance is None else arrays.row(variance, "variance")
        lowlevel.bdl_optimizer_set_process_noise(self._handle, variance)

    def set_draws(self, draws: Callable[[str, int, int, Posterior, int], Any] | None) -> None:
        """Replaces the random numbers of training by your own.

        Parameters
        ----------
        draws : callable or None
            ``draws(kind, step, iteration, q, count)`` returns an array of shape (count, D). ``kind`` is
            "parameters" (rows are samples of q) or "probes" (rows of +1 and -1). The posterior q is valid
            during the call only. None: libbdl's own random numbers again.

        Examples
        --------
        >>> import bdl
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> optimizer = bdl.Optimizer(model, q, data_size=2)
        >>> def draws(kind, step, iteration, q, count):
        ...     return q.sample(count, seed=step + 1)
        >>> optimizer.set_draws(draws)
        >>> optimizer.step([0.0, 1.0], [1.0, 3.0])
        """
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
        """Asks a running fit to stop after its step. Any thread may call it.

        >>> import bdl
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> optimizer = bdl.Optimizer(model, q, "exact-full", data_size=4)
        >>> def stop(optimizer):
        ...     optimizer.request_stop()
        >>> x, y = [0.0, 1.0, 2.0, 3.0], [1.0, 2.9, 5.2, 7.0]
        >>> optimizer.fit(x, y, 100, progress=stop)
        False
        """
        lowlevel.bdl_optimizer_request_stop(self._handle)

    @property
    def progress(self) -> Progress:
        """Progress of training, a :class:`bdl.Progress` of steps taken, planned last step and epochs.

        >>> import bdl
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> optimizer = bdl.Optimizer(model, q, data_size=2)
        >>> optimizer.fit([0.0, 1.0], [1.0, 3.0], epochs=10)
        True
        >>> optimizer.progress
        Progress(step=10, planned=10, epoch=10.0)
        """
        return Progress(*lowlevel.bdl_optimizer_progress(self._handle))

    def _has_kl(self) -> bool:
        return self.posterior.family != "dropout"

    @property
    def running_elbo(self) -> Elbo:
        """The parts of the ELBO as training estimates them on the way, without cost, but noisy.

        >>> import bdl
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> optimizer = bdl.Optimizer(model, q, data_size=2)
        >>> optimizer.fit([0.0, 1.0], [1.0, 3.0], epochs=10)
        True
        >>> optimizer.running_elbo.kl >= 0
        True
        """
        return _elbo(lowlevel.bdl_optimizer_running_elbo(self._handle, self._has_kl()))

    def elbo(self, x: Any, y: Any = None, samples: int = 100, seed: int = 1) -> Elbo:
        """Returns the parts of the ELBO on these data, a :class:`bdl.Elbo`.

        Parameters
        ----------
        x : array of shape (n, inputs), or Dataset
            Inputs, or a :class:`Dataset` in place of x and y.
        y : array of shape (n, targets), default=None
            Targets.
        samples : int, default=100
            Samples of the posterior. 0 computes exact integrals, for generalised linear models of one output.
        seed : int, default=1
            Seed of the samples.

        Examples
        --------
        >>> import bdl
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> optimizer = bdl.Optimizer(model, q, "exact-full", data_size=4)
        >>> optimizer.fit([0.0, 1.0, 2.0, 3.0], [1.0, 2.9, 5.2, 7.0], epochs=100)
        True
        >>> elbo = optimizer.elbo([0.0, 1.0, 2.0, 3.0], [1.0, 2.9, 5.2, 7.0], 0)
        >>> print(round(elbo.kl, 1))
        3.4
        """
        if isinstance(x, Dataset):
            data = x._alone(y)
            return _elbo(lowlevel.bdl_optimizer_elbo_dataset(self._handle, data, samples, seed, self._has_kl()))
        x, y = arrays.matrix(x, "x"), arrays.matrix(y, "y")
        return _elbo(lowlevel.bdl_optimizer_elbo(self._handle, x, y, samples, seed, self._has_kl()))

    @property
    def prequential(self) -> Prequential:
        """One-step-ahead scores since the optimizer was initialised, a :class:`bdl.Prequential`.

        >>> import bdl
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> optimizer = bdl.Optimizer(model, q, "ekf")
        >>> log_density = optimizer.observe([0.0, 1.0, 2.0], [1.0, 3.0, 5.0])
        >>> optimizer.prequential.count
        3
        """
        return Prequential(*lowlevel.bdl_optimizer_prequential(self._handle))

    @property
    def guarded_steps(self) -> int:
        """Number of steps that option ``guard`` has limited, to prevent divergence.

        >>> import bdl
        >>> bdl.BayesianGLM().fit([[0.0], [1.0]], [1.0, 2.0]).optimizer_.guarded_steps
        0
        """
        return lowlevel.bdl_optimizer_guarded_steps(self._handle)

    @property
    def noise(self) -> tuple[bool, str]:
        """Noise by which training samples each layer of a low-rank-moment posterior.

        It is a pair: whether the noise is exact in all layers, and a text with one line for each layer.

        >>> import bdl
        >>> model = bdl.Model.mlp([2, 5, 1])
        >>> q = bdl.Posterior.low_rank_moment(model.parameters, rank=2)
        >>> is_exact, text = bdl.Optimizer(model, q, "elrg", data_size=100).noise
        >>> is_exact, text.splitlines()
        (True, ['dense 5: local, exact', 'dense 1: local, exact'])
        """
        is_exact, text = lowlevel.bdl_optimizer_noise(self._handle)
        return bool(is_exact), text

    @property
    def shortened_steps(self) -> int:
        """Number of steps that libbdl shortened so that the covariance stayed positive definite.

        >>> import bdl
        >>> bdl.BayesianGLM().fit([[0.0], [1.0]], [1.0, 2.0]).optimizer_.shortened_steps
        0
        """
        return lowlevel.bdl_optimizer_shortened_steps(self._handle)

    def memory(self, minibatch: int = 0) -> int:
        """Returns an upper estimate of the bytes that training takes, before it allocates them.

        Parameters
        ----------
        minibatch : int, default=0
            Examples in a minibatch. 0: as options ``minibatch`` and ``minibatches`` set.

        Examples
        --------
        >>> import bdl
        >>> model = bdl.Model.mlp([100, 1000, 10], likelihood="categorical")
        >>> q = bdl.Posterior.low_rank(model.parameters, rank=5)
        >>> bdl.Optimizer(model, q, data_size=60000).memory() < 500e6
        True
        """
        return lowlevel.bdl_optimizer_memory(self._handle, minibatch)

    @property
    def diagnosis(self) -> Diagnosis:
        """Diagnosis of what training has learned, with advice, as a :class:`bdl.Diagnosis`.

        >>> import bdl
        >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
        >>> optimizer = bdl.Optimizer(model, q, data_size=2)
        >>> optimizer.fit([0.0, 1.0], [1.0, 3.0])
        True
        >>> bool(optimizer.diagnosis.message)  # it advises to train for longer
        True
        """
        return Diagnosis(*lowlevel.bdl_optimizer_diagnose(self._handle))

    def diagnose_answers(self, x: Any, y: Any) -> tuple[float, str]:
        """Checks whether a network predicts the same for all rows. Returns (spread, message).

        ``spread`` is the largest standard deviation of a prediction over the rows: of a class probability, or
        of a mean in standard deviations of its target. It is infinity for models without hidden units and
        for fewer than ten rows. ``message`` is advice if the spread is below 0.01, else "".

        Parameters
        ----------
        x : array of shape (n, inputs)
            Inputs.
        y : array of shape (n, targets)
            Targets.

        Examples
        --------
        >>> import bdl, numpy as np
        >>> x = np.linspace(-1, 1, 20)
        >>> model = bdl.Model.mlp([1, 5, 1])
        >>> q = bdl.Posterior.low_rank(16, 2)
        >>> optimizer = bdl.Optimizer(model, q, data_size=20)
        >>> optimizer.fit(x, x, epochs=20)
        True
        >>> spread, message = optimizer.diagnose_answers(x, x)
        >>> spread > 0.01, message
        (True, '')
        """
        x, y = arrays.matrix(x, "x"), arrays.matrix(y, "y")
        spread, message = lowlevel.bdl_optimizer_diagnose_answers(self._handle, x, y)
        return spread, message

    def __repr__(self) -> str:
        if self.closed:
            return "<closed Optimizer>"
        return f"<Optimizer {self.method}: data_size={self.data_size}, step={self.progress.step}>"

    def __reduce__(self) -> Any:
        if self.model is not None:
            self.model._check_picklable()
        return _load_optimizer, (to_bytes(None, None, self._handle), self.model is not None)


def suggest_method(model: Model, posterior: Posterior, is_stream: bool = False) -> str:
    """Returns the name of a method that suits a model and a posterior.

    Parameters
    ----------
    model : Model
        Model to learn.
    posterior : Posterior
        Posterior to learn.
    is_stream : bool, default=False
        True for rows that come one after the other (:meth:`Optimizer.observe`).

    Examples
    --------
    >>> import bdl
    >>> model = bdl.Model.mlp([2, 10, 1])
    >>> q = bdl.Posterior.low_rank(model.parameters, 5)
    >>> bdl.suggest_method(model, q), bdl.suggest_method(model, q, is_stream=True)
    ('slang', 'lo-fi')
    """
    of_model, of_posterior = capsule_of(model, Model, "model"), capsule_of(posterior, Posterior, "posterior")
    return lowlevel.bdl_method_suggest(of_model, of_posterior, is_stream)


class Training(NamedTuple):
    """Suggested training: method, family and rank of the posterior, and options.

    ``options`` is a text for :meth:`Optimizer.set_text`.

    >>> import bdl
    >>> training = bdl.suggest_training(bdl.Model.mlp([2, 10, 1]), examples=100)
    >>> training.method, training.family, training.rank, training.options
    ('slang', 'low_rank', 5, '')
    """

    method: str
    family: str
    rank: int
    options: str


def suggest_training(
    model: Model, examples: int, in_blocks: bool = False, method: str = "auto", family: str = "auto"
) -> Training:
    """Returns the training that the estimators take by default, a :class:`Training`.

    Parameters
    ----------
    model : Model
        Network or generalised linear model to learn.
    examples : int
        Number of rows of the data.
    in_blocks : bool, default=False
        True if the data come block by block, as for ``partial_fit``.
    method : str, default="auto"
        Name of a method; "auto" suggests one.
    family : str, default="auto"
        Family of the posterior, such as "low_rank" or "diagonal"; "auto" suggests one.

    Examples
    --------
    >>> import bdl
    >>> bdl.suggest_training(bdl.Model.mlp([2, 10, 1]), 100, method="vogn")
    Training(method='vogn', family='diagonal', rank=0, options='')
    >>> bdl.suggest_training(bdl.Model.mlp([2, 1]), 100)[:2]
    ('exact-full', 'full')
    """
    of_model = capsule_of(model, Model, "model")
    return Training(*lowlevel.bdl_training_suggest(of_model, examples, in_blocks, method, family))


def suggest_noise(optimizer: Optimizer, in_blocks: bool = False, prior: Posterior | None = None, y: Any = None) -> str:
    """Returns the likelihood that the estimators take by default for a regression.

    It is "heteroscedastic" where fits learn the prior by the evidence, and "gaussian" otherwise, as for
    streams and linear models. It is "student_t" in place of "heteroscedastic" if a target is more than
    1000 robust standard deviations from the median.

    Parameters
    ----------
    optimizer : Optimizer
        Optimizer of a model with the same hidden layers, Gaussian noise, and your options.
    in_blocks : bool, default=False
        True if the data come block by block.
    prior : Posterior, default=None
        A posterior that is to be the prior. Its number of parameters determines the noise.
    y : array of shape (n, targets), default=None
        Targets, to look for outliers.

    Examples
    --------
    >>> import bdl
    >>> model = bdl.Model.mlp([2, 10, 1])
    >>> q = bdl.Posterior.low_rank(model.parameters, 5)
    >>> optimizer = bdl.Optimizer(model, q, data_size=100)
    >>> bdl.suggest_noise(optimizer), bdl.suggest_noise(optimizer, in_blocks=True)
    ('heteroscedastic', 'gaussian')
    >>> bdl.suggest_noise(optimizer, y=[0.1, 0.4, 0.3, 1e4])
    'student_t'
    """
    return _noise_and_outlier(optimizer, in_blocks, prior, y)[0]


def _noise_and_outlier(optimizer: Optimizer, in_blocks: bool, prior: Posterior | None, y: Any) -> tuple[str, float]:
    """Returns the noise, and the distance of the outlier that makes it "student_t", else 0."""
    of_optimizer = capsule_of(optimizer, Optimizer, "optimizer")
    parameters = 0 if prior is None else prior.dimension
    targets = None if y is None else arrays.matrix(y, "y")
    noise, distance = lowlevel.bdl_noise_suggest(of_optimizer, in_blocks, parameters, targets)
    return names.likelihoods.word(noise), distance


def _word(name: str, value: Any) -> str:
    """Returns an option as ``set_text()`` reads it."""
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
    """Returns an optimizer of its model and two capsules."""
    handle = Optimizer._of(optimizer)
    lowlevel.share_parts(optimizer, None if model is None else model._handle, posterior)
    handle.model = model
    handle.posterior = Posterior._of(posterior)
    return handle


def _load_optimizer(data: bytes, has_model: bool) -> Optimizer:
    model, posterior, optimizer = lowlevel.bdl_load_bytes(data, None, has_model, True, True)
    return _with_parts(Model._of(model) if has_model else None, posterior, optimizer)
