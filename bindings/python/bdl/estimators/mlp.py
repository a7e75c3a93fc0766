"""Parameters of networks."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from ..optimizer import Optimizer
from . import construction
from .base import BayesianEstimator


class BayesianMLP(BayesianEstimator):
    """The parameters that networks have."""

    def __init__(
        self,
        hidden: int | Sequence[int] = (50,),
        *,
        activation: str = "relu",
        method: str = "auto",
        posterior: str = "auto",
        prior: Any = None,
        rank: int = 5,
        dropout: float | Sequence[float] = 0.1,
        epochs: int = 120,
        standardize: bool = True,
        dtype: str = "float64",
        random_state: Any = 1,
        samples: int = 500,
        prediction: str = "auto",
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
        self.options = options
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.warm_start = warm_start
        self.verbose = verbose

    def _hidden(self) -> list[int]:
        return [self.hidden] if isinstance(self.hidden, (int, np.integer)) else list(self.hidden)

    @classmethod
    def _parameters_of(cls, optimizer: Optimizer) -> dict[str, Any]:
        shape = {"hidden": construction.hidden_of(optimizer.model), "activation": optimizer.model.activation}
        return {**super()._parameters_of(optimizer), **shape}


PARAMETERS = """
    Parameters
    ----------
    hidden : int or sequence of int, default=(50,)
        Widths of the hidden layers.
    activation : str, default="relu"
        Of the hidden units: "identity", "relu", "leaky_relu", "elu", "gelu", "tanh", "sigmoid", "softplus" or
        "swish".
    method : str, default="auto"
        How the posterior is learned, one of ``bdl.methods()``. Those for streams learn each row once, in order,
        whatever ``epochs`` is. "auto" is what ``bdl.suggest_method()`` says: in ``fit`` a method for batches ("slang" for
        classes, "slang-ggn" for numbers), in ``partial_fit`` one for streams ("lo-fi" for posteriors of low rank).
    posterior : str, default="auto"
        Its family: "low_rank", "diagonal", "full", "full_moment", "diagonal_moment", "layerwise_full" or "dropout";
        "auto" is the one that the method is for, "low_rank" if it takes any.
    prior : Posterior or Optimizer, default=None
        What is believed before these data: the posterior of a fit to others, with its mean and whole precision. Of
        another estimator's ``optimizer_`` the standardisation is taken, too. None: N(0, 1 / precision), learned.
    rank : int, default=5
        Of a low-rank posterior.
    dropout : float or (float, float), default=0.1
        Rates of a dropout posterior: of the hidden units, or of the inputs and the hidden units.
    epochs : int, default=120
        Passes over the data.
    standardize : bool, default=True
        Whether the network sees inputs, and numeric targets, of mean 0 and standard deviation 1. Results are in the
        data's units in any case.
    dtype : str, default="float64"
        In which the network computes: "float64", "float32", or "auto" for that of the data.
    random_state : int, RandomState or None, default=1
        Seed of training. Equal seeds give equal numbers, in every language of the library.
    samples : int, default=500
        Draws of the posterior that predictions average over, the same ones at every call.
    prediction : str, default="auto"
        How they do so: "monte_carlo", "plug_in", "linearized_monte_carlo" or "linearized". "auto" suits the method
        (``bdl.describe_method()``): "plug_in" for "map", "linearized" for "laplace", else "monte_carlo".
    options : dict, default=None
        Of training, by name: ``bdl.options()`` lists them.
    early_stopping : bool, default=False
        Whether to hold out data, to end when their log density has not improved for ``patience`` epochs, and to keep
        the best posterior. Training rows are copied. Epochs before Gaussian noise is learned do not count.
    validation_fraction : float, default=0.1
        Of the data, to hold out.
    patience : int, default=10
        Epochs without improvement.
    warm_start : bool, default=False
        Whether ``fit`` goes on from where training is.
    verbose : bool, default=False
        Whether to show a progress bar.

    Attributes
    ----------
    model_, posterior_, optimizer_ : the library's handles
    history_ : dict of lists: "epoch", "expected_log_likelihood", "kl", "elbo", "validation_log_density"
    n_iter_ : epochs of training
"""
