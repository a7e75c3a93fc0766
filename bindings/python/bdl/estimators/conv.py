"""Parameters of networks that are given by their layers, of images above all."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from .. import networks
from ..dataset import Dataset
from ..model import Model
from ..optimizer import Optimizer
from ..tables import defaults
from . import images
from .base import BayesianEstimator
from .parameters import COURSE, LEARNING


class BayesianConv(BayesianEstimator):
    """Base class of networks that are given by their layers: their parameters."""

    image_shape_: images.Shape | None

    def __init__(
        self,
        network: str | Sequence[str] = "lenet5",
        *,
        image_shape: Sequence[int] | None = None,
        channels: str = "auto",
        method: str = "auto",
        posterior: str = "auto",
        prior: Any = None,
        rank: int | None = None,
        epochs: int = int(defaults["image_epochs"]),
        standardize: bool = True,
        dtype: str = "float32",
        random_state: Any = int(defaults["seed"]),
        samples: int = int(defaults["image_samples"]),
        prediction: str = "auto",
        members: int = 1,
        options: dict[str, Any] | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        patience: int = 10,
        warm_start: bool = False,
        verbose: bool = False,
    ):
        self.network = network
        self.image_shape = image_shape
        self.channels = channels
        self.method = method
        self.posterior = posterior
        self.prior = prior
        self.rank = rank
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

    def _is_linear(self) -> bool:
        return False

    def _rows(self, X: Any, known: bool) -> Any:
        if isinstance(X, Dataset):
            return self._rows_of_dataset(X, known)
        rows = X if hasattr(X, "ndim") else np.asarray(X)
        shape = images.shape_of(rows, self.channels, self.image_shape_ if known else None)
        if shape is not None:
            rows = images.as_rows(rows, shape)
        elif rows.ndim == 2:
            shape = self.image_shape_ if known else None if self.image_shape is None else tuple(self.image_shape)
        if shape is not None and shape[1:] == (1, 1):
            shape = None  # one pixel: its channels are features
        if not known:
            self.image_shape_ = shape
        elif shape != self.image_shape_:
            raise ValueError(f"X has {_in_words(shape)}, expected {_in_words(self.image_shape_)} as in fit")
        return rows

    def _rows_of_dataset(self, data: Dataset, known: bool) -> Dataset:
        """Sets the shape of images from ``image_shape``, and returns the data set."""
        if not known:
            shape = None if self.image_shape is None else tuple(self.image_shape)
            self.image_shape_ = None if shape is not None and shape[1:] == (1, 1) else shape
        return data

    def _network(self, inputs: int, outputs: int, likelihood: str, dtype: str) -> Model:
        shape = self.image_shape_
        if shape is not None and inputs != np.prod(shape):
            raise ValueError(f"X has {inputs} columns, expected {np.prod(shape)} for {_in_words(shape)}")
        model = Model.network(self._description(inputs, outputs), likelihood, dtype)
        if model.outputs != outputs:
            raise ValueError(f"the network has {model.outputs} outputs, expected {outputs} for these y")
        if _shape_of(model) != shape or model.inputs != inputs:
            raise ValueError(f"the network is for {_in_words(_shape_of(model))}, X has {_in_words(shape)}")
        return model

    def _text(self) -> str:
        return self.network if isinstance(self.network, str) else "\n".join(self.network)

    def _is_whole(self) -> bool:
        """True if ``network`` has its ends, and so a number of outputs."""
        return self._text().split()[:1] == ["input"]

    def _description(self, inputs: int, outputs: int) -> str:
        """Returns the text of the whole network; ``network`` may be a name, or leave out the ends."""
        text, shape = self._text(), self.image_shape_
        if len(text.split()) == 1 and ";" not in text:
            if shape is None:
                raise ValueError(f"network {text!r} is for images, X is a matrix: pass image_shape=(channels, rows, columns)")
            return networks.description(text.strip(), shape, outputs)
        if self._is_whole():
            return text
        return f"input {inputs if shape is None else ' '.join(map(str, shape))}\n{text}\ndense {outputs}"

    @classmethod
    def _accepts(cls, model: Model) -> bool:
        return True

    @classmethod
    def _parameters_of(cls, optimizer: Optimizer) -> dict[str, Any]:
        shape = {"network": _layers_of(optimizer.model), "image_shape": _shape_of(optimizer.model)}
        return {**super()._parameters_of(optimizer), **shape}

    def _has_trained(self) -> None:
        super()._has_trained()
        self.image_shape_ = _shape_of(self.model_)


def _layers_of(model: Model) -> str:
    """Returns a network's layers, without its ends if ``network`` may leave them out."""
    lines = model.description.splitlines()
    return "\n".join(lines[1:-1] if len(lines) > 3 and lines[-1] == f"dense {model.outputs}" else lines)


def _shape_of(model: Model) -> images.Shape | None:
    """Returns the shape of a network's images."""
    numbers = tuple(map(int, model.description.splitlines()[0].split()[1:]))
    return numbers if len(numbers) == 3 else None


def _in_words(shape: images.Shape | None) -> str:
    return "features" if shape is None else "images of {} x {} x {}".format(*shape)


PARAMETERS = f"""
    X holds images: an array of shape (n, channels, rows, columns), (n, rows, columns, channels), or (n, rows,
    columns) for one channel; or a matrix with ``image_shape``. Bytes (uint8) are read in place: libbdl
    converts one minibatch at a time.

    Parameters
    ----------
    network : str or list of str, default="lenet5"
        The name of a published network, one of ``bdl.networks.names()``; or the layers between images and
        outputs, such as "conv 16 3; relu; maxpool 2; dense 64; relu"; or a whole network that begins with
        "input".
    image_shape : (int, int, int), default=None
        Channels, rows and columns of the images if X is a matrix. Each of its rows then holds an image,
        channel by channel. None: the columns of a matrix are features.
    channels : str, default="auto"
        Place of the channels in X: "first", (n, channels, rows, columns), or "last". "auto" finds the axis of
        length 1, 3 or 4.
    {LEARNING}
    epochs : int, default={int(defaults["image_epochs"])}
        Passes over the data.
    standardize : bool, default=True
        Whether libbdl standardises channels, and numeric targets, inside the model.
    dtype : str, default="float32"
        Type of the computation: "float64", "float32", or "auto" for that of the data.
    samples : int, default={int(defaults["image_samples"])}
        Number of posterior samples of predictions; the same samples at every call.
    {COURSE}    image_shape_ : (int, int, int) or None
        Channels, rows and columns of the images; None of features.
"""
