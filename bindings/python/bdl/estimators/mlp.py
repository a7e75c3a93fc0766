"""Networks."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from ..model import Model
from ..optimizer import Optimizer
from ..predict import ClassPrediction, Prediction
from . import construction
from .base import PREDICTION_SEED, BayesianEstimator
from .classification import PredictsClasses
from .regression import PredictsNumbers


class _BayesianMLP(BayesianEstimator):
    """The parameters that networks have."""

    def __init__(
        self,
        hidden: int | Sequence[int] = (50,),
        *,
        activation: str = "relu",
        method: str = "slang-ggn",
        posterior: str = "auto",
        rank: int = 5,
        dropout: float | Sequence[float] = 0.1,
        epochs: int = 120,
        standardize: bool = True,
        dtype: str = "float64",
        random_state: Any = 1,
        samples: int = 500,
        prediction: str = "monte_carlo",
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


_PARAMETERS = """
    Parameters
    ----------
    hidden : int or sequence of int, default=(50,)
        Widths of the hidden layers.
    activation : str, default="relu"
        Of the hidden units: "identity", "relu", "leaky_relu", "elu", "gelu", "tanh", "sigmoid", "softplus" or "swish".
    method : str, default="slang-ggn"
        How the posterior is learned, one of ``bdl.methods()``. Those for streams learn each row once, in order, whatever
        ``epochs`` is.
    posterior : str, default="auto"
        Its family: "low_rank", "diagonal", "full", "full_moment", "diagonal_moment" or "dropout"; "auto" is the one that
        the method is for, "low_rank" if it takes any.
    rank : int, default=5
        Of a low-rank posterior.
    dropout : float or (float, float), default=0.1
        Rates of a dropout posterior: of the hidden units, or of the inputs and the hidden units.
    epochs : int, default=120
        Passes over the data.
    standardize : bool, default=True
        Whether the network sees inputs, and numeric targets, of mean 0 and standard deviation 1. Results are in the data's
        units in any case.
    dtype : str, default="float64"
        In which the network computes: "float64", "float32", or "auto" for that of the data.
    random_state : int, RandomState or None, default=1
        Seed of training. Equal seeds give equal numbers, in every language of the library.
    samples : int, default=500
        Draws of the posterior that predictions average over, the same ones at every call.
    prediction : str, default="monte_carlo"
        How they do so: "monte_carlo", "plug_in", "linearized_monte_carlo" or "linearized".
    options : dict, default=None
        Of training, by name: ``bdl.options()`` lists them.
    early_stopping : bool, default=False
        Whether to hold out data, to end when their log density has not improved for ``patience`` epochs, and to keep the
        best posterior. Training rows are copied. Epochs before Gaussian noise is learned do not count.
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


class BayesianMLPRegressor(RegressorMixin, PredictsNumbers, _BayesianMLP):
    __doc__ = f"""Regression by a Bayesian neural network with Gaussian noise, which is learned.

    >>> import bdl, numpy as np
    >>> X = np.linspace(-2, 2, 80)[:, np.newaxis]
    >>> y = np.sin(2 * X[:, 0]) + 0.1 * np.random.default_rng(1).normal(size=80)
    >>> regressor = bdl.BayesianMLPRegressor(epochs=200).fit(X, y)
    >>> regressor.score(X, y) > 0.9
    True
    >>> lower, upper = regressor.predict(X, interval=0.9)
    >>> bool(np.mean((lower < y) & (y < upper)) > 0.9)
    True
    {_PARAMETERS}"""

    def _encode(self, y: Any, known: bool, classes: Any = None) -> np.ndarray:
        return self._encode_numbers(y, known)

    def _likelihood(self) -> str:
        return "gaussian"

    def _outputs(self, targets: np.ndarray) -> int:
        return targets.shape[1]

    def predict(
        self, X: Any, return_std: bool = False, interval: float | None = None, quantiles: Any = None
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Means of y; or, on request, one of

        - ``return_std=True``: means and standard deviations, noise included,
        - ``interval=0.9``: lower and upper limits, between which y is with this probability,
        - ``quantiles=[0.1, 0.5]``: quantiles of y, one column per level.
        """
        return self._predict_numbers(X, return_std, interval, quantiles)

    def predict_uncertainty(self, X: Any) -> Prediction:
        """Mean of y, its variance from not knowing the parameters, and that of the noise."""
        return self._number_uncertainty(X)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = PREDICTION_SEED) -> np.ndarray:
        """Draws of y, noise included, in columns; each column is of one draw of the parameters."""
        return self._sample_numbers(X, n_samples, random_state)

    def _loaded(self) -> None:
        self._y_is_vector = self.model_.outputs == 1

    @classmethod
    def _accepts(cls, model: Model) -> bool:
        return model.likelihood == "gaussian"

    def _more_tags(self) -> dict[str, Any]:
        return {"multioutput": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class BayesianMLPClassifier(ClassifierMixin, PredictsClasses, _BayesianMLP):
    __doc__ = f"""Classification by a Bayesian neural network; labels may be of any type.

    >>> import bdl, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> X = np.vstack([rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + 4])
    >>> y = np.repeat(["left", "right"], 50)
    >>> classifier = bdl.BayesianMLPClassifier(hidden=(10,), epochs=60).fit(X, y)
    >>> classifier.predict([[0.0, 0.0], [4.0, 4.0]])
    array(['left', 'right'], dtype='<U5')
    >>> entropy = classifier.predict_uncertainty([[0.0, 0.0], [2.0, 2.0]]).entropy
    >>> bool(entropy[0] < entropy[1])
    True
    {_PARAMETERS}    classes_ : the labels
"""

    def _encode(self, y: Any, known: bool, classes: Any = None) -> np.ndarray:
        return self._encode_labels(y, known, classes)

    def _likelihood(self) -> str:
        return "bernoulli" if len(self.classes_) == 2 else "categorical"

    def _outputs(self, targets: np.ndarray) -> int:
        return self._class_outputs()

    def partial_fit(self, X: Any, y: Any, classes: Any = None, data_size: int | None = None) -> Any:
        """As the regressor's; the first call needs all ``classes`` that will come."""
        if classes is None and not self._is_fitted():
            raise ValueError("classes must be passed on the first call to partial_fit.")
        return self._learn_block(X, y, data_size, classes)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable labels."""
        return self._predict_labels(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, in the order of ``classes_``."""
        return self._probabilities(X)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Their logarithms."""
        return np.log(self._probabilities(X))

    def predict_uncertainty(self, X: Any) -> ClassPrediction:
        """Probabilities, their entropy, and the part of it that is due to not knowing the parameters, in nats."""
        return self._class_uncertainty(X)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = PREDICTION_SEED) -> np.ndarray:
        """Draws of labels, in columns; each column is of one draw of the parameters."""
        return self._sample_labels(X, n_samples, random_state)

    def _loaded(self) -> None:
        self._labels_loaded()

    @classmethod
    def _accepts(cls, model: Model) -> bool:
        return model.likelihood == "categorical" or (model.likelihood == "bernoulli" and model.outputs == 1)
