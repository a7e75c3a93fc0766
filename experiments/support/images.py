"""Readers of the files that image data are published in, packed or not. All give uint8."""

import gzip
import lzma
from pathlib import Path

import numpy as np


def read_bytes(path: str | Path) -> np.ndarray:
    """The bytes of a file, unpacked if its name ends in .gz or .xz."""
    opened = {".gz": gzip.open, ".xz": lzma.open}.get(Path(path).suffix, open)(path, "rb")
    with opened as file:
        return np.frombuffer(file.read(), dtype=np.uint8)


def read_idx(path: str | Path) -> np.ndarray:
    """An IDX file of bytes, as MNIST's: images (n, rows, columns), or labels (n,)."""
    data = read_bytes(path)
    if len(data) < 4 or data[0] or data[1] or data[2] != 8:
        raise ValueError(f"{path} is no IDX file of bytes")
    dimensions = data[3]
    shape = np.frombuffer(data[4 : 4 + 4 * dimensions].tobytes(), dtype=">u4")
    return data[4 + 4 * dimensions :].reshape(shape)


def read_records(path: str | Path, *shape: int) -> tuple[np.ndarray, np.ndarray]:
    """Records of a label and an image of this shape, as CIFAR-10's binary files have them: images, then labels."""
    records = read_bytes(path).reshape(-1, 1 + int(np.prod(shape)))
    return records[:, 1:].reshape(-1, *shape), records[:, 0]


def read_cifar10(*paths: str | Path) -> tuple[np.ndarray, np.ndarray]:
    """Files of CIFAR-10's binary format one after the other: images (n, 3, 32, 32) and labels."""
    parts = [read_records(path, 3, 32, 32) for path in paths]
    return np.concatenate([images for images, _ in parts]), np.concatenate([labels for _, labels in parts])
