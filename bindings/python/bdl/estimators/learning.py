"""Training of estimators, over epochs or block by block."""

from __future__ import annotations

import warnings
from inspect import signature
from typing import Any, Callable, Iterator

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from .. import labels
from ..dataset import Dataset
from ..errors import DivergedError, UnsupportedError
from ..handle import to_bytes
from ..model import Model
from ..optimizer import Optimizer, _load_optimizer, suggest_training
from ..posterior import Posterior
from ..tables import defaults, describe_method
from . import construction
from .compat import arrays_of, validated_data
from .priors import give, is_normal
from .progress import Bar
from .rows import Columns, TakesRows
from .training import Course, Validation, best_length, constant_score, lengths_of_courses


# Methods of which this process has said that they are baselines.
_cautioned: set[str] = set()

# Rows of a data set that a stream has in memory.
_READ_TOGETHER = 4096


class Learns(TakesRows):
    """Adds ``fit`` and ``partial_fit`` to BayesianEstimator, whose methods distinguish the kinds of estimators."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None) -> Any:
        """Trains on the data and returns the estimator.

        Ctrl-C and divergence (:class:`bdl.DivergedError`) keep what has been learned so far. Other problems of the
        result are reported as scikit-learn's ``ConvergenceWarning``.

        Parameters
        ----------
        X : array of shape (n, features), or Dataset
            Inputs, or a :class:`bdl.Dataset` in place of X and y.
        y : array of shape (n,) or (n, targets), default=None
            Targets or labels. With ``sample_weight``, numbers between 0 and 1 are shares of successes of a classifier
            of two classes, 0 and 1.
        sample_weight : array of shape (n,), default=None
            Weights: a row of weight 2 counts as if it stood there twice, a row of weight 0 as if it did not. For
            shares of successes they are the numbers of trials. A :class:`bdl.Dataset` has its own.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Numbers that are added to the outputs: to means, logits, or log rates (the log of the exposure).

        Examples
        --------
        >>> import bdl, numpy as np
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> glm = bdl.BayesianGLM().fit(X, y)
        >>> glm.optimizer_.method, glm.posterior_.family
        ('exact-full', 'full')
        >>> dose, killed = [[0.0], [1.0], [2.0]], np.array([6, 13, 18])
        >>> trials = np.array([59, 60, 62])
        >>> logistic = bdl.BayesianGLM("bernoulli")
        >>> logistic = logistic.fit(dose, killed / trials, sample_weight=trials)
        >>> logistic.coef_.round(1)
        array([[0.6]])
        """
        goes_on = self.warm_start and self._is_fitted()
        former = dict(vars(self))
        try:
            self._fit(X, y, goes_on, sample_weight, offset)
            self._train_others(lambda member: member.fit(X, y, sample_weight, offset))
            return self
        except DivergedError as error:
            self._keep_what_is_known(former, goes_on)
            raise DivergedError(f"{error}. {self._state(former, goes_on)}") from error
        except BaseException:
            self._keep_what_is_known(former, goes_on)
            raise

    def _keep_what_is_known(self, former: dict[str, Any], goes_on: bool) -> None:
        """Keeps, after a failure, what has been learned so far, or else the earlier fit."""
        has_learned = self._is_fitted() and self.optimizer_ is not former.get("optimizer_")
        if "optimizer_" in former and not goes_on and not has_learned:
            vars(self).clear()
            vars(self).update(former)

    def _state(self, former: dict[str, Any], goes_on: bool) -> str:
        """Returns a sentence about the state of the estimator after a failure."""
        if not self._is_fitted():
            return "The estimator is not fitted"
        if self.optimizer_ is former.get("optimizer_") and not goes_on:
            return "The estimator holds its former fit"
        return f"The estimator holds the posterior of epoch {self.optimizer_.progress.epoch:.4g}"

    def _fit(self, X: Any, y: Any, goes_on: bool, sample_weight: Any, offset: Any) -> None:
        names, order = construction.names_of(y), self._order_of(y)
        x, y = validated_data(self, self._rows(X, known=goes_on), y, reset=not goes_on)
        targets = self._encode(y, goes_on, order)
        x, targets = self._training_rows(x, targets, sample_weight, offset, goes_on)
        if not goes_on:
            self._start(x, targets, len(x), stepwise=False)
            self._name_columns(names)
        else:
            self._go_on(self._method_to_go_on(x, stepwise=False), len(x))
        vars(self).pop("leverages_", None)  # of a posterior that training changes
        self._train(x, targets)
        self._keep_leverages(x, targets)
        self._say_what_is_wrong(x, targets)

    def _train_others(self, train: Callable[[Any], Any]) -> None:
        """Trains the members of an ensemble after the first, which the estimator itself is."""
        if self.members == 1 and not self.others_:
            return
        shared = self._parameters_of_members()
        known, self.others_ = self.others_, ()
        for j in range(1, self.members):
            if j <= len(known):
                member = known[j - 1].set_params(**shared)
            else:
                member = type(self)(**shared, random_state=self.optimizer_["seed"] + j)
            self.others_ = (*self.others_, train(member))

    def _parameters_of_members(self) -> dict[str, Any]:
        """Returns the parameters that the members of an ensemble share."""
        return {name: value for name, value in self.get_params(deep=False).items() if name not in ("members", "random_state")}

    def _say_what_is_wrong(self, x: Any, targets: Any) -> None:
        message = self.optimizer_.diagnosis.message
        if not message and not isinstance(x, Dataset):
            message = self.optimizer_.diagnose_answers(x, targets)[1]
        if message:
            warnings.warn(message, ConvergenceWarning, stacklevel=4)

    def partial_fit(
        self, X: Any, y: Any, data_size: int | None = None, sample_weight: Any = None, offset: Any = None
    ) -> Any:
        """Learns from one block of data, each row once and in order, and returns the estimator.

        By default it learns as a filter. A ``method`` for batches takes one step on each minibatch instead. The
        first block determines the standardisation; filters take at least 20 rows for it. Targets must be finite:
        for missing ones call ``optimizer_.observe``.

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs of the block.
        y : array of shape (n,) or (n, targets)
            Targets of the block.
        data_size : int, default=None
            Number of examples in all blocks together, for methods for batches. None: that of the first block.
        sample_weight : array of shape (n,), default=None
            Weights of the rows, as for :meth:`fit`. None: 1 if the first block had weights.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of the rows, as for :meth:`fit`. None: 0 if the first block had offsets.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> glm = bdl.BayesianGLM().partial_fit(X[:200], y[:200])
        >>> glm = glm.partial_fit(X[200:], y[200:])
        >>> glm.optimizer_.method, glm.optimizer_.prequential.count
        ('ekf', 308)
        """
        return self._learn_block(X, y, data_size, sample_weight, offset)

    def _learn_block(
        self, X: Any, y: Any, data_size: int | None, sample_weight: Any, offset: Any, classes: Any = None
    ) -> Any:
        goes_on, names = self._is_fitted(), construction.names_of(y)
        classes = self._order_of(y) if classes is None else classes
        x, y = arrays_of(self, X if isinstance(X, Dataset) else self._rows(X, known=goes_on), y, not goes_on, "partial_fit")
        targets = self._encode(y, known=goes_on, classes=classes)
        x, targets = self._training_rows(x, targets, sample_weight, offset, goes_on, may_count=False)
        if not goes_on:
            self._start(x, targets, data_size or len(x), stepwise=True)
            self._name_columns(names)
        else:
            method = self._method_to_go_on(x, stepwise=True)
            if method != self.optimizer_.method:
                self._go_on(method, data_size or len(x))
        try:
            self._take_steps(x, targets)
        finally:
            self._conclude()
        self._keep_last_leverages(x, targets)
        arguments = {} if classes is None else {"classes": classes}
        arguments.update(data_size=data_size, sample_weight=sample_weight, offset=offset)
        self._train_others(lambda member: member.partial_fit(X, y, **arguments))
        return self

    def _start(self, x: np.ndarray, targets: np.ndarray, data_size: int, stepwise: bool) -> None:
        """Creates new handles in place of earlier ones."""
        if self.members < 1:
            raise ValueError(f"members is {self.members}, expected at least 1")
        if self.members > 1 and self._is_linear():
            raise UnsupportedError(f"members is {self.members}, but a generalised linear model has one optimum for all seeds: set members=1")
        if stepwise and self.method != "auto":
            self._warn_of_single_steps()
        optimizer = self._blank_optimizer(x, targets, data_size, stepwise)
        self._start_noise(optimizer, x, targets)
        self._warn_of_baseline(optimizer.method)
        self.optimizer_ = optimizer
        self.history_, self.others_ = {}, ()

    def _start_noise(self, optimizer: Optimizer, x: np.ndarray, targets: np.ndarray) -> None:
        has_offsets = optimizer.model.offsets and not isinstance(x, Dataset)  # they stand in x
        optimizer.start_noise(Dataset(x, targets) if has_offsets else targets)

    def _name_columns(self, targets: list[str] | None) -> None:
        """Sets names of features and targets, and labels of classes of a type that files can hold."""
        model, features = self.optimizer_.model, getattr(self, "feature_names_in_", None)
        if features is not None:
            model.input_names = features
        if targets is not None and len(targets) == model.targets:
            model.target_names = targets
        if hasattr(self, "classes_") and labels.type_of(self.classes_) is not None:
            model.class_labels = self.classes_

    def _blank_optimizer(self, x: np.ndarray, targets: np.ndarray, data_size: int, stepwise: bool) -> Optimizer:
        model = self._blank_model(x, targets, self._likelihood(x, targets, stepwise))
        posterior, method = self._blank_posterior(model, len(x), stepwise)
        learns_scales = stepwise and describe_method(method).is_stream and not isinstance(self.prior, Optimizer)
        if self.standardize and not learns_scales:
            construction.standardize(model, x, targets, self.prior)
        return self._optimizer(model, posterior, method, data_size)

    def _blank_model(self, x: np.ndarray, targets: np.ndarray, likelihood: str) -> Model:
        columns = self._columns
        outputs = self._outputs(columns.targets_alone(targets)) * (2 if likelihood == "heteroscedastic" else 1)
        inputs = construction.inputs_of(x) - columns.offsets
        return columns.set_in(self._network(inputs, outputs, likelihood, construction.resolve_dtype(self.dtype, x)))

    def _blank_posterior(self, model: Model, rows: int, stepwise: bool) -> tuple[Posterior, str]:
        """Returns a new posterior, and the method that is to learn it."""
        family = construction.wanted_family(self.posterior, self.rank, self.method)
        training = suggest_training(model, rows, stepwise, self.method, family)
        usual = defaults["hidden_rate"]
        return construction.posterior_of(training, model, self.rank, getattr(self, "dropout", usual), usual), training.method

    def _method_to_go_on(self, x: np.ndarray, stepwise: bool) -> str:
        """Returns the method of training so far, or for "auto" the one for this kind of training."""
        present = describe_method(self.optimizer_.method)
        if self.method != "auto" and not (stepwise and present.is_exact):
            return present.name
        return suggest_training(self.model_, len(x), stepwise, "auto", construction.family_of(self.posterior_)).method

    def _go_on(self, method: str, data_size: int) -> None:
        if (method, data_size) == (self.optimizer_.method, self.optimizer_.data_size):
            self._set_options(self.optimizer_)
            self._set_prior(self.optimizer_)
        else:
            self.optimizer_ = self._optimizer(self.model_, self.posterior_, method, data_size)

    def _warn_of_baseline(self, method: str) -> None:
        caution = describe_method(method).caution
        if caution and method not in _cautioned:
            _cautioned.add(method)
            warnings.warn(caution, stacklevel=5)

    def _warn_of_single_steps(self) -> None:
        kind = describe_method(self.method)
        if kind.is_stream or kind.is_exact or self._is_linear():
            return
        warnings.warn(
            f"partial_fit takes single steps of method {self.method!r}, and one pass of them is not a fit: pass the "
            f"data many times, or leave method='auto', which learns from each row once (lo-fi, vd-ekf or ekf)",
            ConvergenceWarning,
            stacklevel=5,
        )

    def _optimizer(self, model: Model, posterior: Posterior, method: str, data_size: int) -> Optimizer:
        seed = construction.seed_of(self.random_state)
        optimizer = Optimizer(model, posterior, method, data_size, seed=seed)
        self._set_options(optimizer)
        self._set_prior(optimizer)
        return optimizer

    def _set_options(self, optimizer: Optimizer) -> None:
        """Sets the options that suit the model, then the user's."""
        optimizer.set_text(suggest_training(optimizer.model, optimizer.data_size, False, optimizer.method).options)
        if not self.standardize:
            optimizer["stream_scales"] = "given"
        optimizer.set(**(self.options or {}))

    def _set_prior(self, optimizer: Optimizer) -> None:
        prior = construction.prior_of(self.prior)
        if prior is not None:
            optimizer.set_prior(prior)
        if is_normal(self.prior):
            features = getattr(self, "feature_names_in_", [f"x{i}" for i in range(optimizer.model.blocks[0].cols)])
            give(optimizer, self.prior, list(features), self._heads(optimizer.model.outputs))

    def _heads(self, outputs: int) -> list[str]:
        """Returns how the names of each output's coefficients begin."""
        if outputs == 1:
            return [""]
        return [f"{label}: " for label in getattr(self, "classes_", range(outputs))]

    def _train(self, x: np.ndarray, targets: np.ndarray) -> None:
        try:
            if describe_method(self.optimizer_.method).is_stream:
                self._observe_all(x, targets)
            else:
                self._take_course(x, targets)
        finally:
            self._conclude()

    def _take_course(self, x: np.ndarray, targets: np.ndarray) -> None:
        epochs = self._best_length(x, targets) if self.early_stopping else self.epochs
        bar = Bar(epochs, self.verbose)
        try:
            Course(self.history_, bar).run(self.optimizer_, x, targets, epochs)
        finally:
            bar.close()

    def _best_length(self, x: np.ndarray, targets: np.ndarray) -> int:
        """Returns the number of epochs that suits held-out data. Training is then as it was, so that it begins on all data."""
        untrained = to_bytes(None, None, self.optimizer_._handle)
        x, targets, validation = self._split(x, targets)

        def train(epochs: int) -> Optimizer:
            start = _load_optimizer(untrained, True)
            self.optimizer_ = self._optimizer(start.model, start.posterior, start.method, len(x))
            Course({}, Bar(epochs, False)).run(self.optimizer_, x, targets, epochs)
            return self.optimizer_

        try:
            epochs, tried = best_length(train, lengths_of_courses(self.patience, self.epochs), validation)
        except DivergedError:
            self.optimizer_ = _load_optimizer(untrained, True)
            raise
        self.optimizer_ = _load_optimizer(untrained, True)
        self.history_.update(tried)
        return epochs

    def _conclude(self) -> None:
        """Sets attributes after training, even if it failed; without any step, the estimator is not fitted."""
        if self.posterior_.is_blank:
            del self.optimizer_
        else:
            self._has_trained()

    def _has_trained(self) -> None:
        """Sets the attributes that are known after training."""
        self.n_iter_ = int(self.optimizer_.progress.epoch)

    def _split(self, x: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray, Validation]:
        if isinstance(x, Dataset):
            raise TypeError("early_stopping takes arrays, X is a data set: pass arrays, or set early_stopping=False")
        by_class = self._numbers_of_classes(targets)
        seed = construction.seed_of(self.random_state) % 2**32
        x, held, targets, held_targets = train_test_split(
            x, targets, test_size=self.validation_fraction, random_state=seed, stratify=by_class
        )
        return x, targets, Validation(held, held_targets, self._constant_score(x, targets, held, held_targets))

    def _numbers_of_classes(self, targets: np.ndarray) -> np.ndarray | None:
        """Returns the class of each row; None for numbers and for shares of successes."""
        numbers = Columns.of(self.model_).targets_alone(targets)
        return numbers.astype(int) if is_classifier(self) and np.all(numbers == np.round(numbers)) else None

    def _constant_score(self, x: np.ndarray, targets: np.ndarray, held: np.ndarray, held_targets: np.ndarray) -> float:
        columns = Columns.of(self.model_)
        weights = columns.weights(targets), columns.weights(held_targets)
        if is_classifier(self):
            return constant_score(columns.targets_alone(targets), columns.targets_alone(held_targets), len(self.classes_), *weights)
        known, asked = columns.targets_without_offsets(x, targets), columns.targets_without_offsets(held, held_targets)
        return constant_score(columns.targets_alone(known), columns.targets_alone(asked), None, *weights)

    def _take_steps(self, x: np.ndarray, targets: np.ndarray) -> None:
        if describe_method(self.optimizer_.method).is_stream:
            self._observe(x, targets)
            return
        for part in self._minibatches(len(x)):
            self.optimizer_.step(x[part], targets[part])

    def _observe_all(self, x: np.ndarray, targets: np.ndarray) -> None:
        if self.early_stopping:
            raise ValueError(f"early_stopping needs epochs, but method {self.method!r} is for streams: set early_stopping=False")
        if self.epochs != signature(type(self)).parameters["epochs"].default:
            message = f"epochs is {self.epochs}, but method {self.method!r} learns from each row once, whatever epochs is"
            warnings.warn(message, UserWarning, stacklevel=5)
        self._observe(x, targets)

    def _observe(self, x: Any, targets: Any) -> None:
        if isinstance(x, Dataset):
            for first in range(0, len(x), _READ_TOGETHER):
                self._observe(*x.read(range(first, min(first + _READ_TOGETHER, len(x)))))
            return
        log_density, weights = self.optimizer_.observe(x, targets), Columns.of(self.model_).weights(targets)
        weights = np.ones(len(x)) if weights is None else weights
        mean = np.sum(log_density[weights > 0]) / np.sum(weights) if np.any(weights) else np.nan
        self.history_.setdefault("log_density", []).append(float(mean))

    def _minibatches(self, rows: int) -> Iterator[slice]:
        """Returns slices of nearly equal size, as fit has them, in order."""
        count = -(-rows // self.optimizer_.minibatch)
        return (slice(i * rows // count, (i + 1) * rows // count) for i in range(count))
