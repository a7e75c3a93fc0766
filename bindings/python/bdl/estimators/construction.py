"""Handles from an estimator's parameters."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from sklearn.utils import check_random_state

from ..errors import InvalidArgumentError, UnsupportedError
from ..model import Model
from ..optimizer import Optimizer
from ..posterior import Posterior
from ..tables import describe_method

_CREATED = ("low_rank", "diagonal", "full", "full_moment", "diagonal_moment", "layerwise_full", "dropout")


def family_for(method: str) -> str:
    """The family of posteriors that a method is for: low-rank where it takes any, and where the method is open.

    >>> family_for("vogn"), family_for("slang-ggn"), family_for("auto")
    ('diagonal', 'low_rank', 'low_rank')
    """
    family = "any" if method == "auto" else describe_method(method).family
    return "low_rank" if family == "any" else family


def create_posterior(family: str, model: Model, rank: int, dropout: float | Sequence[float]) -> Posterior:
    """A blank posterior of a model's parameters."""
    if family == "low_rank":
        return Posterior.low_rank(model.parameters, min(rank, model.parameters), model.dtype)
    if family == "diagonal":
        return Posterior.low_rank(model.parameters, 0, model.dtype)
    if family == "dropout":
        rates = (0.0, dropout) if np.isscalar(dropout) else dropout
        return Posterior.dropout(model, *rates)
    if family == "layerwise_full":
        return Posterior.layerwise_full(model)
    if family not in _CREATED:
        raise InvalidArgumentError(f"posterior is {family!r}, expected one of: auto, {', '.join(_CREATED)}")
    return getattr(Posterior, family)(model.parameters, model.dtype)


def resolve_dtype(dtype: str, X: np.ndarray) -> str:
    """The type a model computes in: "auto" is that of the data."""
    return str(X.dtype) if dtype == "auto" else dtype


def seed_of(random_state: Any) -> int:
    """Integers are seeds as they are; None and generators draw one.

    >>> seed_of(7)
    7
    """
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return int(check_random_state(random_state).randint(2**31 - 1))


def noise_factor(options: dict[str, Any], method: str, hidden: Sequence[int]) -> float:
    """Gaussian noise precision at the start of training, in units of 1 / Var(y), as option "initial_noise_precision"
    has it: networks whose noise is learned start with little, so that the mean fits first."""
    learns = hidden and not describe_method(method).is_stream and options.get("learn_noise", 1)
    return options.get("initial_noise_precision") or (100.0 if learns else 1.0)


def start_noise(model: Model, targets: np.ndarray, factor: float) -> None:
    """Gives each target a Gaussian noise of its own, to be learned from there."""
    if model.likelihood in ("gaussian", "heteroscedastic", "student_t"):
        variance = np.var(targets, axis=0, dtype=np.float64)
        model.noise_precision = factor / np.where(variance > 0, variance, 1.0)


def set_to_prior(posterior: Posterior, precision: np.ndarray) -> None:
    """Belief before any data: mean 0 and the prior's precision."""
    mean = np.zeros(posterior.dimension)
    if posterior.family == "low_rank":
        posterior.set_low_rank(mean, np.zeros((len(mean), posterior.rank)) if posterior.rank else None, precision)
    elif posterior.family == "full":
        posterior.set_full(mean, np.diag(precision))
    elif posterior.family == "full_moment":
        posterior.set_full_moment(mean, np.diag(1 / precision))
    elif posterior.family == "diagonal_moment":
        posterior.set_diagonal_moment(mean, 1 / precision)
    else:
        raise UnsupportedError(f"a {posterior.family} posterior cannot be set to a prior")


def prior_of(prior: Any) -> Posterior | None:
    """The posterior that an estimator's parameter ``prior`` is, or has."""
    if prior is None or isinstance(prior, Posterior):
        return prior
    if isinstance(prior, Optimizer):
        return prior.posterior
    raise TypeError(f"prior is a {type(prior).__name__}, expected a Posterior, or another fit's optimizer_")


def standardize(model: Model, x: np.ndarray, targets: np.ndarray, prior: Any) -> None:
    """By the data, or as the fit whose posterior is the prior: parameters mean the same in both."""
    if not isinstance(prior, Optimizer):
        return model.standardize(x, targets)
    parts = prior.model.standardization
    is_plain = np.all(parts.target_mean == 0) and np.all(parts.target_scale == 1)
    model.standardization = (*parts[:2], None, None) if is_plain else parts


def parameters_of(optimizer: Optimizer) -> dict[str, Any]:
    """Parameters of an estimator that would train as this optimizer does."""
    model, posterior = optimizer.model, optimizer.posterior
    options = optimizer.options
    usual = Optimizer(model, posterior, optimizer.method, optimizer.data_size).options
    changed = {name: value for name, value in options.items() if value != usual[name] and name != "seed"}
    family = "diagonal" if (posterior.family, posterior.rank) == ("low_rank", 0) else posterior.family
    return {
        "method": optimizer.method,
        "posterior": family,
        "rank": posterior.rank if family == "low_rank" else 5,
        "dtype": model.dtype,
        "random_state": options["seed"],
        "options": changed or None,
    }


def hidden_of(model: Model) -> tuple[int, ...]:
    """Widths of a network's hidden layers."""
    weights = [block for block in model.blocks if block.name.endswith("weight")]
    return tuple(block.rows for block in weights[:-1])
