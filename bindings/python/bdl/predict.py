"""Predictive distributions of a model under a posterior, or of a deep ensemble: lists of both. All take the data x, a method and,
for Monte-Carlo methods, the number of samples and their seed (include/bdl/predict.h describes the methods). A ``Predictor`` takes
those once."""

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
    """n x C each (n x targets if heteroscedastic); the predictive variance is the sum of the two."""

    mean: np.ndarray
    epistemic_variance: np.ndarray
    noise_variance: np.ndarray


class ClassPrediction(NamedTuple):
    """Probabilities, and entropy and mutual information in nats (None where it has no formula)."""

    probabilities: np.ndarray
    entropy: np.ndarray
    mutual_information: np.ndarray | None


class Leverage(NamedTuple):
    """One number for each row; ``left_out``: what it would be without the row, if it is of the training data."""

    leverage: np.ndarray
    left_out: np.ndarray


class _Facts(NamedTuple):
    """Numbers on which the shapes of predictions depend."""

    means: int
    outputs: int
    targets: int
    likelihood: str
    has_variance: bool

    @classmethod
    def of(cls, model: Model, *others: Model) -> _Facts:
        likelihood = model.likelihood
        has_variance = likelihood != "student_t" or all(member.degrees_of_freedom > 2 for member in (model, *others))
        return cls(model.means, model.outputs, model.targets, likelihood, has_variance)


class _Predictions:
    """All predictions of a model by one method, however the library is asked."""

    _facts: _Facts
    _method: str
    _samples: int

    def _ask(self, what: str, data: tuple[np.ndarray, ...], *rest: Any) -> None:
        raise NotImplementedError

    def predict(self, x: Any) -> Prediction:
        """Mean of y, its variance from not knowing theta, and that of the noise."""
        x = arrays.matrix(x, "x")
        result = Prediction(*(arrays.empty(len(x), self._facts.means) for _ in range(3)))
        mean, epistemic, noise = result
        self._ask("moments", (x,), mean, epistemic, noise if self._facts.has_variance else None)
        if not self._facts.has_variance:
            noise.fill(np.inf)
        return result

    def predict_quantiles(self, x: Any, levels: Any) -> np.ndarray:
        """Quantiles of y, of shape (n, C, levels)."""
        x, levels = arrays.matrix(x, "x"), arrays.row(levels, "levels")
        quantiles = arrays.empty(len(x), self._facts.means * levels.shape[1])
        self._ask("quantiles", (x,), levels, quantiles)
        return quantiles.reshape(len(x), self._facts.means, levels.shape[1])

    def predict_interval(self, x: Any, probability: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper limits, n x C, between which y is with this probability."""
        x = arrays.matrix(x, "x")
        limits = arrays.empty(len(x), self._facts.means), arrays.empty(len(x), self._facts.means)
        self._ask("interval", (x,), probability, *limits)
        return limits

    def predict_classes(self, x: Any) -> ClassPrediction:
        """Class probabilities and their uncertainty: n x C, and for a categorical model n x 1 entropies."""
        x = arrays.matrix(x, "x")
        categorical = self._facts.likelihood == "categorical"
        columns = 1 if categorical else self._facts.outputs
        has_information = not (self._method == "linearized" and categorical)
        probabilities, entropy = arrays.empty(len(x), self._facts.outputs), arrays.empty(len(x), columns)
        information = arrays.empty(len(x), columns) if has_information else None
        self._ask("classes", (x,), probabilities, entropy, information)
        return ClassPrediction(probabilities, entropy, information)

    def predict_log_density(self, x: Any, y: Any) -> np.ndarray:
        """log p(y_i | x_i) of each example, in nats."""
        x, y = arrays.matrix(x, "x"), arrays.matrix(y, "y")
        result = arrays.empty(len(x), 1)
        self._ask("log_density", (x, y), result)
        return result[:, 0]

    def predict_draws(self, x: Any) -> np.ndarray:
        """Draws of y, of shape (n, targets, samples); of an ensemble those of each member in turn."""
        x = arrays.matrix(x, "x")
        draws = arrays.empty(len(x), self._facts.targets * self._samples)
        self._ask("draws", (x,), draws)
        return draws.reshape(len(x), self._facts.targets, self._samples)

    def predict_output_distribution(self, x: Any) -> tuple[np.ndarray, np.ndarray]:
        """Means (n, C) and covariances (n, C, C) of the linearised model's outputs."""
        x, outputs = arrays.matrix(x, "x"), self._facts.outputs
        mean, covariance = arrays.empty(len(x), outputs), arrays.empty(len(x), outputs * outputs)
        self._ask("output_distribution", (x,), mean, covariance)
        return mean, covariance.reshape(len(x), outputs, outputs)

    def predict_leverage(self, x: Any) -> Leverage:
        """The leverage of each row: over its mean on the training rows it says how unlike these a row is."""
        x = arrays.matrix(x, "x")
        leverage, left_out = arrays.empty(len(x), 1), arrays.empty(len(x), 1)
        self._ask("leverage", (x,), leverage, left_out)
        return Leverage(leverage[:, 0], left_out[:, 0])


class _Once(_Predictions):
    """A single prediction of a model and a posterior as they are."""

    def __init__(self, model: Model, posterior: Posterior, method: str, samples: int, seed: int):
        self._handles = capsule_of(model, Model, "model"), capsule_of(posterior, Posterior, "posterior")
        self._facts, self._method, self._samples = _Facts.of(model), method, samples
        self._how = names.predict_methods.number(method), samples, seed

    def _ask(self, what: str, data: tuple[np.ndarray, ...], *rest: Any) -> None:
        if what == "moments":
            lowlevel.bdl_predict(*self._handles, *data, *self._how, *rest)
        elif what == "draws":
            lowlevel.bdl_predict_draws_by(*self._handles, *data, *self._how, *rest)
        elif what in ("output_distribution", "leverage"):
            getattr(lowlevel, f"bdl_predict_{what}")(*self._handles, *data, *rest)
        else:
            getattr(lowlevel, f"bdl_predict_{what}")(*self._handles, *data, *self._how, *rest)


class Predictor(Handle, _Predictions):
    """Predictions of one model and posterior, or of a deep ensemble, by one method, again and again, a row at a time or many.

    It draws once and keeps its memory, so that predicting one row takes microseconds; each answer is exactly that of the
    function of the method's name. It is a snapshot: training that goes on changes no prediction, only those of the
    next predictor. Threads take one each.

    >>> import bdl
    >>> model, q = bdl.Model.mlp([2, 1]), bdl.Posterior.full(3)
    >>> predictor = bdl.Predictor(model, q, samples=100)
    >>> for row in [[1.0, 2.0]], [[0.5, -1.0]]:
    ...     assert (predictor.predict(row).mean == bdl.predict(model, q, row, samples=100).mean).all()

    Lists of models and posteriors are the members of a deep ensemble (Lakshminarayanan et al. 2017), each trained with another
    seed. Predictions are those of their equal mixture; member j draws with ``seed`` + j.

    >>> predictor = bdl.Predictor([model, model.copy()], [q, q.copy()], samples=100)
    >>> predictor
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
        number, is_one = names.predict_methods.number(method), isinstance(model, Model)
        models = [model] if isinstance(model, Model) else list(model)
        posteriors = [posterior] if is_one else list(posterior)  # type: ignore[arg-type]
        if len(models) != len(posteriors):
            raise InvalidArgumentError(f"there are {len(models)} models and {len(posteriors)} posteriors")
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
        raise UnsupportedError("a predictor cannot be pickled: model and posterior can")


def _asked(model: Models, posterior: Posteriors, method: str, samples: int, seed: int) -> _Predictions:
    if isinstance(model, Model) and isinstance(posterior, Posterior):
        return _Once(model, posterior, method, samples, seed)
    return Predictor(model, posterior, method, samples, seed)


def predict(
    model: Models, posterior: Posteriors, x: Any, method: str = "monte_carlo", samples: int = _SAMPLES, seed: int = _SEED
) -> Prediction:
    """Mean of y, its variance from not knowing theta, and that of the noise.

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
) -> np.ndarray:
    """Quantiles of y, of shape (n, C, levels)."""
    return _asked(model, posterior, method, samples, seed).predict_quantiles(x, levels)


