"""Predictions of a model and its posterior, or of a deep ensemble: lists of both."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence, Union

import numpy as np

from . import arrays, lowlevel, names
from .errors import InvalidArgumentError, UnsupportedError
from .handle import Handle, capsule_of
from .model import Model
from .posterior import Posterior
from .tables import defaults

_SAMPLES, _SEED = int(defaults["samples"]), int(defaults["seed"])

# One, or the members of a deep ensemble.
Models = Union[Model, Sequence[Model]]
Posteriors = Union[Posterior, Sequence[Posterior]]


class Prediction(NamedTuple):
    """Mean of y and its two variances, arrays of shape (n, C).

    ``epistemic_variance`` comes from not knowing the parameters; more data reduce it. ``noise_variance`` is
    that of the noise. The variance of y is their sum. A heteroscedastic model has columns for its targets.

    >>> import bdl
    >>> model, q = bdl.Model.mlp([2, 1]), bdl.Posterior.full(3)
    >>> found = bdl.predict(model, q, [[1.0, 2.0]], "linearized")
    >>> found.mean, found.epistemic_variance, found.noise_variance
    (array([[0.]]), array([[6.]]), array([[1.]]))
    """

    mean: np.ndarray
    epistemic_variance: np.ndarray
    noise_variance: np.ndarray


class ClassPrediction(NamedTuple):
    """Class probabilities of shape (n, C), and two measures of their uncertainty in nats.

    ``entropy`` is that of the probabilities; ``mutual_information`` is its part from not knowing the
    parameters. Both have one column for a categorical or ordinal model, and C for labels 0 and 1.
    ``mutual_information`` is None for method "linearized" and a categorical model, where it has no formula.

    >>> import bdl
    >>> model = bdl.Model.mlp([2, 3], likelihood="categorical")
    >>> found = bdl.predict_classes(model, bdl.Posterior.full(9), [[1.0, 2.0]])
    >>> found.probabilities.round(1)
    array([[0.3, 0.3, 0.4]])
    >>> found.entropy.round(1), found.mutual_information.round(1)
    (array([[1.1]]), array([[0.6]]))
    """

    probabilities: np.ndarray
    entropy: np.ndarray
    mutual_information: np.ndarray | None


class Leverage(NamedTuple):
    """Leverages of rows, arrays of shape (n,): how unlike the training rows they are.

    ``left_out`` is the leverage that a training row would have without itself in the training data.

    >>> import bdl
    >>> model, q = bdl.Model.mlp([2, 1]), bdl.Posterior.full(3)
    >>> found = bdl.predict_leverage(model, q, [[1.0, 2.0]])
    >>> found.leverage, found.left_out > found.leverage
    (array([6.]), array([ True]))
    """

    leverage: np.ndarray
    left_out: np.ndarray


class _Facts(NamedTuple):
    """Numbers on which the shapes of predictions depend."""

    means: int
    moments: int
    outputs: int
    targets: int
    likelihood: str
    has_variance: bool

    @classmethod
    def of(cls, model: Model, *others: Model) -> _Facts:
        likelihood = model.likelihood
        has_variance = likelihood != "student_t" or all(member.degrees_of_freedom > 2 for member in (model, *others))
        return cls(model.means, model.levels or model.means, model.outputs, model.targets, likelihood, has_variance)


class _Predictions:
    """Predictions of a model by one method."""

    _facts: _Facts
    _method: str
    _samples: int

    def _ask(self, what: str, data: tuple[np.ndarray, ...], *rest: Any) -> None:
        raise NotImplementedError

    def predict(self, x: Any) -> Prediction:
        """Returns the mean of y and its two variances, a :class:`bdl.Prediction`.

        Parameters
        ----------
        x : array of shape (n, inputs)
            Inputs.

        Examples
        --------
        >>> import bdl
        >>> model, q = bdl.Model.mlp([2, 1]), bdl.Posterior.full(3)
        >>> predictor = bdl.Predictor(model, q, method="linearized")
        >>> predictor.predict([[1.0, 2.0]]).epistemic_variance
        array([[6.]])
        """
        x = arrays.matrix(x, "x")
        result = Prediction(*(arrays.empty(len(x), self._facts.moments) for _ in range(3)))
        mean, epistemic, noise = result
        self._ask("moments", (x,), mean, epistemic, noise if self._facts.has_variance else None)
        if not self._facts.has_variance:
            noise.fill(np.inf)
        return result

    def predict_quantiles(self, x: Any, levels: Any, of: str = "y") -> np.ndarray:
        """Returns quantiles of y, noise included, or of its mean or link, of shape (n, C, k).

        Parameters
        ----------
        x : array of shape (n, inputs)
            Inputs.
        levels : array of shape (k,)
            Probabilities in (0, 1).
        of : str, default="y"
            What the quantiles are of: "y", "mean" or "link", as for :func:`predict_quantiles`.

        Examples
        --------
        >>> import bdl
        >>> model, q = bdl.Model.mlp([2, 1]), bdl.Posterior.full(3)
        >>> predictor = bdl.Predictor(model, q, method="linearized")
        >>> predictor.predict_quantiles([[1.0, 2.0]], [0.1, 0.9]).round(2)
        array([[[-3.39,  3.39]]])
        """
        x, levels, quantity = arrays.matrix(x, "x"), arrays.row(levels, "levels"), names.quantities.number(of)
        quantiles = arrays.empty(len(x), self._facts.means * levels.shape[1])
        self._ask("quantiles_of", (x,), quantity, levels, quantiles)
        return quantiles.reshape(len(x), self._facts.means, levels.shape[1])

    def predict_interval(self, x: Any, probability: float = 0.95, of: str = "y") -> tuple[np.ndarray, np.ndarray]:
        """Returns the lower and upper limits of central intervals of y, its mean or link, each of shape (n, C).

        The noise is included in those of y.

        Parameters
        ----------
        x : array of shape (n, inputs)
            Inputs.
        probability : float, default=0.95
            Probability of the intervals.
        of : str, default="y"
            What the intervals are of: "y", "mean" or "link", as for :func:`predict_interval`.

        Examples
        --------
        >>> import bdl
        >>> model, q = bdl.Model.mlp([2, 1]), bdl.Posterior.full(3)
        >>> predictor = bdl.Predictor(model, q, method="linearized")
        >>> lower, upper = predictor.predict_interval([[1.0, 2.0]], 0.9)
        >>> lower.round(2), upper.round(2)
        (array([[-4.35]]), array([[4.35]]))
        """
        if names.quantities.number(of) != lowlevel.BDL_QUANTITY_Y:
            if not 0 < probability < 1:
                raise InvalidArgumentError(f"probability is {probability}, expected a number strictly between 0 and 1")
            found = self.predict_quantiles(x, [(1 - probability) / 2, 1 - (1 - probability) / 2], of)
            return found[:, :, 0], found[:, :, 1]
        x = arrays.matrix(x, "x")
        limits = arrays.empty(len(x), self._facts.means), arrays.empty(len(x), self._facts.means)
        self._ask("interval", (x,), probability, *limits)
        return limits

    def predict_classes(self, x: Any) -> ClassPrediction:
        """Returns class probabilities and their uncertainty, a :class:`bdl.ClassPrediction`.

        Parameters
        ----------
        x : array of shape (n, inputs)
            Inputs.

        Examples
        --------
        >>> import bdl
        >>> model = bdl.Model.mlp([2, 3], likelihood="categorical")
        >>> q = bdl.Posterior.full(9)
        >>> predictor = bdl.Predictor(model, q, samples=100)
        >>> predictor.predict_classes([[0.0, 0.0]]).probabilities.round(1)
        array([[0.3, 0.3, 0.4]])
        """
        x = arrays.matrix(x, "x")
        columns = self._facts.targets
        has_information = not (self._method == "linearized" and self._facts.likelihood == "categorical")
        probabilities, entropy = arrays.empty(len(x), self._facts.moments), arrays.empty(len(x), columns)
        information = arrays.empty(len(x), columns) if has_information else None
        self._ask("classes", (x,), probabilities, entropy, information)
        return ClassPrediction(probabilities, entropy, information)

    def predict_log_density(self, x: Any, y: Any) -> np.ndarray:
        """Returns log p(y_i | x_i) of each example, of shape (n,), in nats.

        Parameters
        ----------
        x : array of shape (n, inputs)
            Inputs.
        y : array of shape (n, targets)
            Targets.

        Examples
        --------
        >>> import bdl
        >>> model, q = bdl.Model.mlp([2, 1]), bdl.Posterior.full(3)
        >>> predictor = bdl.Predictor(model, q, method="linearized")
        >>> predictor.predict_log_density([[1.0, 2.0]], [3.0]).round(2)
        array([-2.53])
        """
        x, y = arrays.matrix(x, "x"), arrays.matrix(y, "y")
        result = arrays.empty(len(x), 1)
        self._ask("log_density", (x, y), result)
        return result[:, 0]

    def predict_draws(self, x: Any, of: str = "y") -> np.ndarray:
        """Returns random samples of y, noise included, of its mean or link, of shape (n, targets, samples).

        A deep ensemble returns ``samples`` of each member, member by member. Means and links of classes have a
        column for each class.

        Parameters
        ----------
        x : array of shape (n, inputs)
            Inputs.
        of : str, default="y"
            What is drawn: "y", "mean" or "link", as for :func:`predict_draws`.

        Examples
        --------
        >>> import bdl
        >>> model, q = bdl.Model.mlp([2, 1]), bdl.Posterior.full(3)
        >>> bdl.Predictor(model, q, samples=100).predict_draws([[1.0, 2.0]]).shape
        (1, 1, 100)
        """
        x, quantity = arrays.matrix(x, "x"), names.quantities.number(of)
        columns = self._facts.targets if quantity == lowlevel.BDL_QUANTITY_Y else self._facts.means
        draws = arrays.empty(len(x), columns * self._samples)
        self._ask("draws_of", (x,), quantity, draws)
        return draws.reshape(len(x), columns, self._samples)

    def predict_log_likelihood(self, x: Any, y: Any) -> np.ndarray:
        """Returns log p(y_i | x_i, theta_s) of sample s of the parameters, of shape (samples, n), in nats.

        Parameters
        ----------
        x : array of shape (n, inputs)
            Inputs.
        y : array of shape (n, targets)
            Targets.

        Examples
        --------
        >>> import bdl
        >>> model, q = bdl.Model.mlp([2, 1]), bdl.Posterior.full(3)
        >>> bdl.Predictor(model, q, samples=100).predict_log_likelihood([[1.0, 2.0]], [3.0]).shape
        (100, 1)
        """
        x, y = arrays.matrix(x, "x"), arrays.matrix(y, "y")
        result = arrays.empty(self._samples, len(x))
        self._ask("log_likelihood", (x, y), result)
        return result

    def predict_output_distribution(self, x: Any) -> tuple[np.ndarray, np.ndarray]:
        """Returns the means (n, C) and covariances (n, C, C) of the linearised model's outputs.

        The outputs are those before the likelihood and its noise.

        Parameters
        ----------
        x : array of shape (n, inputs)
            Inputs.

        Examples
        --------
        >>> import bdl
        >>> model, q = bdl.Model.mlp([2, 1]), bdl.Posterior.full(3)
        >>> predictor = bdl.Predictor(model, q, method="linearized")
        >>> mean, covariance = predictor.predict_output_distribution([[1.0, 2.0]])
        >>> mean, covariance
        (array([[0.]]), array([[[6.]]]))
        """
        x, outputs = arrays.matrix(x, "x"), self._facts.outputs
        mean, covariance = arrays.empty(len(x), outputs), arrays.empty(len(x), outputs * outputs)
        self._ask("output_distribution", (x,), mean, covariance)
        return mean, covariance.reshape(len(x), outputs, outputs)

    def predict_leverage(self, x: Any) -> Leverage:
        """Returns leverages: how unlike the training rows each row is, a :class:`bdl.Leverage`.

        The leverage is the variance of the linearised model's outputs, for standardised targets, on average over
        the outputs. Divide it by its mean over the training rows: values far above 1 are unusual.

        Parameters
        ----------
        x : array of shape (n, inputs)
            Inputs.

        Examples
        --------
        >>> import bdl
        >>> model, q = bdl.Model.mlp([2, 1]), bdl.Posterior.full(3)
        >>> predictor = bdl.Predictor(model, q, method="linearized")
        >>> predictor.predict_leverage([[1.0, 2.0], [0.0, 0.0]]).leverage
        array([6., 1.])
        """
        x = arrays.matrix(x, "x")
        leverage, left_out = arrays.empty(len(x), 1), arrays.empty(len(x), 1)
        self._ask("leverage", (x,), leverage, left_out)
        return Leverage(leverage[:, 0], left_out[:, 0])


class _Once(_Predictions):
    """Predictions of a model and a posterior in their present state."""

    def __init__(self, model: Model, posterior: Posterior, method: str, samples: int, seed: int):
        self._handles = capsule_of(model, Model, "model"), capsule_of(posterior, Posterior, "posterior")
        self._facts, self._method, self._samples = _Facts.of(model), method, samples
        self._how = names.predict_methods.number(method), samples, seed

    def _ask(self, what: str, data: tuple[np.ndarray, ...], *rest: Any) -> None:
        if what == "moments":
            lowlevel.bdl_predict(*self._handles, *data, *self._how, *rest)
        elif what in ("output_distribution", "leverage"):
            getattr(lowlevel, f"bdl_predict_{what}")(*self._handles, *data, *rest)
        else:
            getattr(lowlevel, f"bdl_predict_{what}")(*self._handles, *data, *self._how, *rest)


class Predictor(Handle, _Predictions):
    """Predicts with one model and posterior, or a deep ensemble, many times and fast.

    A predictor samples the posterior once and keeps its memory, so that predicting one row takes
    about 0.1 ms. Results are identical to those of :func:`predict` and its relatives. It is a snapshot: later
    training does not change its predictions. Give each thread a predictor of its own.

    Lists of models and posteriors are the members of a deep ensemble (Lakshminarayanan et al. 2017), each
    trained with another seed. The ensemble predicts their equal mixture; member j samples with ``seed + j``.

    Parameters
    ----------
    model : Model or list of Model
        Model, or the members of a deep ensemble.
    posterior : Posterior or list of Posterior
        Posterior of the model, or of each member.
    method : str, default="monte_carlo"
        How predictions average over the posterior, as for :func:`predict`.
    samples : int, default=500
        Number of samples of the Monte-Carlo methods.
    seed : int, default=1
        Seed of the samples.

    Examples
    --------
    >>> import bdl
    >>> model, q = bdl.Model.mlp([2, 1]), bdl.Posterior.full(3)
    >>> predictor = bdl.Predictor(model, q, method="linearized")
    >>> for row in [[1.0, 2.0]], [[0.5, -1.0]]:
    ...     print(predictor.predict(row).epistemic_variance)
    [[6.]]
    [[2.25]]
    >>> bdl.Predictor([model, model.copy()], [q, q.copy()], samples=100)
    <Predictor monte_carlo: samples=100, members=2>
    """

    def __init__(
        self,
        model: Models,
        posterior: Posteriors,
        method: str = "monte_carlo",
        samples: int = _SAMPLES,
        seed: int = _SEED,
    ):
        """Creates a predictor; the class describes the arguments."""
        number, is_one = names.predict_methods.number(method), isinstance(model, Model)
        models = [model] if isinstance(model, Model) else list(model)
        posteriors = [posterior] if is_one else list(posterior)  # type: ignore[arg-type]
        if len(models) != len(posteriors):
            raise InvalidArgumentError(
                f"there are {len(models)} models and {len(posteriors)} posteriors: pass one posterior for each model"
            )
        members = [
            (capsule_of(m, Model, "model"), capsule_of(q, Posterior, "posterior")) for m, q in zip(models, posteriors)
        ]
        if is_one:
            self._capsule = lowlevel.bdl_predictor_create(*members[0], number, samples, seed)
        else:
            self._capsule = lowlevel.bdl_predictor_create_ensemble(members, number, samples, seed)
        self._facts, self._method, self._samples = _Facts.of(*models), method, samples * len(models)
        self._members = len(models)

    def _ask(self, what: str, data: tuple[np.ndarray, ...], *rest: Any) -> None:
        getattr(lowlevel, f"bdl_predictor_{what}")(self._handle, *data, *rest)

    def __repr__(self) -> str:
        if self.closed:
            return "<closed Predictor>"
        members = f", members={self._members}" if self._members > 1 else ""
        return f"<Predictor {self._method}: samples={self._samples // self._members}{members}>"

    def __reduce__(self) -> Any:
        raise UnsupportedError("a predictor cannot be pickled: pickle its model and posterior instead")


def _asked(model: Models, posterior: Posteriors, method: str, samples: int, seed: int) -> _Predictions:
    if isinstance(model, Model) and isinstance(posterior, Posterior):
        return _Once(model, posterior, method, samples, seed)
    return Predictor(model, posterior, method, samples, seed)


def predict(
    model: Models, posterior: Posteriors, x: Any, method: str = "monte_carlo", samples: int = _SAMPLES, seed: int = _SEED
) -> Prediction:
    """Returns the mean of y and its two variances, a :class:`bdl.Prediction`.

    A mean or variance that overflows is infinite. Classes count as one-hot vectors.

    Parameters
    ----------
    model : Model or list of Model
        Model, or the members of a deep ensemble.
    posterior : Posterior or list of Posterior
        Posterior of the model, or of each member.
    x : array of shape (n, inputs)
        Inputs.
    method : str, default="monte_carlo"
        How predictions average over the posterior:

        - "monte_carlo": over samples of the posterior,
        - "linearized": exactly or nearly so, for the model linearised at the mean of the posterior,
        - "linearized_monte_carlo": over samples of the outputs of the linearised model,
        - "quadrature": exactly, for generalised linear models with one output,
        - "plug_in": not at all; the mean of the posterior counts as known,
        - "local_monte_carlo": over noise of each layer's outputs, for low-rank-moment posteriors.

        :attr:`Optimizer.prediction` names the one that suits a trained model.
    samples : int, default=500
        Number of samples of the Monte-Carlo methods.
    seed : int, default=1
        Seed of the samples.

    Examples
    --------
    >>> import bdl
    >>> model, q = bdl.Model.mlp([2, 1]), bdl.Posterior.full(3)
    >>> bdl.predict(model, q, [[1.0, 2.0]], method="linearized").epistemic_variance
    array([[6.]])
    """
    return _asked(model, posterior, method, samples, seed).predict(x)


def predict_quantiles(
    model: Models,
    posterior: Posteriors,
    x: Any,
    levels: Any,
    method: str = "monte_carlo",
    samples: int = _SAMPLES,
    seed: int = _SEED,
    of: str = "y",
) -> np.ndarray:
    """Returns quantiles of y, noise included, or of its mean or link, of shape (n, C, k).

    Quantiles of y need a likelihood of numbers; those of counts are whole.

    Parameters
    ----------
    model : Model or list of Model
        Model, or the members of a deep ensemble.
    posterior : Posterior or list of Posterior
        Posterior of the model, or of each member.
    x : array of shape (n, inputs)
        Inputs.
    levels : array of shape (k,)
        Probabilities in (0, 1).
    method : str, default="monte_carlo"
        How predictions average over the posterior, as for :func:`predict`.
    samples : int, default=500
        Number of samples of the Monte-Carlo methods.
    seed : int, default=1
        Seed of the samples.
    of : str, default="y"
        What the quantiles are of: "y", a new observation; "mean", the mean of y (of classes their probabilities);
        or "link", the linear predictor (log odds, log rates, logits of classes). Those of the last two are
        credible: they are as wide as the posterior, without the noise.

    Examples
    --------
    >>> import bdl
    >>> model, q = bdl.Model.mlp([2, 1]), bdl.Posterior.full(3)
    >>> levels = [0.1, 0.9]
    >>> bdl.predict_quantiles(model, q, [[1.0, 2.0]], levels, "linearized").round(2)
    array([[[-3.39,  3.39]]])
    >>> bdl.predict_quantiles(model, q, [[1.0, 2.0]], levels, "linearized", of="mean").round(2)
    array([[[-3.14,  3.14]]])
    """
    return _asked(model, posterior, method, samples, seed).predict_quantiles(x, levels, of)


def predict_interval(
    model: Models,
    posterior: Posteriors,
    x: Any,
    probability: float = 0.95,
    method: str = "monte_carlo",
    samples: int = _SAMPLES,
    seed: int = _SEED,
    of: str = "y",
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the lower and upper limits of central intervals of y, its mean or link, each of shape (n, C).

    The noise is included in those of y, which need a likelihood of numbers.

    Parameters
    ----------
    model : Model or list of Model
        Model, or the members of a deep ensemble.
    posterior : Posterior or list of Posterior
        Posterior of the model, or of each member.
    x : array of shape (n, inputs)
        Inputs.
    probability : float, default=0.95
        Probability of the intervals.
    method : str, default="monte_carlo"
        How predictions average over the posterior, as for :func:`predict`.
    samples : int, default=500
        Number of samples of the Monte-Carlo methods.
    seed : int, default=1
        Seed of the samples.
    of : str, default="y"
        What the intervals are of: "y", "mean" or "link", as for :func:`predict_quantiles`.

    Examples
    --------
    >>> import bdl
    >>> model, q = bdl.Model.mlp([2, 1]), bdl.Posterior.full(3)
    >>> lower, upper = bdl.predict_interval(model, q, [[1.0, 2.0]], 0.9, "linearized")
    >>> lower.round(2), upper.round(2)
    (array([[-4.35]]), array([[4.35]]))
    >>> lower, upper = bdl.predict_interval(model, q, [[1.0, 2.0]], 0.9, "linearized", of="mean")
    >>> lower.round(2), upper.round(2)
    (array([[-4.03]]), array([[4.03]]))
    """
    return _asked(model, posterior, method, samples, seed).predict_interval(x, probability, of)


