"""Base class of the estimators."""

from __future__ import annotations

import os
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
from .questions import AnswersQuestions
from .learning import Learns
from .novelty import KeepsLeverages
from .training import History
from .tuning import Tunes

# Predictions average over these draws, whatever training drew.
PREDICTION_SEED = int(defaults["seed"])


class BayesianEstimator(Learns, Tunes, KeepsLeverages, AnswersQuestions, BaseEstimator):
    """Base class of all estimators; ``optimizer_`` holds everything learned."""

    optimizer_: Optimizer
    history_: History
    others_: Sequence[Any] = ()
    n_features_in_: int

    # Methods in which the kinds of estimators differ.

    def _encode(self, y: Any, known: bool, classes: Any = None) -> np.ndarray:
        """Returns the targets as libbdl takes them; ``known``: encoded as in earlier calls."""
        raise NotImplementedError

    def _order_of(self, y: Any) -> Any:
        """Returns the classes in the order that y itself has; None if that does not matter."""
        return None

    def _likelihood(self, x: Any, targets: np.ndarray, stepwise: bool) -> str:
        raise NotImplementedError

    def _outputs(self, targets: np.ndarray) -> int:
        """Returns the number of outputs of the network, without log noise precisions."""
        raise NotImplementedError

    def _network(self, inputs: int, outputs: int, likelihood: str, dtype: str) -> Model:
        """Returns a new model: a generalised linear one, unless the estimator has hidden layers."""
        return Model.mlp([inputs, outputs], "identity", likelihood, dtype=dtype)

    def _is_linear(self) -> bool:
        return True

    def _rows(self, X: Any, known: bool) -> Any:
        """Returns X with one example per row; ``known``: of the shape of earlier calls."""
        return X

    # State of the estimator.

    def _is_fitted(self) -> bool:
        return hasattr(self, "optimizer_")

    @property
    def model_(self) -> Model:
        """Model of the estimator, a :class:`bdl.Model`.

        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> glm = bdl.BayesianGLM().fit(X, y)
        >>> glm.model_.inputs, glm.model_.likelihood
        (6, 'gaussian')
        """
        check_is_fitted(self, "optimizer_")
        return self.optimizer_.model

    @property
    def posterior_(self) -> Posterior:
        """Posterior over the parameters, a :class:`bdl.Posterior`.

        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> glm = bdl.BayesianGLM().fit(X, y)
        >>> glm.posterior_.dimension, glm.posterior_.family
        (7, 'full')
        """
        check_is_fitted(self, "optimizer_")
        return self.optimizer_.posterior

    def _refuse_of_members(self, what: str) -> None:
        if self.others_:
            raise UnsupportedError(f"{what} is of one posterior, but the estimator has {1 + len(self.others_)} members: set members=1")

    def sample_posterior(self, n_samples: int = 1, random_state: Any = PREDICTION_SEED) -> np.ndarray:
        """Returns random samples of the parameters, of shape (n_samples, D).

        The parameters are in the order of ``model_.blocks``, and belong to standardised data.

        Parameters
        ----------
        n_samples : int, default=1
            Number of samples.
        random_state : int, RandomState or None, default=1
            Seed of the samples.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> glm = bdl.BayesianGLM().fit(X, y)
        >>> glm.sample_posterior(100).shape
        (100, 7)
        """
        self._refuse_of_members("sample_posterior")
        return self.posterior_.sample(n_samples, construction.seed_of(random_state))

    def log_predictive_density(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> np.ndarray:
        """Returns log p(y_i | x_i, training data) of each example, of shape (n,), in nats.

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        y : array of shape (n,) or (n, targets)
            Targets, labels, or shares of successes.
        sample_weight : array of shape (n,), default=None
            Weights, by which log densities are multiplied. Of two classes they are numbers of trials, and the density
            is that of their successes together. Only for an estimator that was fitted with weights. None: 1.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of an estimator that was fitted with them. None: 0.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> glm = bdl.BayesianGLM().fit(X, y)
        >>> density = glm.log_predictive_density(X, y)
        >>> mean, standard_error = bdl.metrics.log_predictive_density(density)
        >>> print(round(mean, 1), round(standard_error, 2))
        -3.6 0.04
        """
        return predict_log_density(*self._handles(), *self._targets(X, y, sample_weight, offset), **self._how())

    def _targets(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Returns inputs and encoded targets of data to be judged."""
        check_is_fitted(self, "optimizer_")
        x, y = validated_data(self, self._rows(X, known=True), y, reset=False)
        return self._with_columns(x, self._encode(y, known=True), sample_weight, offset, known=True)

    def _handles(self) -> Any:
        if not self.others_:
            return self.model_, self.posterior_
        members = self._members()
        return [member.model_ for member in members], [member.posterior_ for member in members]

    def _members(self) -> list[Any]:
        check_is_fitted(self, "optimizer_")
        return [self, *self.others_]

    def _inputs(self, X: Any, offset: Any = None) -> np.ndarray:
        check_is_fitted(self, "optimizer_")
        return self._with_offsets(validated_inputs(self, self._rows(X, known=True)), offset)

    def _prediction(self) -> str:
        return self.optimizer_.prediction if self.prediction == "auto" else self.prediction

    def _how(self) -> dict[str, Any]:
        return {"method": self._prediction(), "samples": self.samples, "seed": PREDICTION_SEED}

    # Files.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes everything learned to a file, which every language of libbdl reads.

        The file holds the model with names of features and labels of classes, the posterior, and the state and
        options of training. It does not hold parameters for predictions (``samples``, ``prediction``) and for
        ``fit`` (``epochs``, ``standardize``, ``prior``, ``channels``, early stopping, ``warm_start``, ``verbose``).
        Pickle keeps all parameters and ``history_``. Pickle an ensemble (``members``), or save each member.

        Parameters
        ----------
        path : path
            File to write, in the safetensors format.

        Examples
        --------
        >>> import bdl, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "glm.safetensors")
        >>> bdl.BayesianGLM().fit([[0.0], [1.0], [2.0]], [1.0, 2.9, 5.2]).save(path)
        >>> os.path.exists(path)
        True
        """
        check_is_fitted(self, "optimizer_")
        self._refuse_of_members("a checkpoint")
        checkpoint.save(path, optimizer=self.optimizer_)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Any:
        """Returns an estimator from a file, ready to predict and to continue training.

        Parameters that the file does not hold (:meth:`save`) have their defaults: set ``samples`` and
        ``prediction`` again by ``set_params``. ``method`` and ``noise`` are "auto" if the saved ones are those that
        "auto" takes.

        Parameters
        ----------
        path : path
            File that ``save`` has written, in any language of libbdl.

        Examples
        --------
        >>> import bdl, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "glm.safetensors")
        >>> bdl.BayesianGLM().fit([[0.0], [1.0], [2.0]], [1.0, 2.9, 5.2]).save(path)
        >>> bdl.BayesianGLM.load(path).predict([[3.0]]).round(1)
        array([7.2])
        """
        optimizer = checkpoint.load(path).optimizer
        if optimizer is None or optimizer.model is None:
            raise ValueError(f"{os.fspath(path)!r} has no optimizer with a model: load files of handles by bdl.load()")
        if not cls._accepts(optimizer.model):
            raise ValueError(f"{os.fspath(path)!r} holds {optimizer.model}, which is not a model of {cls.__name__}: load it by the estimator that saved it, or by bdl.load()")
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
        """Returns parameters with which an estimator would train as this optimizer does."""
        return construction.parameters_of(optimizer)

    @classmethod
    def _accepts(cls, model: Model) -> bool:
        raise NotImplementedError

    def _loaded(self) -> None:
        """Sets attributes that a checkpoint does not have."""
        raise NotImplementedError