def predict_interval(
    model: Models,
    posterior: Posteriors,
    x: Any,
    probability: float = 0.95,
    method: str = "monte_carlo",
    samples: int = _SAMPLES,
    seed: int = _SEED,
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper limits, n x C, between which y is with this probability."""
    return _asked(model, posterior, method, samples, seed).predict_interval(x, probability)


def predict_classes(
    model: Models, posterior: Posteriors, x: Any, method: str = "monte_carlo", samples: int = _SAMPLES, seed: int = _SEED
) -> ClassPrediction:
    """Class probabilities and their uncertainty: n x C, and for a categorical model n x 1 entropies."""
    return _asked(model, posterior, method, samples, seed).predict_classes(x)


def predict_log_density(
    model: Models, posterior: Posteriors, x: Any, y: Any, method: str = "monte_carlo", samples: int = _SAMPLES, seed: int = _SEED
) -> np.ndarray:
    """log p(y_i | x_i) of each example, in nats."""
    return _asked(model, posterior, method, samples, seed).predict_log_density(x, y)


def predict_draws(
    model: Models, posterior: Posteriors, x: Any, samples: int = _SAMPLES, seed: int = _SEED, method: str = "monte_carlo"
) -> np.ndarray:
    """Draws of y, of shape (n, targets, samples)."""
    return _asked(model, posterior, method, samples, seed).predict_draws(x)


def predict_output_distribution(model: Models, posterior: Posteriors, x: Any) -> tuple[np.ndarray, np.ndarray]:
    """Means (n, C) and covariances (n, C, C) of the linearised model's outputs."""
    return _asked(model, posterior, "linearized", 0, 0).predict_output_distribution(x)


def predict_leverage(model: Models, posterior: Posteriors, x: Any) -> Leverage:
    """The leverage of each row: the mean over the means of y (of classes, over the logits) of the variance of the linearised model's
    outputs, standardised. Over its mean on the training rows it says how unlike these a row is.

    >>> import bdl
    >>> model, q = bdl.Model.mlp([2, 1]), bdl.Posterior.full(3)
    >>> bdl.predict_leverage(model, q, [[1.0, 2.0], [0.0, 0.0]]).leverage
    array([6., 1.])
    """
    return _asked(model, posterior, "linearized", 0, 0).predict_leverage(x)
