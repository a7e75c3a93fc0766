"""Handles from an estimator's parameters."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from sklearn.utils import check_random_state

from ..dataset import Dataset
from ..errors import UnsupportedError, brief
from ..model import Model
from ..optimizer import Optimizer, Training, suggest_training
from ..posterior import Posterior
from ..tables import defaults, describe_method
from .priors import is_normal


def create_posterior(family: str, model: Model, rank: int, dropout: float | Sequence[float]) -> Posterior:
    """Returns a new posterior over a model's parameters."""
    if family == "low_rank":
        return Posterior.low_rank(model.parameters, min(rank, model.parameters), model.dtype)
    if family == "diagonal":
        return Posterior.low_rank(model.parameters, 0, model.dtype)
    if family == "dropout":
        rates = (defaults["input_rate"], dropout) if np.isscalar(dropout) else dropout
        if len(rates) != 2:
            raise ValueError(f"dropout is {brief(dropout)}, expected a rate, or those of inputs and hidden units")
        return Posterior.dropout(model, *rates)
    if family == "layerwise_full":
        return Posterior.layerwise_full(model)
    if family == "kronecker":
        return Posterior.kronecker(model)
    if family == "layerwise_low_rank_moment":
        return Posterior.layerwise_low_rank_moment(model, rank)
    if family == "low_rank_moment":
        return Posterior.low_rank_moment(model.parameters, rank, model.dtype)
    return getattr(Posterior, family)(model.parameters, model.dtype)


_RANKED = ("layerwise_low_rank_moment", "low_rank", "low_rank_moment")


def wanted_family(posterior: str, rank: int | None, method: str) -> str:
    """Returns the family that an estimator's parameters ask for: with a rank alone, one of the method's that has a rank.

    >>> wanted_family("auto", 3, "swag"), wanted_family("auto", 0, "auto")
    ('low_rank_moment', 'diagonal')
    """
    if rank is None or posterior != "auto":
        return posterior
    families = ("low_rank", "diagonal") if method == "auto" else describe_method(method).families
    if rank == 0 and "diagonal" in families:
        return "diagonal"
    return next((family for family in _RANKED if family in families), "low_rank")


def posterior_of(training: Training, model: Model, rank: int | None, dropout: Any, usual_dropout: Any) -> Posterior:
    """Returns a blank posterior of the suggested family. Fails if a rank or rates are given that it does not have."""
    family = training.family
    if rank is not None and family not in _RANKED and (family, rank) != ("diagonal", 0):
        raise UnsupportedError(f"rank is {rank}, but posterior {family!r} has no rank: leave rank out, or set posterior='low_rank'")
    if family != "dropout" and dropout != usual_dropout:
        raise UnsupportedError(f"dropout is {brief(dropout)}, but these are rates of posterior='dropout', and this is {family!r}: leave dropout out, or change posterior")
    return create_posterior(family, model, training.rank if rank is None else rank, dropout)


def resolve_dtype(dtype: str, X: np.ndarray) -> str:
    """Returns the type of the computation: "auto" is that of the data, "float32" for bytes, "float64" for a data set."""
    if dtype != "auto":
        return dtype
    if isinstance(X, Dataset):
        return "float64"
    return "float32" if X.dtype == np.uint8 else str(X.dtype)


def inputs_of(X: Any) -> int:
    """Returns the number of columns of x."""
    return X.inputs if isinstance(X, Dataset) else X.shape[1]


def targets_of(y: Any) -> int:
    """Returns the number of columns of y; the weights of a data set do not count."""
    return y.targets - y.row_weights if isinstance(y, Dataset) else y.shape[1]


def names_of(y: Any) -> list[str] | None:
    """Returns the names of the columns of a table or a series if all of them are texts."""
    names = list(y.columns) if hasattr(y, "columns") else [getattr(y, "name", None)]
    return names if names and all(isinstance(name, str) and name for name in names) else None


def seed_of(random_state: Any) -> int:
    """Returns a seed: an integer itself, or a random one for None and generators.

    >>> seed_of(7)
    7
    """
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return int(check_random_state(random_state).randint(2**31 - 1))


def family_of(posterior: Posterior) -> str:
    """Returns the family of a posterior by the words of the estimators.

    >>> family_of(Posterior.low_rank(3, 0))
    'diagonal'
    """
    return "diagonal" if (posterior.family, posterior.rank) == ("low_rank", 0) else posterior.family


def prior_of(prior: Any) -> Posterior | None:
    """Returns the posterior that an estimator's parameter ``prior`` is, or has; None for normal priors."""
    if is_normal(prior):
        return None
    if prior is None or isinstance(prior, Posterior):
        return prior
    if isinstance(prior, Optimizer):
        return prior.posterior
    raise TypeError(
        f"prior is a {type(prior).__name__}, expected bdl.normal(location, scale), a dict of them by name, a Posterior, "
        f"or another fit's optimizer_"
    )


def standardize(model: Model, x: np.ndarray, targets: np.ndarray, prior: Any) -> None:
    """Standardises by the data, or as the fit whose posterior is the prior did, so that parameters mean the same."""
    if not isinstance(prior, Optimizer):
        return model.standardize(x, None if isinstance(x, Dataset) else targets)
    parts = prior.model.standardization
    is_plain = np.all(parts.target_mean == 0) and np.all(parts.target_scale == 1)
    model.standardization = (*parts[:2], None, None) if is_plain else parts


def parameters_of(optimizer: Optimizer) -> dict[str, Any]:
    """Returns parameters of an estimator that would train as this optimizer does."""
    posterior, options = optimizer.posterior, optimizer.options
    usual = usual_options(optimizer)
    changed = {name: value for name, value in options.items() if value != usual[name] and name != "seed"}
    family = family_of(posterior)
    return {
        "method": "auto" if is_left_open(optimizer) else optimizer.method,
        "posterior": family,
        "rank": posterior.rank if family == "low_rank" else None,
        "dtype": optimizer.model.dtype,
        "random_state": options["seed"],
        "options": changed or None,
    }


def usual_options(optimizer: Optimizer) -> dict[str, Any]:
    """Returns the options of an estimator's training by the same method if its user sets none."""
    usual = Optimizer(optimizer.model, optimizer.posterior, optimizer.method, optimizer.data_size)
    usual.set_text(suggest_training(usual.model, usual.data_size, False, usual.method).options)
    return usual.options


def is_left_open(optimizer: Optimizer) -> bool:
    """True if the method is one that "auto" takes, for all data together or for blocks."""
    family = family_of(optimizer.posterior)
    try:
        taken = [suggest_training(optimizer.model, optimizer.data_size, in_blocks, family=family) for in_blocks in (False, True)]
    except UnsupportedError:  # "auto" learns no such posterior block by block
        return False
    return optimizer.method in [training.method for training in taken]


def hidden_of(model: Model) -> tuple[int, ...]:
    """Returns the numbers of units of a network's hidden layers."""
    weights = [block for block in model.blocks if block.name.endswith("weight")]
    return tuple(block.rows for block in weights[:-1])
