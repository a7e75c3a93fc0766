"""Normal priors by the names of coefficients, or of layers and features of networks."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError, ShapeError, brief
from ..model import Model
from ..optimizer import Optimizer
from ..prior import Normal

INTERCEPT = "intercept"


def is_normal(prior: Any) -> bool:
    """Whether it is a normal prior, or several by name."""
    return isinstance(prior, (Normal, Mapping))


def give(optimizer: Optimizer, prior: Normal | Mapping[str, Normal], features: list[str], heads: list[str]) -> None:
    """Sets the priors of a model with these features; `heads` begin the names of several outputs' coefficients.

    >>> import bdl
    >>> glm = bdl.BayesianGLM().fit([[0.0], [1.0], [2.0]], [1.0, 2.9, 5.0])
    >>> give(glm.optimizer_, {"x0": bdl.normal(2, 0.1)}, ["x0"], [""])
    >>> glm.optimizer_.coefficient_prior.scale[0, 1:]
    array([0.1])
    """
    model = optimizer.model
    means = model.outputs // 2 if model.likelihood == "heteroscedastic" else model.outputs
    if model.coefficient_count > 0:
        places = _coefficients(model, features, heads[:means], means)
        terms = model.coefficient_count // model.outputs
        shape, whole = (model.outputs, terms), (slice(means), slice(terms - len(features), None))
    else:
        places = _parameters(model, features)
        shape = (model.parameters,)
        whole = np.concatenate([_numbers(block) for block in model.blocks if not block.name.endswith("bias")])
    location, scale = np.zeros(shape), np.full(shape, np.nan)
    given = prior.items() if isinstance(prior, Mapping) else [(None, prior)]
    for name, normal in given:
        if not isinstance(normal, Normal):
            raise InvalidArgumentError(f"prior[{name!r}] is {brief(normal)}, expected bdl.normal(location, scale)")
        place = whole if name is None else _found(places, name)
        _fill(location, place, normal.location, name)
        _fill(scale, place, normal.scale, name)
    if model.coefficient_count > 0:
        optimizer.coefficient_prior = Normal(location, scale)
    else:
        optimizer.set_prior(Normal(location, scale))


def _found(places: dict[str, Any], name: str) -> Any:
    if name in places:
        return places[name]
    near = get_close_matches(str(name), places, 1, 0.5)
    if near:
        raise InvalidArgumentError(f"prior has the name {name!r}, which is unknown: did you mean {near[0]!r}?")
    known = ", ".join(repr(each) for each in list(places)[:10]) + (", ..." if len(places) > 10 else "")
    raise InvalidArgumentError(f"prior has the name {name!r}, expected one of: {known}")


def _fill(out: np.ndarray, place: Any, value: Any, name: str | None) -> None:
    try:
        out[place] = np.asarray(value, dtype=float)
    except ValueError:
        of = "prior" if name is None else f"prior[{name!r}]"
        raise ShapeError(f"{of} has {np.size(value)} numbers, expected 1 or {out[place].shape[-1]}") from None


def _coefficients(model: Model, features: list[str], heads: list[str], means: int) -> dict[str, Any]:
    """Returns where coefficients are in a matrix of outputs x (intercept, slopes)."""
    first = model.coefficient_count // model.outputs - len(features)  # 0 without an intercept
    columns = {INTERCEPT: 0} if first else {}
    columns |= {str(name): first + j for j, name in enumerate(features)}
    places = {name: (slice(means), column) for name, column in columns.items()}
    if len(heads) > 1:
        places |= {head + name: (c, column) for c, head in enumerate(heads) for name, column in columns.items()}
    return places


def _numbers(block: Any) -> np.ndarray:
    return np.arange(block.offset, block.offset + block.rows * block.cols)


def _parameters(model: Model, features: list[str]) -> dict[str, Any]:
    """Returns which parameters layers and their blocks have, and those that read a feature first."""
    places: dict[str, Any] = {}
    for block in model.blocks:
        layer = block.name.split(".")[0]
        places[layer] = np.concatenate([places.get(layer, np.empty(0, int)), _numbers(block)])
        places[block.name] = _numbers(block)
    first = model.blocks[0]
    if first.cols == len(features):
        by_input = _numbers(first).reshape(first.rows, first.cols)
        places |= {str(name): by_input[:, j] for j, name in enumerate(features)}
    return places

