"""What the estimators have in common: training by a library method, and what follows from the posterior alone."""

from __future__ import annotations

import os
from typing import Any, Iterator

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_is_fitted

from .. import checkpoint
from ..model import Model
from ..optimizer import Optimizer
from ..posterior import Posterior
from ..predict import predict_log_density
from . import construction
from .compat import validated_data, validated_inputs
from .progress import Bar
from .training import Course, History, Validation

# Predictions average over these draws, whatever training drew.
PREDICTION_SEED = 1


class BayesianEstimator(BaseEstimator):
    """The base of all estimators. ``optimizer_`` holds the library's handles, and with them everything learned;
    ``history_`` lists the ELBO and its parts by epoch."""

    optimizer_: Optimizer
    history_: History
    n_features_in_: int

    # What the kinds of estimators differ in.

    def _encode(self, y: Any, known: bool, classes: Any = None) -> np.ndarray:
        """The targets as the library takes them; ``known``: as those of former calls."""
        raise NotImplementedError

    def _likelihood(self) -> str:
        raise NotImplementedError

    def _outputs(self, targets: np.ndarray) -> int:
        raise NotImplementedError

    def _hidden(self) -> list[int]:
        return []

    def _method(self, x: np.ndarray, outputs: int, stepwise: bool) -> str:
        return self.method

    def _family(self, model: Model, method: str) -> str:
        return construction.family_for(method) if self.posterior == "auto" else self.posterior

    def _options(self, method: str) -> dict[str, Any]:
        return dict(self.options or {})

    # Training.

    def fit(self, X: Any, y: Any) -> Any:
        """Trains on the data: from the beginning, or with ``warm_start`` from where training is. Ctrl-C ends it with
        what has been learned so far."""
        goes_on = self.warm_start and self._is_fitted()
        x, y = validated_data(self, X, y, reset=not goes_on)
        targets = self._encode(y, known=goes_on)
        if not goes_on:
            self._start(x, targets, len(x), stepwise=False)
        elif self.optimizer_.data_size != len(x):
            self.optimizer_ = self._optimizer(self.model_, self.posterior_, self.optimizer_.method, len(x))
        self._train(x, targets)
        return self

    def partial_fit(self, X: Any, y: Any, data_size: int | None = None) -> Any:
        """Learns from a block of data in the order of its rows, once: by steps on minibatches, or as a filter where the
        method is for streams. ``data_size`` is the number of examples in all blocks together, which the first call
        needs where there are several; standardisation is the first block's."""
        return self._learn_block(X, y, data_size)

    def _learn_block(self, X: Any, y: Any, data_size: int | None, classes: Any = None) -> Any:
        goes_on = self._is_fitted()
        x, y = validated_data(self, X, y, reset=not goes_on)
        targets = self._encode(y, known=goes_on, classes=classes)
        if not goes_on:
            self._start(x, targets, data_size or len(x), stepwise=True)
        elif construction.is_exact(self.optimizer_.method):
            method = self._method(x, self.model_.outputs, stepwise=True)
            self.optimizer_ = self._optimizer(self.model_, self.posterior_, method, data_size or len(x))
        try:
            self._take_steps(x, targets)
        finally:
            self._conclude()
        return self

    def _start(self, x: np.ndarray, targets: np.ndarray, data_size: int, stepwise: bool) -> None:
        """Blank handles in place of any former ones."""
        outputs = self._outputs(targets)
        method = self._method(x, outputs, stepwise)
        sizes, dtype = [x.shape[1], *self._hidden(), outputs], construction.resolve_dtype(self.dtype, x)
        model = Model.mlp(sizes, getattr(self, "activation", "identity"), self._likelihood(), dtype=dtype)
        if self.standardize:
            model.standardize(x, targets)
        options = self._options(method)
        if stepwise or outputs > 1 or construction.is_stream(method) or construction.is_exact(method):
            construction.start_noise(model, targets, construction.noise_factor(options, method, self._hidden()))
        posterior = construction.create_posterior(
            self._family(model, method), model, self.rank, getattr(self, "dropout", 0.0)
        )
        self.optimizer_ = self._optimizer(model, posterior, method, data_size)
        self.history_ = {}

    def _optimizer(self, model: Model, posterior: Posterior, method: str, data_size: int) -> Optimizer:
        seed = construction.seed_of(self.random_state)
        return Optimizer(model, posterior, method, data_size, **{"seed": seed, **self._options(method)})

    def _train(self, x: np.ndarray, targets: np.ndarray) -> None:
        try:
            if construction.is_stream(self.optimizer_.method):
                self._observe_all(x, targets)
            else:
                self._take_course(x, targets)
        finally:
            self._conclude()

    def _take_course(self, x: np.ndarray, targets: np.ndarray) -> None:
        validation = None
        if self.early_stopping:
            x, targets, validation = self._split(x, targets)
        bar = Bar(self.epochs, self.verbose)
        course = Course(self.history_, bar, validation, self._first_counted())
        try:
            self._fit_handles(course, x, targets)
        finally:
            self.optimizer_ = course.best(self.optimizer_)
            bar.close()

    def _fit_handles(self, course: Course, x: np.ndarray, targets: np.ndarray) -> None:
        course.run(self.optimizer_, x, targets, self.epochs)

    def _conclude(self) -> None:
        """After training, also one that has failed or was interrupted: what it has not begun is not fitted."""
        if self.posterior_.is_blank:
            del self.optimizer_
        else:
            self._has_trained()

    def _has_trained(self) -> None:
        """What is known after training."""
        self.n_iter_ = int(self.optimizer_.progress.epoch)

    def _split(self, x: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray, Validation]:
        by_class = targets if targets.dtype == np.int32 else None
        seed = construction.seed_of(self.random_state) % 2**32
        x, held, targets, held_targets = train_test_split(
            x, targets, test_size=self.validation_fraction, random_state=seed, stratify=by_class
        )
        return x, targets, Validation(held, held_targets, self.patience)

    def _first_counted(self) -> float:
        """Densities mean little before the noise is learned."""
        optimizer = self.optimizer_
        learns_noise = optimizer.model.likelihood == "gaussian" and optimizer["learn_noise"]
        return optimizer.progress.epoch + (optimizer["learn_from"] * self.epochs if learns_noise else 0.0)

    def _take_steps(self, x: np.ndarray, targets: np.ndarray) -> None:
        if construction.is_stream(self.optimizer_.method):
            self._observe(x, targets)
            return
        for part in self._minibatches(len(x)):
            self.optimizer_.step(x[part], targets[part])

    def _observe_all(self, x: np.ndarray, targets: np.ndarray) -> None:
        if self.early_stopping:
            raise ValueError(f"early_stopping is for epochs, which method {self.method!r} for streams has none of")
        self._observe(x, targets)

    def _observe(self, x: np.ndarray, targets: np.ndarray) -> None:
        log_density = self.optimizer_.observe(x, targets)
        self.history_.setdefault("log_density", []).append(float(np.mean(log_density)))

    def _minibatches(self, rows: int) -> Iterator[slice]:
        """Of the size that fit takes, in order, nearly equal."""
        size = self.optimizer_["minibatch"] or min(max(self.optimizer_.data_size // 200, 10), 200)
        count = -(-rows // min(size, self.optimizer_.data_size))
        return (slice(i * rows // count, (i + 1) * rows // count) for i in range(count))

    # What is known.

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

    def sample_posterior(self, n_samples: int = 1, random_state: Any = PREDICTION_SEED) -> np.ndarray:
        """Draws of the parameters, one per row, in the order of ``model_.blocks``."""
        return self.posterior_.sample(n_samples, construction.seed_of(random_state))

    def log_predictive_density(self, X: Any, y: Any) -> np.ndarray:
        """log p(y_i | x_i) of each example given the training data, in nats and in y's units."""
        check_is_fitted(self, "optimizer_")
        x, y = validated_data(self, X, y, reset=False)
        return predict_log_density(*self._handles(), x, self._encode(y, known=True), **self._how())

    def _handles(self) -> tuple[Model, Posterior]:
        return self.model_, self.posterior_

    def _inputs(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "optimizer_")
        return validated_inputs(self, X)

    def _prediction(self) -> str:
        return self.prediction

    def _how(self) -> dict[str, Any]:
        return {"method": self._prediction(), "samples": self.samples, "seed": PREDICTION_SEED}

    # Files.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a checkpoint with everything learned, which every language of the library reads. Class labels and names
        of features are not in it, as pickles have them."""
        check_is_fitted(self, "optimizer_")
        checkpoint.save(path, optimizer=self.optimizer_)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Any:
        """An estimator of a checkpoint, ready to predict and to train on."""
        optimizer = checkpoint.load(path).optimizer
        if optimizer is None or optimizer.model is None:
            raise ValueError(f"{os.fspath(path)!r} has no optimizer with a model, expected a checkpoint of training")
        if not cls._accepts(optimizer.model):
            raise ValueError(f"{os.fspath(path)!r} holds {optimizer.model}, which is no model of {cls.__name__}")
        estimator = cls(**cls._parameters_of(optimizer))
        estimator.optimizer_, estimator.history_ = optimizer, {}
        estimator.n_features_in_ = optimizer.model.inputs
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
        """What a checkpoint does not say."""
        raise NotImplementedError
