"""Makes examples/data/digits.bin of MNIST's files: its first 1,000 training and its first 500 test images, each pixel the mean of
2 x 2, in records of a label and 14 x 14 bytes.

    python3 experiments/support/digits.py FOLDER examples/data/digits.bin
"""

import sys
from pathlib import Path

import numpy as np
from images import read_idx


def small(folder: Path, part: str, count: int) -> np.ndarray:
    images = read_idx(folder / f"{part}-images-idx3-ubyte.gz")[:count].astype(float)
    labels = read_idx(folder / f"{part}-labels-idx1-ubyte.gz")[:count]
    means = images.reshape(count, 14, 2, 14, 2).mean(axis=(2, 4))
    return np.hstack([labels[:, np.newaxis], np.rint(means).astype(np.uint8).reshape(count, -1)])


if __name__ == "__main__":
    folder, path = map(Path, sys.argv[1:])
    np.vstack([small(folder, "train", 1000), small(folder, "t10k", 500)]).tofile(path)