def predict_classes(
    model: Models, posterior: Posteriors, x: Any, method: str = "monte_carlo", samples: int = _SAMPLES, seed: int = _SEED
) -> ClassPrediction:
    """Returns class probabilities and their uncertainty, a :class:`bdl.ClassPrediction`.

    The probability of a Bernoulli model is that of y = 1.

    Parameters
    ----------
    model : Model or list of Model
        Model, or the members of a deep ensemble.
    posterior : Posterior or list of Posterior
        Posterior of the model, or of each member.
    x : array of shape (n, inputs)
        Inputs.
    method : str, default="monte_carlo"
        How predictions average over the posterior, as for :func:`predict`.
    samples : int, default=500
        Number of samples of the Monte-Carlo methods.
    seed : int, default=1
        Seed of the samples.

    Examples
    --------
    >>> import bdl
    >>> model = bdl.Model.mlp([2, 3], likelihood="categorical")
    >>> q = bdl.Posterior.full(9)
    >>> bdl.predict_classes(model, q, [[0.0, 0.0]]).probabilities.round(1)
    array([[0.3, 0.3, 0.3]])
    """
    return _asked(model, posterior, method, samples, seed).predict_classes(x)


def predict_log_density(
    model: Models, posterior: Posteriors, x: Any, y: Any, method: str = "monte_carlo", samples: int = _SAMPLES, seed: int = _SEED
) -> np.ndarray:
    """Returns log p(y_i | x_i) of each example, of shape (n,), in nats.

    It is -inf where the density is too small for a double.

    Parameters
    ----------
    model : Model or list of Model
        Model, or the members of a deep ensemble.
    posterior : Posterior or list of Posterior
        Posterior of the model, or of each member.
    x : array of shape (n, inputs)
        Inputs.
    y : array of shape (n, targets)
        Targets.
    method : str, default="monte_carlo"
        How predictions average over the posterior, as for :func:`predict`.
    samples : int, default=500
        Number of samples of the Monte-Carlo methods.
    seed : int, default=1
        Seed of the samples.

    Examples
    --------
    >>> import bdl
    >>> model, q = bdl.Model.mlp([2, 1]), bdl.Posterior.full(3)
    >>> bdl.predict_log_density(model, q, [[1.0, 2.0]], [3.0], "linearized").round(2)
    array([-2.53])
    """
    return _asked(model, posterior, method, samples, seed).predict_log_density(x, y)


