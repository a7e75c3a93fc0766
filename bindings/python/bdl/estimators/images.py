"""Images as rows: channel by channel, row by row, as the library reads them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import brief

# Usual numbers of channels of images.
_CHANNELS = (1, 3, 4)

Shape = tuple[int, int, int]


def shape_of(X: Any, channels: str, known: Shape | None) -> Shape | None:
    """Returns channels, rows and columns of the images in X, None for a matrix; ``known``: those of earlier calls.

    >>> shape_of(np.zeros((5, 28, 28)), "auto", None)
    (1, 28, 28)
    >>> shape_of(np.zeros((5, 32, 32, 3)), "auto", None)
    (3, 32, 32)
    """
    if channels not in ("auto", "first", "last"):
        raise ValueError(f"channels is {brief(channels)}, expected 'auto', 'first' or 'last'")
    if X.ndim == 3:
        return (1, *X.shape[1:])
    if X.ndim == 4:
        return X.shape[1:] if _are_first(X.shape, channels, known) else (X.shape[3], *X.shape[1:3])
    if X.ndim > 4:
        raise ValueError(f"X has {X.ndim} dimensions, expected images (n, channels, rows, columns) or (n, rows, columns, channels)")
    return None


def _are_first(shape: tuple[int, ...], channels: str, known: Shape | None) -> bool:
    if channels != "auto":
        return channels == "first"
    fits = [shape[1:] == known, (shape[3], *shape[1:3]) == known]
    if known is None or fits[0] == fits[1]:
        fits = [shape[1] in _CHANNELS, shape[3] in _CHANNELS]
    if fits[0] == fits[1]:
        raise ValueError(f"X has the shape {shape}, which does not say where channels are: pass channels='first' or 'last'")
    return fits[0]


def as_rows(X: Any, shape: Shape) -> np.ndarray:
    """Returns one image per row; a copy only if several channels are last, or memory is in another order.

    >>> as_rows(np.arange(12).reshape(1, 2, 2, 3), (3, 2, 2))
    array([[ 0,  3,  6,  9,  1,  4,  7, 10,  2,  5,  8, 11]])
    """
    if X.ndim == 4 and X.shape[1:] != shape:
        X = np.moveaxis(X, 3, 1)
    return X.reshape(len(X), -1)
