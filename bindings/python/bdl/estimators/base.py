"""Base class of the estimators."""

from __future__ import annotations

import os
import warnings
from typing import Any, Sequence

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .. import checkpoint
from ..errors import UnsupportedError
from ..model import Model
from ..optimizer import Optimizer
from ..posterior import Posterior
from ..predict import predict_log_density
from ..tables import defaults
from . import construction
from .compat import validated_data, validated_inputs
from .learning import Learns
from .training import History
from .tuning import Tunes

# Predictions average over these draws, whatever training drew.
PREDICTION_SEED = int(defaults["seed"])


def no_covariance(optimizer: Optimizer) -> str:
    return f"method {optimizer.method!r} finds a point, which has no covariance: method 'laplace', or that by default, finds one"


def warn_of_point(estimator: BayesianEstimator, stacklevel: int = 3) -> None:
    """For methods of estimators whose results are NaN then."""
    if not estimator.posterior_.has_covariance:
        warnings.warn(f"NaN: {no_covariance(estimator.optimizer_)}", stacklevel=stacklevel)


class BayesianEstimator(Learns, Tunes, BaseEstimator):
    """The base of all estimators. ``optimizer_`` holds the library's handles, and with them everything learned;
    ``history_`` lists the ELBO and its parts by epoch."""

    optimizer_: Optimizer
    history_: History
    others_: Sequence[Any] = ()
    n_features_in_: int

    # Methods in which the kinds of estimators differ.

    def _encode(self, y: Any, known: bool, classes: Any = None) -> np.ndarray:
        """The targets as the library takes them; ``known``: as those of former calls."""
        raise NotImplementedError

    def _likelihood(self, x: Any, targets: np.ndarray, stepwise: bool) -> str:
        raise NotImplementedError

    def _outputs(self, targets: np.ndarray) -> int:
        """Outputs of the network besides log noise precisions."""
        raise NotImplementedError

    def _network(self, inputs: int, outputs: int, likelihood: str, dtype: str) -> Model:
        """A blank model: a generalised linear one, unless a kind of estimators has hidden layers."""
        return Model.mlp([inputs, outputs], "identity", likelihood, dtype=dtype)

    def _is_linear(self) -> bool:
        return True

    def _rows(self, X: Any, known: bool) -> Any:
        """X with one example per row; ``known``: as those of former calls."""
        return X

    # State of the estimator.

    def _is_fitted(self) -> bool:
        return hasattr(self, "optimizer_")

    @property
    def model_(self) -> Model:
        """The library's model."""
        check_is_fitted(self, "optimizer_")
        return self.optimizer_.model

    @property
    def posterior_(self) -> Posterior:
        """The library's posterior over the parameters."""
        check_is_fitted(self, "optimizer_")
        return self.optimizer_.posterior

    def _refuse_of_members(self, what: str) -> None:
        if self.others_:
            raise UnsupportedError(f"{what} is of one posterior, but the estimator has {1 + len(self.others_)} members: set members=1")

    def sample_posterior(self, n_samples: int = 1, random_state: Any = PREDICTION_SEED) -> np.ndarray:
        """Draws of the parameters, one per row, in the order of ``model_.blocks``."""
        self._refuse_of_members("sample_posterior")
        return self.posterior_.sample(n_samples, construction.seed_of(random_state))

    def log_predictive_density(self, X: Any, y: Any) -> np.ndarray:
        """log p(y_i | x_i) of each example given the training data, in nats and in y's units."""
        check_is_fitted(self, "optimizer_")
        x, y = validated_data(self, self._rows(X, known=True), y, reset=False)
        return predict_log_density(*self._handles(), x, self._encode(y, known=True), **self._how())

    def _handles(self) -> Any:
        if not self.others_:
            return self.model_, self.posterior_
        members = [self, *self.others_]
        return [member.model_ for member in members], [member.posterior_ for member in members]

    def _inputs(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "optimizer_")
        return validated_inputs(self, self._rows(X, known=True))

    def _prediction(self) -> str:
        return self.optimizer_.prediction if self.prediction == "auto" else self.prediction

    def _how(self) -> dict[str, Any]:
        return {"method": self._prediction(), "samples": self.samples, "seed": PREDICTION_SEED}

    # Files.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a checkpoint with everything learned, which every language of the library reads: also class labels that are
        text, numbers or truth values, and names of features.

        Of the parameters a file holds what training goes on by: the network, ``method``, ``posterior``, ``rank``,
        ``dropout``, ``dtype``, the seed, and ``options`` where they are not those that the method has by itself. It does not
        hold how to predict (``samples``, ``prediction``), nor what only ``fit`` asks for (``epochs``, ``standardize``,
        ``prior``, ``channels``, early stopping, ``warm_start``, ``verbose``). Pickle keeps all parameters, ``history_``, and ensembles
        (``members``), which are refused here."""
        check_is_fitted(self, "optimizer_")
        self._refuse_of_members("a checkpoint")
        checkpoint.save(path, optimizer=self.optimizer_)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Any:
        """An estimator of a checkpoint, ready to predict and to train on.

        Parameters that files do not hold (``save``) have their defaults: set ``samples`` and ``prediction`` again by
        ``set_params``. Files do not say either whether the method was named: one that "auto" takes, in ``fit`` or in
        ``partial_fit``, is "auto", so that training goes on as by default. Name it again where it was named. So with ``noise``: that of the file is "auto" where "auto" would be it."""
        optimizer = checkpoint.load(path).optimizer
        if optimizer is None or optimizer.model is None:
            raise ValueError(f"{os.fspath(path)!r} has no optimizer with a model, expected one of a trained estimator")
        if not cls._accepts(optimizer.model):
            raise ValueError(f"{os.fspath(path)!r} holds {optimizer.model}, which is not a model of {cls.__name__}")
        estimator = cls(**cls._parameters_of(optimizer))
        estimator.optimizer_, estimator.history_ = optimizer, {}
        estimator.n_features_in_ = optimizer.model.inputs
        names = optimizer.model.input_names
        if names is not None:
            estimator.feature_names_in_ = np.array(names, dtype=object)
        estimator._loaded()
        estimator._has_trained()
        return estimator

    @classmethod
    def _parameters_of(cls, optimizer: Optimizer) -> dict[str, Any]:
        """Parameters with which an estimator would train as this optimizer does."""
        return construction.parameters_of(optimizer)

    @classmethod
    def _accepts(cls, model: Model) -> bool:
        raise NotImplementedError

    def _loaded(self) -> None:
        """Attributes that a checkpoint does not have."""
        raise NotImplementedError
