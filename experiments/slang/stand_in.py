#!/usr/bin/python3
"""Random binary data in LIBSVM's format, for run.sh --quick: stand_in.py FOLDER."""
import gzip
import pathlib
import random
import sys

DRAW = random.Random(1)


def write(path, rows, features, labels):
    """Two classes whose means differ in the first features."""
    lines = []
    for _ in range(rows):
        one = DRAW.random() < 0.5
        values = [DRAW.uniform(-1, 1) + (0.3 if one and j < 5 else 0) for j in range(features)]
        lines.append(labels[one] + " " + " ".join(f"{j + 1}:{v:.4f}" for j, v in enumerate(values)))
    path.write_bytes(gzip.compress("\n".join([*lines, ""]).encode(), compresslevel=1))


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1]) / "libsvm"
    root.mkdir(parents=True)
    write(root / "australian_scale.gz", 80, 14, ("-1", "+1"))
    write(root / "breast_cancer_scale.gz", 80, 10, ("-1", "+1"))
    write(root / "a1a.gz", 140, 123, ("-1", "+1"))
    write(root / "a1a.t.gz", 60, 123, ("-1", "+1"))
    write(root / "usps_3vs5.gz", 140, 256, ("3", "5"))
