"""Models: what is learned."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Sequence

import numpy as np

from . import arrays, labels, lowlevel, names
from .dataset import Dataset
from .errors import UnsupportedError
from .handle import Handle, to_bytes


class Block(NamedTuple):
    """A named part of the parameter vector: ``rows`` x ``cols`` values, row by row, from ``offset`` on."""

    name: str
    offset: int
    rows: int
    cols: int


class Standardization(NamedTuple):
    """The network sees (x - input_mean) / input_scale and gives (f - target_mean) / target_scale."""

    input_mean: np.ndarray
    input_scale: np.ndarray
    target_mean: np.ndarray
    target_scale: np.ndarray


class Model(Handle):
    """A function f(x; theta) with a likelihood p(y | f): a network, or the user's own function.

    >>> import bdl
    >>> model = bdl.Model.mlp([6, 50, 1], activation="relu", likelihood="gaussian")
    >>> model.parameters
    401
    >>> model
    Model.mlp([6, 50, 1], activation='relu', likelihood='gaussian', dtype='float64')
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
        """A multilayer perceptron with layers of these sizes: inputs, hidden units ..., outputs.

        Two sizes make a generalised linear model.

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
        """A network of layers in sequence, one a line: ``input 6``, ``dense 50``, ``relu``, ``dropout 0.1``,
        ``batchnorm``, ``residual`` ... ``shortcut`` ... ``end``; of images ``input 3 32 32``, ``conv 16 5``, ``maxpool 2`` ...
        (docs/reference/networks.md). ``bdl.networks`` has published ones.

        >>> import bdl
        >>> model = bdl.Model.network("input 6; dense 20; tanh; residual; dense 20; tanh; end; dense 1")
        >>> model.parameters
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
        """A model of your own: a simulator, an ODE, a network of another library.

        ``outputs_function(theta, x)`` returns f of shape (M, outputs) for theta of shape (parameters,) and x of shape
        (M, inputs). ``gradients_function(theta, x, seeds)`` returns for each example i the row
        sum_c seeds[i, c] df_c(x_i) / dtheta, of shape (M, parameters); None allows predictions only. The arrays are
        copies. Exceptions end the call in progress and come out of it.

        >>> import bdl, numpy as np
        >>> model = bdl.Model.user(lambda theta, x: x * theta[0] + theta[1],
        ...                        lambda theta, x, seeds: seeds * np.hstack([x, np.ones_like(x)]),
        ...                        inputs=1, outputs=1, parameters=2)
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
        """Number of columns of x."""
        return lowlevel.bdl_model_inputs(self._handle)

    @property
    def outputs(self) -> int:
        """Number of outputs C."""
        return lowlevel.bdl_model_outputs(self._handle)

    @property
    def targets(self) -> int:
        """Number of columns of y: 1 for a categorical likelihood, else C."""
        return lowlevel.bdl_model_targets(self._handle)

    @property
    def dtype(self) -> str:
        return names.dtypes.word(lowlevel.bdl_model_dtype(self._handle))

    @property
    def likelihood(self) -> str:
        return names.likelihoods.word(lowlevel.bdl_model_likelihood(self._handle))

    @property
    def description(self) -> str | None:
        """The layers, as :meth:`network` reads them; None for a model of the user's own.

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
        """Activation of the layers, "identity" if there is none; None if they differ, and for a user model."""
        return names.activations.word(lowlevel.bdl_model_activation(self._handle))

    @property
    def blocks(self) -> list[Block]:
        """The parameter vector's parts: layer by layer the weights and the bias."""
        count = lowlevel.bdl_model_block_count(self._handle)
        return [Block(*lowlevel.bdl_model_block(self._handle, index)) for index in range(count)]

    @property
    def means(self) -> int:
        """Columns of a prediction of y: the outputs, or the targets of a heteroscedastic model."""
        return self.targets if self.likelihood == "heteroscedastic" else self.outputs

    @property
    def noise_precision(self) -> np.ndarray:
        """1 / variance of Gaussian noise, for each target; set one value for all, or one each. Heteroscedastic noise has it
        where the network's log noise precision is 0."""
        precision = arrays.empty(1, self.targets)
        lowlevel.bdl_model_get_noise_precision(self._handle, precision)
        return precision[0]

    @noise_precision.setter
    def noise_precision(self, precision: Any) -> None:
        lowlevel.bdl_model_set_noise_precision(self._handle, arrays.row(precision, "precision"))

    @property
    def degrees_of_freedom(self) -> float:
        """Degrees of freedom of Student-t noise, from which training learns them unless ``learn_degrees_of_freedom`` is 0."""
        return lowlevel.bdl_model_get_degrees_of_freedom(self._handle)

    @degrees_of_freedom.setter
    def degrees_of_freedom(self, degrees: float) -> None:
        lowlevel.bdl_model_set_degrees_of_freedom(self._handle, degrees)

    @property
    def classes(self) -> np.ndarray:
        """Class numbers that y is among, of a categorical model: all outputs, or those that were set; None sets all. The
        others have probability 0 and no part in training: one output layer holds a head for each task.

        >>> import bdl
        >>> model = bdl.Model.mlp([2, 4], likelihood="categorical")
        >>> model.classes = [2, 3]
        >>> bdl.predict_classes(model, bdl.Posterior.full(12), [[1.0, 2.0]], "plug_in").probabilities
        array([[0. , 0. , 0.5, 0.5]])
        """
        classes = arrays.empty(1, lowlevel.bdl_model_class_count(self._handle))
        lowlevel.bdl_model_get_classes(self._handle, classes)
        return classes[0].astype(int)

    @classes.setter
    def classes(self, classes: Any) -> None:
        lowlevel.bdl_model_set_classes(self._handle, None if classes is None else arrays.row(classes, "classes"))

    @property
    def input_names(self) -> list[str] | None:
        """Names of the columns of x, which are saved with the model; None: there are none. Set them by a list or None.

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
        """Names of the columns of y, as ``input_names``."""
        return labels.read_names(self._handle, lowlevel.BDL_TARGET, self.targets)

    @target_names.setter
    def target_names(self, names: Any) -> None:
        labels.write_names(self._handle, lowlevel.BDL_TARGET, self.targets, names, "target_names")

    @property
    def class_labels(self) -> np.ndarray | None:
        """Labels of the classes, by their numbers: text, integers, real numbers or truth values; of a categorical model, or of
        a Bernoulli one with one output. They are saved with the model; None: there are none.

        >>> import bdl
        >>> model = bdl.Model.mlp([2, 1], likelihood="bernoulli")
        >>> model.class_labels = ["no", "yes"]
        >>> model.class_labels
        array(['no', 'yes'], dtype='<U3')
        """
        return labels.read_labels(self._handle, self._class_count)

    @class_labels.setter
    def class_labels(self, class_labels: Any) -> None:
        labels.write_labels(self._handle, self._class_count, class_labels)

    @property
    def _class_count(self) -> int:
        if self.likelihood == "categorical":
            return self.outputs
        return 2 if (self.likelihood, self.outputs) == ("bernoulli", 1) else 0

    @property
    def noise_covariance(self) -> np.ndarray:
        """Covariance of Gaussian noise between the outputs, C x C."""
        covariance = arrays.empty(self.outputs, self.outputs)
        lowlevel.bdl_model_get_noise_covariance(self._handle, covariance)
        return covariance

    @noise_covariance.setter
    def noise_covariance(self, covariance: Any) -> None:
        lowlevel.bdl_model_set_noise_covariance(self._handle, arrays.matrix(covariance, "covariance"))

    @property
    def standardization(self) -> Standardization:
        """How the model standardises inputs and targets inside."""
        parts = [arrays.empty(1, count) for count in 2 * (self.inputs,) + 2 * (self.means,)]
        lowlevel.bdl_model_get_standardization(self._handle, *parts)
        return Standardization(*(part[0] for part in parts))

    @standardization.setter
    def standardization(self, parts: Standardization | Sequence[Any]) -> None:
        given = (None if part is None else arrays.row(part, "standardization") for part in parts)
        lowlevel.bdl_model_set_standardization(self._handle, *given)

    def standardize(self, x: Any, y: Any = None) -> None:
        """Sets the standardisation to the means and standard deviations of the columns of x and (Gaussian) y, or of the
        columns of a :class:`Dataset` in place of x."""
        if isinstance(x, Dataset):
            lowlevel.bdl_model_standardize_dataset(self._handle, x._alone(y))
            return
        y = None if y is None else arrays.matrix(y, "y")
        lowlevel.bdl_model_standardize(self._handle, arrays.matrix(x, "x"), y)

    def initialize(self, scheme: str = "uniform_fan_in", seed: int = 1) -> np.ndarray:
        """Initial parameters of a network."""
        parameters = arrays.empty(1, self.parameters)
        lowlevel.bdl_model_initialize(self._handle, names.initializations.number(scheme), seed, parameters)
        return parameters[0]

    def evaluate(self, parameters: Any, x: Any) -> np.ndarray:
        """Outputs f(x; theta), one row per example."""
        x = arrays.matrix(x, "x")
        outputs = arrays.empty(len(x), self.outputs)
        lowlevel.bdl_model_evaluate(self._handle, arrays.row(parameters, "parameters"), x, outputs)
        return outputs

    def log_likelihood(self, parameters: Any, x: Any, y: Any) -> np.ndarray:
        """log p(y_i | x_i, theta) of each example, in nats."""
        x, y = arrays.matrix(x, "x"), arrays.matrix(y, "y")
        result = arrays.empty(len(x), 1)
        lowlevel.bdl_model_log_likelihood(self._handle, arrays.row(parameters, "parameters"), x, y, result)
        return result[:, 0]

    def gradient_rows(self, parameters: Any, x: Any, y: Any) -> np.ndarray:
        """Gradients of -log p(y_i | x_i, theta) with respect to theta, one row per example."""
        x, y = arrays.matrix(x, "x"), arrays.matrix(y, "y")
        rows = arrays.empty(len(x), self.parameters)
        lowlevel.bdl_model_gradient_rows(self._handle, arrays.row(parameters, "parameters"), x, y, rows)
        return rows

    def jacobian(self, parameters: Any, x: Any) -> np.ndarray:
        """Derivatives of the outputs: element [i, c] is df_c(x_i; theta) / dtheta."""
        x = arrays.matrix(x, "x")
        jacobian = arrays.empty(len(x) * self.outputs, self.parameters)
        lowlevel.bdl_model_jacobian(self._handle, arrays.row(parameters, "parameters"), x, jacobian)
        return jacobian.reshape(len(x), self.outputs, self.parameters)

    def hessian_vector_product(self, parameters: Any, x: Any, y: Any, vectors: Any) -> np.ndarray:
        """H v for each row v, H the Hessian of the sum of -log p(y_i | x_i, theta)."""
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
        """Returns the Hessian itself, for few parameters."""
        hessian = arrays.empty(self.parameters, self.parameters)
        lowlevel.bdl_model_hessian(
            self._handle, arrays.row(parameters, "parameters"), arrays.matrix(x, "x"), arrays.matrix(y, "y"), hessian
        )
        return hessian

    def copy(self) -> Model:
        """An independent copy; that of a model of the user's own calls the same functions."""
        return Model._of(lowlevel.bdl_model_copy(self._handle))

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Model:
        return self.copy()

    def _check_picklable(self) -> None:
        if self.description is None:
            raise UnsupportedError("a model of the user's own cannot be pickled: bdl.save() keeps what it learned")

    def _is_mlp(self) -> bool:
        """Whether :meth:`mlp` makes it: dense layers and one kind of activations."""
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
