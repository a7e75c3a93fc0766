"""Checkpoints: files that every language of libbdl reads."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from . import lowlevel
from .handle import Handle, capsule_of
from .model import Model
from .optimizer import Optimizer, _with_parts
from .posterior import Posterior


class Checkpoint(NamedTuple):
    """The parts that a file holds; None for the others.

    >>> import bdl, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> bdl.save(path, bdl.Model.mlp([2, 1]), bdl.Posterior.full(3))
    >>> found = bdl.load(path)
    >>> found.model.parameters, found.posterior.dimension, found.optimizer
    (3, 3, None)
    """

    model: Model | None
    posterior: Posterior | None
    optimizer: Optimizer | None


def save(
    path: str | os.PathLike[str],
    model: Model | Any | None = None,
    posterior: Posterior | None = None,
    optimizer: Optimizer | None = None,
) -> None:
    """Writes a model, a posterior or an optimizer to a file, which every language of libbdl reads.

    Parameters
    ----------
    path : path
        File to write, in the safetensors format. An older file is replaced only if writing succeeds.
    model : Model or estimator, default=None
        Model; or an estimator, which is saved as by its own ``save``, and needs no other argument.
    posterior : Posterior, default=None
        Posterior.
    optimizer : Optimizer, default=None
        Optimizer, with its own model and posterior. Loaded again, training goes on as if it never stopped.

    Examples
    --------
    >>> import bdl, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "q.safetensors")
    >>> bdl.save(path, posterior=bdl.Posterior.low_rank(4, 1))
    >>> bdl.load(path).posterior
    <Posterior low_rank: dimension=4, rank=1, dtype='float64'>
    """
    if hasattr(model, "save"):
        return _save_estimator(path, model, posterior, optimizer)
    parts = {"model": (model, Model), "posterior": (posterior, Posterior), "optimizer": (optimizer, Optimizer)}
    lowlevel.bdl_save(path, *(_capsule_or_none(part, kind, name) for name, (part, kind) in parts.items()))


def _save_estimator(path: str | os.PathLike[str], estimator: Any, *others: Handle | None) -> None:
    if any(other is not None for other in others):
        raise TypeError(f"a {type(estimator).__name__} is saved with its own posterior and optimizer: pass no others")
    estimator.save(path)


def _capsule_or_none(part: Any, kind: type[Handle], name: str) -> Any:
    return None if part is None else capsule_of(part, kind, name)


def load(path: str | os.PathLike[str], user_model: Model | None = None) -> Checkpoint:
    """Reads the file that :func:`save` or an estimator's ``save`` has written: a :class:`Checkpoint`.

    To get an estimator back, use its ``load``, such as ``bdl.BayesianMLPRegressor.load(path)``.

    Parameters
    ----------
    path : path
        File to read.
    user_model : Model, default=None
        The custom model, if the file belongs to one: its functions are not in the file.

    Examples
    --------
    >>> import bdl, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "glm.safetensors")
    >>> bdl.BayesianGLM().fit([[0.0], [1.0], [2.0]], [1.0, 2.9, 5.2]).save(path)
    >>> model, posterior, optimizer = bdl.load(path)
    >>> model.inputs, posterior.family, optimizer.method
    (1, 'full', 'exact-full')
    """
    has_model, needs_user_model, has_posterior, has_optimizer = lowlevel.bdl_checkpoint_parts(path)
    given = None if user_model is None else user_model._handle
    parts = lowlevel.bdl_load(path, given, has_model, has_posterior, has_optimizer)
    model = user_model if needs_user_model else Model._of(parts[0]) if has_model else None
    if has_optimizer:
        optimizer = _with_parts(model, *parts[1:])
        return Checkpoint(model, optimizer.posterior, optimizer)
    return Checkpoint(model, Posterior._of(parts[1]) if has_posterior else None, None)
