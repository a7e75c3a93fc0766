"""Models: a function of inputs and parameters, with a likelihood."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Sequence

import numpy as np

from . import arrays, labels, lowlevel, names
from .dataset import Dataset
from .errors import UnsupportedError
from .handle import Handle, to_bytes


class Block(NamedTuple):
    """A named part of the parameter vector, such as the weights of one layer.

    The block holds ``rows`` times ``cols`` values, row by row, from position ``offset`` on.

    >>> import bdl
    >>> block = bdl.Model.mlp([2, 1]).blocks[0]
    >>> block.name, block.offset, block.rows, block.cols
    ('layer0.weight', 0, 1, 2)
    """

    name: str
    offset: int
    rows: int
    cols: int


class Standardization(NamedTuple):
    """Means and scales by which a model standardises its data.

    The network receives ``(x - input_mean) / input_scale`` and returns
    ``(f - target_mean) / target_scale``.

    >>> import bdl
    >>> model = bdl.Model.mlp([2, 1])
    >>> model.standardization = [1.0, 2.0], [0.5, 0.5], [3.0], [10.0]
    >>> model.standardization.input_mean, model.standardization.input_scale
    (array([1., 2.]), array([0.5, 0.5]))
    >>> model.standardization.target_mean, model.standardization.target_scale
    (array([3.]), array([10.]))
    """

    input_mean: np.ndarray
    input_scale: np.ndarray
    target_mean: np.ndarray
    target_scale: np.ndarray


class Model(Handle):
    """A function f(x; theta) with a likelihood p(y | f).

    Create one by :meth:`mlp`, :meth:`network` (networks layer by layer) or :meth:`user` (your own
    function). A model holds no parameters: a :class:`Posterior` does. It does hold the noise, the
    standardisation of the data, and names.

    >>> import bdl
    >>> model = bdl.Model.mlp([6, 50, 1], activation="relu")
    >>> model
    Model.mlp([6, 50, 1], activation='relu', likelihood='gaussian', dtype='float64')
    >>> model.inputs, model.outputs, model.targets, model.parameters
    (6, 1, 1, 401)
    >>> model.likelihood, model.activation, model.dtype
    ('gaussian', 'relu', 'float64')
    """

    @classmethod
    def mlp(
        cls,
        sizes: Sequence[int],
        activation: str = "relu",
        likelihood: str = "gaussian",
        bias: bool = True,
        dtype: str = "float64",
    ) -> Model:
        """Returns a multilayer perceptron. Two sizes make a generalised linear model.

        Parameters
        ----------
        sizes : sequence of int
            Numbers of inputs, of units of each hidden layer, and of outputs. A model with
            heteroscedastic likelihood has two outputs for each target.
        activation : str, default="relu"
            Activation of the hidden units: "identity", "relu", "leaky_relu", "elu", "gelu", "tanh",
            "sigmoid", "softplus" or "swish".
        likelihood : str, default="gaussian"
            "gaussian", "heteroscedastic" (the network also learns the noise) or "student_t" (noise
            with outliers) for real numbers, "bernoulli" for 0 and 1, "categorical" for class numbers,
            "poisson" for counts. "probit" and "cloglog" are other links for 0 and 1, "negative_binomial" is for
            counts that vary more, "gamma" (log link) for positive numbers, "ordinal" for levels 0, 1, ... with one
            output (set :attr:`levels`).
        bias : bool, default=True
            Whether layers have biases.
        dtype : str, default="float64"
            Type of the computation, "float64" or "float32".

        Examples
        --------
        >>> import bdl
        >>> bdl.Model.mlp([3, 1], likelihood="bernoulli").parameters
        4
        """
        numbers = names.dtypes, names.activations, names.likelihoods
        dtype_number, activation_number, likelihood_number = (
            kind.number(word) for kind, word in zip(numbers, (dtype, activation, likelihood))
        )
        return cls._of(
            lowlevel.bdl_model_create_mlp(dtype_number, sizes, activation_number, bool(bias), likelihood_number)
        )

    @classmethod
    def network(cls, description: str, likelihood: str = "gaussian", dtype: str = "float64") -> Model:
        """Returns a network that a text describes, layer by layer.

        Parameters
        ----------
        description : str
            Layers in sequence, separated by semicolons or line breaks, from ``input 6`` (or
            ``input 3 32 32`` for images: channels, rows, columns) to the last layer. There are
            ``dense``, ``conv``, ``maxpool``, ``batchnorm``, ``dropout``, ``residual ... end``,
            activations and more. :mod:`bdl.networks` has the texts of published networks.
        likelihood : str, default="gaussian"
            As for :meth:`mlp`.
        dtype : str, default="float64"
            Type of the computation, "float64" or "float32".

        Examples
        --------
        >>> import bdl
        >>> layers = "input 6; dense 20; tanh; residual; dense 20; tanh; end; dense 1"
        >>> bdl.Model.network(layers).parameters
        581
        """
        numbers = names.dtypes.number(dtype), names.likelihoods.number(likelihood)
        return cls._of(lowlevel.bdl_model_create_network(numbers[0], description, numbers[1]))

    @classmethod
    def user(
        cls,
        outputs_function: Callable[[np.ndarray, np.ndarray], Any],
        gradients_function: Callable[[np.ndarray, np.ndarray, np.ndarray], Any] | None,
        inputs: int,
        outputs: int,
        parameters: int,
        likelihood: str = "gaussian",
        dtype: str = "float64",
    ) -> Model:
        """Returns a custom model: a simulator, a differential equation, a network of another library.

        An exception in one of the functions stops the call in progress, which raises it unchanged.

        Parameters
        ----------
        outputs_function : callable
            ``outputs_function(theta, x)`` returns the outputs f, of shape (n, outputs), for theta of
            shape (parameters,) and x of shape (n, inputs). It receives copies of the arrays.
        gradients_function : callable or None
            ``gradients_function(theta, x, seeds)`` returns an array of shape (n, parameters), whose
            row i is ``sum_c seeds[i, c] df_c(x_i) / dtheta``; seeds has the shape (n, outputs).
            With None, the model can predict but cannot be trained.
        inputs, outputs, parameters : int
            Number of columns of x, of outputs, and of parameters.
        likelihood : str, default="gaussian"
            As for :meth:`mlp`.
        dtype : str, default="float64"
            Type of theta, x and seeds, "float64" or "float32".

        Examples
        --------
        >>> import bdl, numpy as np
        >>> def line(theta, x):
        ...     return theta[0] * x + theta[1]
        >>> def gradients(theta, x, seeds):
        ...     return seeds * np.hstack([x, np.ones_like(x)])
        >>> model = bdl.Model.user(line, gradients, inputs=1, outputs=1, parameters=2)
        >>> model.evaluate([2.0, 1.0], [[3.0]])
        array([[7.]])
        """
        number = names.dtypes.number(dtype)

        def call_outputs(theta: memoryview, x: memoryview) -> np.ndarray:
            return _result(outputs_function(np.asarray(theta)[0], np.asarray(x)), dtype, outputs)

        def call_gradients(theta: memoryview, x: memoryview, seeds: memoryview) -> np.ndarray:
            rows = gradients_function(np.asarray(theta)[0], np.asarray(x), np.asarray(seeds))
            return _result(rows, dtype, parameters)

        callbacks = (call_outputs, None if gradients_function is None else call_gradients)
        return cls._of(
            lowlevel.bdl_model_create_user(
                number, inputs, outputs, parameters, names.likelihoods.number(likelihood), callbacks
            )
        )

    @property
    def parameters(self) -> int:
        """Number of parameters D."""
        return lowlevel.bdl_model_parameters(self._handle)

    @property
    def inputs(self) -> int:
        """Number of columns of x, without offsets."""
        return lowlevel.bdl_model_inputs(self._handle)

    @property
    def outputs(self) -> int:
        """Number of outputs C of the network."""
        return lowlevel.bdl_model_outputs(self._handle)

    @property
    def targets(self) -> int:
        """Number of columns of y without the weight, which is 1 for a categorical likelihood, C / 2 for a heteroscedastic one, else C."""
        return lowlevel.bdl_model_targets(self._handle)

    @property
    def row_weights(self) -> bool:
        """True if rows have weights: then y has one more column, the last one, wherever it is passed.

        A row of weight 2 counts as if it stood there twice, and a row of weight 0 as if it did not. With a Bernoulli
        likelihood the weight is a number of trials, and the target the share of successes, from 0 to 1. Set it before
        the model has an optimizer.

        >>> import bdl
        >>> model, q = bdl.Model.mlp([1, 1], likelihood="bernoulli"), bdl.Posterior.full(2)
        >>> model.row_weights = True
        >>> optimizer = bdl.Optimizer(model, q, "exact-full", data_size=3)
        >>> optimizer.fit([0.0, 1.0, 2.0], [[0.1, 59], [0.2, 60], [0.3, 62]], epochs=100)
        True
        """
        return bool(lowlevel.bdl_model_has_row_weights(self._handle))

    @row_weights.setter
    def row_weights(self, given: bool) -> None:
        lowlevel.bdl_model_set_row_weights(self._handle, bool(given))

    @property
    def offsets(self) -> int:
        """Number of offsets of a row, which are the last columns of x wherever it is passed; 0 if there are none.

        There is one for each output (for each target of a heteroscedastic model), which is added to it: in units of
        y for real numbers, the log of the exposure for counts. Set True or False before the model has an optimizer.

        >>> import bdl
        >>> model = bdl.Model.mlp([1, 1], likelihood="poisson")
        >>> model.offsets = True
        >>> model.offsets, model.inputs
        (1, 1)
        >>> model.evaluate([0.0, 3.0], [[5.0, 0.25]])
        array([[3.25]])
        """
        return lowlevel.bdl_model_offset_count(self._handle)

    @offsets.setter
    def offsets(self, given: bool) -> None:
        lowlevel.bdl_model_set_offsets(self._handle, bool(given))

    @property
    def dtype(self) -> str:
        """Type of the computation, "float64" or "float32"."""
        return names.dtypes.word(lowlevel.bdl_model_dtype(self._handle))

    @property
    def likelihood(self) -> str:
        """Name of the likelihood, such as "gaussian"."""
        return names.likelihoods.word(lowlevel.bdl_model_likelihood(self._handle))

    @property
    def description(self) -> str | None:
        """Layers of the network as :meth:`network` reads them; None for a custom model.

        >>> import bdl
        >>> print(bdl.Model.mlp([6, 50, 1]).description)
        input 6
        dense 50
        relu
        dense 1
        <BLANKLINE>
        """
        try:
            return lowlevel.bdl_model_description(self._handle)
        except UnsupportedError:
            return None

    @property
    def activation(self) -> str | None:
        """Activation of the hidden layers, "identity" if there are none.

        It is None for a custom model, and if the layers have different activations.
        """
        return names.activations.word(lowlevel.bdl_model_activation(self._handle))

    @property
    def blocks(self) -> list[Block]:
        """Blocks of the parameter vector, the weights and the bias of each layer, in order.

        >>> import bdl
        >>> [block.name for block in bdl.Model.mlp([2, 5, 1]).blocks]
        ['layer0.weight', 'layer0.bias', 'layer1.weight', 'layer1.bias']
        """
        count = lowlevel.bdl_model_block_count(self._handle)
        return [Block(*lowlevel.bdl_model_block(self._handle, index)) for index in range(count)]

    @property
    def means(self) -> int:
        """Number of columns of a prediction of y.

        It is the number of targets for a heteroscedastic model, and the number of outputs for others.

        >>> import bdl
        >>> bdl.Model.mlp([3, 20, 2], likelihood="heteroscedastic").means
        1
        """
        return self.targets if self.likelihood == "heteroscedastic" else self.outputs

    @property
    def noise_precision(self) -> np.ndarray:
        """Precision (1 / variance) of the noise of each target, in units of 1 / y^2; an array.

        Set one value for all targets, or one for each. Training learns the precision unless option
        ``learn_noise`` is 0. For a heteroscedastic model it is the precision where the network's log
        noise precision is 0; for Student-t noise it is 1 / scale^2. A new model has 1.

        >>> import bdl
        >>> model = bdl.Model.mlp([2, 1])
        >>> model.noise_precision = 4
        >>> model.noise_precision
        array([4.])
        """
        precision = arrays.empty(1, self.targets)
        lowlevel.bdl_model_get_noise_precision(self._handle, precision)
        return precision[0]

    @noise_precision.setter
    def noise_precision(self, precision: Any) -> None:
        lowlevel.bdl_model_set_noise_precision(self._handle, arrays.row(precision, "precision"))

    @property
    def degrees_of_freedom(self) -> float:
        """Degrees of freedom of Student-t noise, 0.1 to 1e6; the fewer, the more outliers.

        Training learns the number, between 1 and 1000, unless option ``learn_degrees_of_freedom`` is 0.
        With 2 or fewer, the noise has no variance.

        >>> import bdl
        >>> bdl.Model.mlp([2, 1], likelihood="student_t").degrees_of_freedom
        4.0
        """
        return lowlevel.bdl_model_get_degrees_of_freedom(self._handle)

    @degrees_of_freedom.setter
    def degrees_of_freedom(self, degrees: float) -> None:
        lowlevel.bdl_model_set_degrees_of_freedom(self._handle, degrees)

    @property
    def shape(self) -> float:
        """Shape of a negative binomial y, of variance mean + mean^2 / shape, or of a Gamma y, of variance mean^2 / shape.

        Training starts from what is set, or else from the moments of y, and learns it unless option ``learn_shape``
        is 0.

        >>> import bdl
        >>> model = bdl.Model.mlp([2, 1], likelihood="negative_binomial")
        >>> model.shape = 2.5
        >>> model.shape
        2.5
        """
        return lowlevel.bdl_model_get_shape(self._handle)

    @shape.setter
    def shape(self, shape: float) -> None:
        lowlevel.bdl_model_set_shape(self._handle, shape)

    @property
    def levels(self) -> int:
        """Number of levels of an ordinal y, 2 in a new model; 0 for other likelihoods.

        Setting it forgets the cut points.

        >>> import bdl
        >>> model = bdl.Model.mlp([2, 1], likelihood="ordinal")
        >>> model.levels = 4
        >>> model.cut_points.round(2)
        array([-1.1,  0. ,  1.1])
        """
        return lowlevel.bdl_model_level_count(self._handle)

    @levels.setter
    def levels(self, levels: int) -> None:
        lowlevel.bdl_model_set_levels(self._handle, levels)

    @property
    def cut_points(self) -> np.ndarray:
        """Ascending cut points c between the levels of an ordinal y: P(y <= k) = 1 / (1 + exp(f - c[k])).

        Training starts from what is set, or else from the shares of the levels, and learns them unless option
        ``learn_shape`` is 0. A model with biases keeps their mean, as that is the place of its intercept.

        >>> import bdl
        >>> model = bdl.Model.mlp([2, 1], likelihood="ordinal")
        >>> model.cut_points = [-1.0, 0.5]
        >>> model.levels
        3
        """
        cuts = arrays.empty(1, max(self.levels - 1, 1))
        lowlevel.bdl_model_get_cut_points(self._handle, cuts)
        return cuts[0]

    @cut_points.setter
    def cut_points(self, cut_points: Any) -> None:
        lowlevel.bdl_model_set_cut_points(self._handle, arrays.row(cut_points, "cut_points"))

    @property
    def classes(self) -> np.ndarray:
        """Numbers of the classes that y can have, of a categorical model; an array.

        Set at least two class numbers, or None for all outputs. Other classes have probability 0, and
        training ignores them. So one output layer can hold the classes of several tasks.

        >>> import bdl
        >>> model = bdl.Model.mlp([2, 4], likelihood="categorical")
        >>> model.classes = [2, 3]
        >>> found = bdl.predict_classes(model, bdl.Posterior.full(12), [[1.0, 2.0]])
        >>> found.probabilities.round(1)
        array([[0. , 0. , 0.5, 0.5]])
        >>> model.classes
        array([2, 3])
        """
        classes = arrays.empty(1, lowlevel.bdl_model_class_count(self._handle))
        lowlevel.bdl_model_get_classes(self._handle, classes)
        return classes[0].astype(int)

    @classes.setter
    def classes(self, classes: Any) -> None:
        lowlevel.bdl_model_set_classes(self._handle, None if classes is None else arrays.row(classes, "classes"))

    @property
    def input_names(self) -> list[str] | None:
        """Names of the columns of x, which are saved with the model; None if there are none.

        Set a list of names, or None to remove them.

        >>> import bdl
        >>> model = bdl.Model.mlp([2, 1])
        >>> model.input_names = ["length", "width"]
        >>> model.input_names
        ['length', 'width']
        """
        return labels.read_names(self._handle, lowlevel.BDL_INPUT, self.inputs)

    @input_names.setter
    def input_names(self, names: Any) -> None:
        labels.write_names(self._handle, lowlevel.BDL_INPUT, self.inputs, names, "input_names")

    @property
    def target_names(self) -> list[str] | None:
        """Names of the columns of y, which are saved with the model; None if there are none.

        Set a list of names, or None to remove them.

        >>> import bdl
        >>> model = bdl.Model.mlp([2, 1])
        >>> model.target_names = ["price"]
        >>> model.target_names
        ['price']
        """
        return labels.read_names(self._handle, lowlevel.BDL_TARGET, self.targets)

    @target_names.setter
    def target_names(self, names: Any) -> None:
        labels.write_names(self._handle, lowlevel.BDL_TARGET, self.targets, names, "target_names")

    @property
    def class_labels(self) -> np.ndarray | None:
        """Labels of the classes, in the order of their numbers; None if there are none.

        Labels are all texts, integers, real numbers or truth values. A categorical model has them, and a
        Bernoulli model with one output. They are saved with the model.

        >>> import bdl
        >>> model = bdl.Model.mlp([2, 1], likelihood="bernoulli")
        >>> model.class_labels = ["no", "yes"]
        >>> model.class_labels
        array(['no', 'yes'], dtype='<U3')
        """
        return labels.read_labels(self._handle, self._class_count)

    @class_labels.setter
    def class_labels(self, class_labels: Any) -> None:
        if class_labels is not None and not self._class_count:
            raise UnsupportedError(
                f"class_labels are for models of classes, this one is {self.likelihood} with {self.outputs} outputs: "
                f"create it with likelihood='categorical', 'ordinal', or 'bernoulli' and one output"
            )
        labels.write_labels(self._handle, self._class_count, class_labels)

    @property
    def _class_count(self) -> int:
        if self.likelihood == "ordinal":
            return self.levels
        if self.likelihood == "categorical":
            return self.outputs
        return 2 if self.likelihood in names.two_classes and self.outputs == 1 else 0

    @property
    def noise_covariance(self) -> np.ndarray:
        """Covariance of Gaussian noise between the outputs, of shape (C, C), in units of y^2.

        Setting it fixes the noise: training does not change it. Setting :attr:`noise_precision` ends that.

        >>> import bdl
        >>> model = bdl.Model.mlp([2, 2])
        >>> model.noise_covariance = [[1.0, 0.5], [0.5, 2.0]]
        >>> model.noise_covariance
        array([[1. , 0.5],
               [0.5, 2. ]])
        """
        covariance = arrays.empty(self.outputs, self.outputs)
        lowlevel.bdl_model_get_noise_covariance(self._handle, covariance)
        return covariance

    @noise_covariance.setter
    def noise_covariance(self, covariance: Any) -> None:
        lowlevel.bdl_model_set_noise_covariance(self._handle, arrays.matrix(covariance, "covariance"))

    @property
    def noise_degrees_of_freedom(self) -> np.ndarray:
        """Degrees of freedom of the estimate of Gaussian noise, one for each target.

        They are the number of rows less the effective number of parameters where a method ``exact-*`` has learned the
        noise of a linear model, and infinite elsewhere. Predictions and coefficients have Student's t distribution by them.

        >>> import bdl
        >>> bdl.Model.mlp([2, 1]).noise_degrees_of_freedom
        array([inf])
        """
        degrees = arrays.empty(1, self.targets)
        lowlevel.bdl_model_noise_degrees_of_freedom(self._handle, degrees)
        return degrees[0]

    @property
    def standardization(self) -> Standardization:
        """Means and scales by which the model standardises inputs and targets.

        Set a :class:`Standardization` or four vectors: input mean, input scale, target mean, target scale.
        None stands for means 0 or scales 1. Set it before training. Results are in the units of your data.

        >>> import bdl
        >>> model = bdl.Model.mlp([2, 1])
        >>> model.standardization = [1.0, 2.0], [0.5, 0.5], None, None
        >>> model.standardization.input_mean
        array([1., 2.])
        """
        parts = [arrays.empty(1, count) for count in 2 * (self.inputs,) + 2 * (self.means,)]
        lowlevel.bdl_model_get_standardization(self._handle, *parts)
        return Standardization(*(part[0] for part in parts))

    @standardization.setter
    def standardization(self, parts: Standardization | Sequence[Any]) -> None:
        given = (None if part is None else arrays.row(part, "standardization") for part in parts)
        lowlevel.bdl_model_set_standardization(self._handle, *given)

    def standardize(self, x: Any, y: Any = None) -> None:
        """Sets :attr:`standardization` to the means and standard deviations of the data.

        Parameters
        ----------
        x : array of shape (n, inputs), or Dataset
            Inputs, or a :class:`Dataset` in place of x and y. Each channel of images has one mean and scale.
        y : array of shape (n, targets), default=None
            Targets. They are standardised for likelihoods of real numbers only. NaN does not count.

        Examples
        --------
        >>> import bdl
        >>> model = bdl.Model.mlp([1, 1])
        >>> model.standardize([[1.0], [3.0]], [[10.0], [30.0]])
        >>> model.standardization.target_mean, model.standardization.target_scale
        (array([20.]), array([10.]))
        """
        if isinstance(x, Dataset):
            lowlevel.bdl_model_standardize_dataset(self._handle, x._alone(y))
            return
        y = None if y is None else arrays.matrix(y, "y")
        lowlevel.bdl_model_standardize(self._handle, arrays.matrix(x, "x"), y)

    def initialize(self, scheme: str = "uniform_fan_in", seed: int = 1) -> np.ndarray:
        """Returns random initial parameters of a network, of shape (D,).

        Optimizers initialise an uninitialised posterior themselves.

        Parameters
        ----------
        scheme : str, default="uniform_fan_in"
            Distribution of the weights: "uniform_fan_in", "xavier", "he", "he_fan_out" or "xavier_normal".
        seed : int, default=1
            Seed of the random numbers.

        Examples
        --------
        >>> import bdl
        >>> bdl.Model.mlp([2, 5, 1]).initialize("he", seed=3).shape
        (21,)
        """
        parameters = arrays.empty(1, self.parameters)
        lowlevel.bdl_model_initialize(self._handle, names.initializations.number(scheme), seed, parameters)
        return parameters[0]

    def evaluate(self, parameters: Any, x: Any) -> np.ndarray:
        """Returns the outputs f(x; theta), of shape (n, C).

        Parameters
        ----------
        parameters : array of shape (D,)
            Parameters theta.
        x : array of shape (n, inputs)
            Inputs.

        Examples
        --------
        >>> import bdl
        >>> bdl.Model.mlp([2, 1]).evaluate([1.0, 2.0, 3.0], [[10.0, 20.0]])
        array([[53.]])
        """
        x = arrays.matrix(x, "x")
        outputs = arrays.empty(len(x), self.outputs)
        lowlevel.bdl_model_evaluate(self._handle, arrays.row(parameters, "parameters"), x, outputs)
        return outputs

    @property
    def coefficient_count(self) -> int:
        """Number of coefficients of a generalised linear model: intercepts and slopes; 0 for other networks.

        >>> import bdl
        >>> bdl.Model.mlp([2, 1]).coefficient_count, bdl.Model.mlp([2, 5, 1]).coefficient_count
        (3, 0)
        """
        return lowlevel.bdl_model_coefficient_count(self._handle, -1)

    def coefficients(self, parameters: Any, base_class: int | None = None) -> np.ndarray:
        """Returns coefficients in the data's units, of shape (n, outputs, 1 + inputs): intercept, then slopes.

        The model needs to be a generalised linear one: a single dense layer. Without a bias there is no intercept.

        Parameters
        ----------
        parameters : array of shape (n, D) or (D,)
            Parameters, such as samples of a posterior.
        base_class : int, default=None
            Number of a class of a categorical model. Its coefficients are subtracted from those of the other
            classes, which are then the outputs: contrasts, which is all that probabilities depend on.

        Examples
        --------
        >>> import bdl
        >>> model = bdl.Model.mlp([2, 1])
        >>> model.standardization = None, [1.0, 10.0], None, None
        >>> model.coefficients([1.0, 20.0, 3.0])
        array([[[3., 1., 2.]]])
        """
        parameters, base = arrays.rows(parameters, "parameters"), -1 if base_class is None else base_class
        result = arrays.empty(len(parameters), lowlevel.bdl_model_coefficient_count(self._handle, base))
        lowlevel.bdl_model_coefficients(self._handle, base, parameters, result)
        return result.reshape(len(parameters), self.outputs - (base >= 0), -1)

    def log_likelihood(self, parameters: Any, x: Any, y: Any) -> np.ndarray:
        """Returns log p(y_i | x_i, theta) of each example, of shape (n,), in nats.

        Parameters
        ----------
        parameters : array of shape (D,)
            Parameters theta.
        x : array of shape (n, inputs)
            Inputs.
        y : array of shape (n, targets)
            Targets.

        Examples
        --------
        >>> import bdl
        >>> model, theta = bdl.Model.mlp([2, 1]), [1.0, 2.0, 3.0]
        >>> model.log_likelihood(theta, [[10.0, 20.0]], [53.0]).round(3)
        array([-0.919])
        """
        x, y = arrays.matrix(x, "x"), arrays.matrix(y, "y")
        result = arrays.empty(len(x), 1)
        lowlevel.bdl_model_log_likelihood(self._handle, arrays.row(parameters, "parameters"), x, y, result)
        return result[:, 0]

    def gradient_rows(self, parameters: Any, x: Any, y: Any) -> np.ndarray:
        """Returns the gradients of -log p(y_i | x_i, theta) by theta, of shape (n, D).

        Parameters
        ----------
        parameters : array of shape (D,)
            Parameters theta.
        x : array of shape (n, inputs)
            Inputs.
        y : array of shape (n, targets)
            Targets.

        Examples
        --------
        >>> import bdl
        >>> bdl.Model.mlp([2, 1]).gradient_rows([1.0, 2.0, 3.0], [[10.0, 20.0]], [54.0])
        array([[-10., -20.,  -1.]])
        """
        x, y = arrays.matrix(x, "x"), arrays.matrix(y, "y")
        rows = arrays.empty(len(x), self.parameters)
        lowlevel.bdl_model_gradient_rows(self._handle, arrays.row(parameters, "parameters"), x, y, rows)
        return rows

    def jacobian(self, parameters: Any, x: Any) -> np.ndarray:
        """Returns the derivatives of the outputs by the parameters, of shape (n, C, D).

        Parameters
        ----------
        parameters : array of shape (D,)
            Parameters theta.
        x : array of shape (n, inputs)
            Inputs.

        Examples
        --------
        >>> import bdl
        >>> bdl.Model.mlp([2, 1]).jacobian([1.0, 2.0, 3.0], [[10.0, 20.0]])
        array([[[10., 20.,  1.]]])
        """
        x = arrays.matrix(x, "x")
        jacobian = arrays.empty(len(x) * self.outputs, self.parameters)
        lowlevel.bdl_model_jacobian(self._handle, arrays.row(parameters, "parameters"), x, jacobian)
        return jacobian.reshape(len(x), self.outputs, self.parameters)

    def hessian_vector_product(self, parameters: Any, x: Any, y: Any, vectors: Any) -> np.ndarray:
        """Returns H v for each vector v, of shape (k, D), without forming H.

        H is the Hessian of the sum of -log p(y_i | x_i, theta) by theta. Networks with convolutions and
        custom models have no Hessians.

        Parameters
        ----------
        parameters : array of shape (D,)
            Parameters theta.
        x : array of shape (n, inputs)
            Inputs.
        y : array of shape (n, targets)
            Targets.
        vectors : array of shape (k, D) or (D,)
            One vector v a row.

        Examples
        --------
        >>> import bdl
        >>> model = bdl.Model.mlp([2, 1])
        >>> theta, vector = [1.0, 2.0, 3.0], [1.0, 0.0, 0.0]
        >>> model.hessian_vector_product(theta, [[10.0, 20.0]], [54.0], vector)
        array([[100., 200.,  10.]])
        """
        vectors = arrays.rows(vectors, "vectors")
        products = arrays.empty(*vectors.shape)
        lowlevel.bdl_model_hessian_vector_product(
            self._handle,
            arrays.row(parameters, "parameters"),
            arrays.matrix(x, "x"),
            arrays.matrix(y, "y"),
            vectors,
            products,
        )
        return products

    def hessian(self, parameters: Any, x: Any, y: Any) -> np.ndarray:
        """Returns the Hessian of the sum of -log p(y_i | x_i, theta) by theta, of shape (D, D).

        Parameters
        ----------
        parameters : array of shape (D,)
            Parameters theta.
        x : array of shape (n, inputs)
            Inputs.
        y : array of shape (n, targets)
            Targets.

        Examples
        --------
        >>> import bdl
        >>> bdl.Model.mlp([2, 1]).hessian([1.0, 2.0, 3.0], [[10.0, 20.0]], [54.0])
        array([[100., 200.,  10.],
               [200., 400.,  20.],
               [ 10.,  20.,   1.]])
        """
        hessian = arrays.empty(self.parameters, self.parameters)
        lowlevel.bdl_model_hessian(
            self._handle, arrays.row(parameters, "parameters"), arrays.matrix(x, "x"), arrays.matrix(y, "y"), hessian
        )
        return hessian

    def copy(self) -> Model:
        """Returns an independent copy. The copy of a custom model calls the same functions.

        >>> import bdl
        >>> model = bdl.Model.mlp([2, 1])
        >>> copy = model.copy()
        >>> copy.noise_precision = 9
        >>> model.noise_precision
        array([1.])
        """
        return Model._of(lowlevel.bdl_model_copy(self._handle))

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Model:
        return self.copy()

    def _check_picklable(self) -> None:
        if self.description is None:
            raise UnsupportedError("a custom model cannot be pickled: save what it has learned by bdl.save()")

    def _is_mlp(self) -> bool:
        """True if :meth:`mlp` makes such a network: dense layers and one kind of activation."""
        head, *lines = (line.split() for line in self.description.splitlines())
        return len(head) == 2 and {line[0] for line in lines} <= {"dense", self.activation}

    def __repr__(self) -> str:
        if self.closed:
            return "<closed Model>"
        common = f"likelihood={self.likelihood!r}, dtype={self.dtype!r})"
        description = self.description
        if description is None:
            return f"Model.user(inputs={self.inputs}, outputs={self.outputs}, parameters={self.parameters}, {common}"
        if not self._is_mlp():
            return f"Model.network({'; '.join(map(str.strip, description.splitlines()))!r}, {common}"
        weights = [block for block in self.blocks if block.name.endswith("weight")]
        sizes = [weights[0].cols] + [block.rows for block in weights]
        return f"Model.mlp({sizes}, activation={self.activation!r}, {common}"

    def __reduce__(self) -> Any:
        self._check_picklable()
        return _load_model, (to_bytes(self._handle, None, None),)


def _result(values: Any, dtype: str, columns: int) -> np.ndarray:
    """Returns the result of a user's function as rows; a vector is one column."""
    array = np.asarray(values, dtype=dtype)
    return array.reshape(-1, columns) if array.ndim < 2 else array


def _load_model(data: bytes) -> Model:
    return Model._of(lowlevel.bdl_load_bytes(data, None, True, False, False)[0])