def predict_draws(
    model: Models,
    posterior: Posteriors,
    x: Any,
    samples: int = _SAMPLES,
    seed: int = _SEED,
    method: str = "monte_carlo",
    of: str = "y",
) -> np.ndarray:
    """Returns random samples of y, noise included, of its mean or link, of shape (n, targets, samples).

    Sample k of all rows belongs to sample k of the parameters. Samples of classes are class numbers. A
    deep ensemble returns ``samples`` of each member, member by member.

    Parameters
    ----------
    model : Model or list of Model
        Model, or the members of a deep ensemble.
    posterior : Posterior or list of Posterior
        Posterior of the model, or of each member.
    x : array of shape (n, inputs)
        Inputs.
    samples : int, default=500
        Number of samples.
    seed : int, default=1
        Seed of the samples.
    method : str, default="monte_carlo"
        "monte_carlo", "linearized" or "linearized_monte_carlo".
    of : str, default="y"
        What is drawn: "y", "mean" or "link", as for :func:`predict_quantiles`. Samples of equal seed and method
        belong together. Means and links of classes have a column for each class.

    Examples
    --------
    >>> import bdl
    >>> model, q = bdl.Model.mlp([2, 1]), bdl.Posterior.full(3)
    >>> bdl.predict_draws(model, q, [[1.0, 2.0], [0.0, 0.0]], samples=100).shape
    (2, 1, 100)
    """
    return _asked(model, posterior, method, samples, seed).predict_draws(x, of)


