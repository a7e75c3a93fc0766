"""Parameters of networks."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from ..model import Model
from ..optimizer import Optimizer
from ..tables import defaults
from . import construction
from .base import BayesianEstimator
from .parameters import COURSE, LEARNING


class BayesianMLP(BayesianEstimator):
    """Base class of multilayer perceptrons: their parameters."""

    def __init__(
        self,
        hidden: int | Sequence[int] = (int(defaults["hidden"]),),
        *,
        activation: str = "relu",
        method: str = "auto",
        posterior: str = "auto",
        prior: Any = None,
        rank: int | None = None,
        dropout: float | Sequence[float] = defaults["hidden_rate"],
        epochs: int = int(defaults["epochs"]),
        standardize: bool = True,
        dtype: str = "float64",
        random_state: Any = int(defaults["seed"]),
        samples: int = int(defaults["samples"]),
        prediction: str = "auto",
        members: int = 1,
        options: dict[str, Any] | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        patience: int = 10,
        warm_start: bool = False,
        verbose: bool = False,
    ):
        self.hidden = hidden
        self.activation = activation
        self.method = method
        self.posterior = posterior
        self.prior = prior
        self.rank = rank
        self.dropout = dropout
        self.epochs = epochs
        self.standardize = standardize
        self.dtype = dtype
        self.random_state = random_state
        self.samples = samples
        self.prediction = prediction
        self.members = members
        self.options = options
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.warm_start = warm_start
        self.verbose = verbose

    def _hidden(self) -> list[int]:
        return [self.hidden] if isinstance(self.hidden, (int, np.integer)) else list(self.hidden)

    def _network(self, inputs: int, outputs: int, likelihood: str, dtype: str) -> Model:
        return Model.mlp([inputs, *self._hidden(), outputs], self.activation, likelihood, dtype=dtype)

    def _is_linear(self) -> bool:
        return not self._hidden()

    @classmethod
    def _accepts(cls, model: Model) -> bool:
        return model._is_mlp()

    @classmethod
    def _parameters_of(cls, optimizer: Optimizer) -> dict[str, Any]:
        found = {"hidden": construction.hidden_of(optimizer.model), "activation": optimizer.model.activation}
        if optimizer.posterior.family == "dropout":
            found["dropout"] = optimizer.posterior.dropout_rates
        return {**super()._parameters_of(optimizer), **found}


PARAMETERS = f"""
    Parameters
    ----------
    hidden : int or sequence of int, default=(50,)
        Numbers of units of the hidden layers.
    activation : str, default="relu"
        Activation of the hidden units: "identity", "relu", "leaky_relu", "elu", "gelu", "tanh", "sigmoid",
        "softplus" or "swish".
    {LEARNING}
    dropout : float or (float, float), default=0.1
        For a dropout posterior: the rate of the hidden units, or the rates of inputs and hidden units.
    epochs : int, default=100
        Passes over the data.
    standardize : bool, default=True
        Whether libbdl standardises inputs, and numeric targets, inside the model. Results are in the
        units of your data in any case.
    dtype : str, default="float64"
        Type of the computation: "float64", "float32", or "auto" for that of the data.
    samples : int, default=500
        Number of posterior samples of predictions; the same samples at every call.
    {COURSE}"""
