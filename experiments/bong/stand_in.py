#!/usr/bin/python3
"""Random numbers in the formats of MNIST and SARCOS, for run.sh --quick: stand_in.py FOLDER."""
import gzip
import pathlib
import random
import struct
import sys

DRAW = random.Random(1)


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content, compresslevel=1))


def digits(folder, part, count):
    """Random labels, each with its own bright rows of noise."""
    labels = [DRAW.randrange(10) for _ in range(count)]
    images = b"".join(bytes(56 * label) + DRAW.randbytes(112) + bytes(672 - 56 * label) for label in labels)
    write(folder / f"{part}-images-idx3-ubyte.gz", struct.pack(">4i", 2051, count, 28, 28) + images)
    write(folder / f"{part}-labels-idx1-ubyte.gz", struct.pack(">2i", 2049, count) + bytes(labels))


def torques(path, count):
    rows = []
    for _ in range(count):
        row = [DRAW.gauss(0, 1) for _ in range(21)]
        rows.append(",".join(f"{v:.6f}" for v in row + [row[i] * row[i + 7] + DRAW.gauss(0, 0.1) for i in range(7)]))
    write(path, "\n".join([*rows, ""]).encode())


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1])
    digits(root / "mnist", "train", 11000)
    digits(root / "mnist", "t10k", 10000)
    digits(root / "fashion-mnist", "t10k", 1000)
    torques(root / "sarcos" / "sarcos_inv_test.csv.gz", 2200)