def predict_log_likelihood(
    model: Models,
    posterior: Posteriors,
    x: Any,
    y: Any,
    samples: int = _SAMPLES,
    seed: int = _SEED,
    method: str = "monte_carlo",
) -> np.ndarray:
    """Returns log p(y_i | x_i, theta_s) of sample s of the parameters, of shape (samples, n), in nats.

    :func:`bdl.metrics.loo` and :func:`bdl.metrics.waic` compare models by these numbers.

    Parameters
    ----------
    model : Model or list of Model
        Model, or the members of a deep ensemble.
    posterior : Posterior or list of Posterior
        Posterior of the model, or of each member.
    x : array of shape (n, inputs)
        Inputs.
    y : array of shape (n, targets)
        Targets.
    samples : int, default=500
        Number of samples; of a deep ensemble, of each member.
    seed : int, default=1
        Seed of the samples.
    method : str, default="monte_carlo"
        "monte_carlo", "linearized" or "linearized_monte_carlo".

    Examples
    --------
    >>> import bdl
    >>> model, q = bdl.Model.mlp([2, 1]), bdl.Posterior.full(3)
    >>> bdl.predict_log_likelihood(model, q, [[1.0, 2.0], [0.0, 0.0]], [3.0, 1.0], samples=100).shape
    (100, 2)
    """
    return _asked(model, posterior, method, samples, seed).predict_log_likelihood(x, y)


