"""Published networks as texts, which :meth:`bdl.Model.network` and the estimators of images read.

You may edit a text before you use it.
"""

from __future__ import annotations

from typing import NamedTuple, Sequence

from . import lowlevel


class Network(NamedTuple):
    """Description of a published network.

    ``input_shape`` is (channels, rows, columns) of the images, and ``outputs`` the number of outputs that it
    was published for.

    >>> import bdl
    >>> network = bdl.networks.describe("lenet5")
    >>> network.name, network.input_shape, network.outputs
    ('lenet5', (1, 28, 28), 10)
    >>> len(network.doc) > 0, len(network.source) > 0
    (True, True)
    """

    name: str
    input_shape: tuple[int, int, int]
    outputs: int
    doc: str
    source: str


def describe(name: str) -> Network:
    """Returns the description of a published network, a :class:`bdl.networks.Network`.

    Parameters
    ----------
    name : str
        Name of the network, one of :func:`names`.

    Examples
    --------
    >>> import bdl
    >>> bdl.networks.describe("lenet5").input_shape
    (1, 28, 28)
    """
    if name not in _table:
        description(name)  # an unknown name is the library's to refuse
    return _table[name]


def names() -> list[str]:
    """Returns the names of all published networks, a list.

    >>> import bdl
    >>> bdl.networks.names()
    ['lenet5', 'alexnet', 'resnet18', 'resnet18-cifar']
    """
    return list(_table)


def description(name: str, input_shape: Sequence[int] | None = None, outputs: int | None = None) -> str:
    """Returns the text of a published network.

    Parameters
    ----------
    name : str
        Name of the network, one of :func:`names`.
    input_shape : (int, int, int), default=None
        Channels, rows and columns of the images. None: those of the publication.
    outputs : int, default=None
        Number of outputs. None: that of the publication.

    Examples
    --------
    >>> import bdl
    >>> text = bdl.networks.description("lenet5", (3, 32, 32))
    >>> text.splitlines()[:2]
    ['input 3 32 32', 'conv 6 5']
    """
    network = _table.get(name)
    shape = input_shape if input_shape is not None else network.input_shape if network else (1, 1, 1)
    if len(shape) != 3:
        raise ValueError(f"input_shape is {tuple(shape)}, expected (channels, rows, columns)")
    if outputs is None:
        outputs = network.outputs if network else 1
    return lowlevel.bdl_network_description(name, *shape, outputs)


def lenet5(input_shape: Sequence[int] = (1, 28, 28), outputs: int = 10) -> str:
    """Returns the text of LeNet-5: two convolutions and three dense layers, for digits.

    Parameters
    ----------
    input_shape : (int, int, int), default=(1, 28, 28)
        Channels, rows and columns of the images.
    outputs : int, default=10
        Number of outputs.

    Examples
    --------
    >>> import bdl
    >>> bdl.Model.network(bdl.networks.lenet5(), "categorical").parameters
    44426
    """
    return description("lenet5", input_shape, outputs)


def alexnet(input_shape: Sequence[int] = (3, 32, 32), outputs: int = 10) -> str:
    """Returns the text of AlexNet, cut down to small images, with one dense layer.

    Parameters
    ----------
    input_shape : (int, int, int), default=(3, 32, 32)
        Channels, rows and columns of the images.
    outputs : int, default=10
        Number of outputs.

    Examples
    --------
    >>> import bdl
    >>> bdl.Model.network(bdl.networks.alexnet(), "categorical").parameters
    2472266
    """
    return description("alexnet", input_shape, outputs)


def resnet18(input_shape: Sequence[int] = (3, 32, 32), outputs: int = 10) -> str:
    """Returns the text of ResNet-18 for ImageNet, whose first layers shrink an image by 4.

    Parameters
    ----------
    input_shape : (int, int, int), default=(3, 32, 32)
        Channels, rows and columns of the images.
    outputs : int, default=10
        Number of outputs.

    Examples
    --------
    >>> import bdl
    >>> bdl.networks.resnet18().splitlines()[1]
    'conv 64 7 stride 2 pad 3 nobias'
    """
    return description("resnet18", input_shape, outputs)


def resnet18_cifar(input_shape: Sequence[int] = (3, 32, 32), outputs: int = 10) -> str:
    """Returns the text of ResNet-18 for small images, whose first layer keeps their size.

    Parameters
    ----------
    input_shape : (int, int, int), default=(3, 32, 32)
        Channels, rows and columns of the images.
    outputs : int, default=10
        Number of outputs.

    Examples
    --------
    >>> import bdl
    >>> bdl.networks.resnet18_cifar().splitlines()[1]
    'conv 64 3 pad 1 nobias'
    """
    return description("resnet18-cifar", input_shape, outputs)


def _rows() -> dict[str, Network]:
    rows = (lowlevel.bdl_network_describe(i) for i in range(lowlevel.bdl_network_count()))
    return {name: Network(name, tuple(shape), outputs, doc, source) for name, *shape, outputs, doc, source in rows}


_table = _rows()