def predict_output_distribution(model: Models, posterior: Posteriors, x: Any) -> tuple[np.ndarray, np.ndarray]:
    """Returns the means (n, C) and covariances (n, C, C) of the linearised model's outputs.

    The outputs are those before the likelihood and its noise.

    Parameters
    ----------
    model : Model or list of Model
        Model, or the members of a deep ensemble.
    posterior : Posterior or list of Posterior
        Posterior of the model, or of each member.
    x : array of shape (n, inputs)
        Inputs.

    Examples
    --------
    >>> import bdl
    >>> model, q = bdl.Model.mlp([2, 1]), bdl.Posterior.full(3)
    >>> bdl.predict_output_distribution(model, q, [[1.0, 2.0]])
    (array([[0.]]), array([[[6.]]]))
    """
    return _asked(model, posterior, "linearized", 0, 0).predict_output_distribution(x)


def predict_leverage(model: Models, posterior: Posteriors, x: Any) -> Leverage:
    """Returns leverages: how unlike the training rows each row is, a :class:`bdl.Leverage`.

    The leverage is the variance of the linearised model's outputs, for standardised targets, on average over
    the outputs. Divide it by its mean over the training rows: values far above 1 are unusual.

    Parameters
    ----------
    model : Model or list of Model
        Model, or the members of a deep ensemble.
    posterior : Posterior or list of Posterior
        Posterior of the model, or of each member.
    x : array of shape (n, inputs)
        Inputs.

    Examples
    --------
    >>> import bdl
    >>> model, q = bdl.Model.mlp([2, 1]), bdl.Posterior.full(3)
    >>> bdl.predict_leverage(model, q, [[1.0, 2.0], [0.0, 0.0]]).leverage
    array([6., 1.])
    """
    return _asked(model, posterior, "linearized", 0, 0).predict_leverage(x)
