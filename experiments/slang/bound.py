#!/usr/bin/python3
"""The smallest KL divergence that a rank can reach: bound.py RESULTS writes bound.csv, for the first split of each set.

Half the symmetric divergence between the exact full Gaussian N(m, S) and N(m, (U U^T + diag(d))^-1) is
(tr(S P) + tr(S^-1 P^-1)) / 4 - D / 2 with P = U U^T + diag(d): no determinants. It is minimised over U and log d by L-BFGS
(Nocedal and Wright 2006, algorithm 7.4). Needs numpy: sh tests/packages.sh plot.
"""
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from report import NAMES  # noqa: E402

MEMORY, ITERATIONS = 30, 4000


def divergence(point, rank, covariance, precision):
    """Value and gradient."""
    size = len(covariance)
    low_rank, diagonal = point[:size * rank].reshape(size, rank), np.exp(point[size * rank:])
    inner = low_rank @ low_rank.T + np.diag(diagonal)
    inverse = np.linalg.inv(inner)
    value = ((covariance * inner).sum() + (precision * inverse).sum()) / 4 - size / 2
    slope = (covariance - inverse @ precision @ inverse) / 4
    return value, np.concatenate([(2 * slope @ low_rank).ravel(), np.diag(slope) * diagonal])


def minimise(function, point):
    value, gradient = function(point)
    pairs = []
    for _ in range(ITERATIONS):
        direction, used = -gradient, []
        for step, change in reversed(pairs):
            used.append(step @ direction / (step @ change))
            direction = direction - used[-1] * change
        if pairs:
            step, change = pairs[-1]
            direction = direction * (step @ change) / (change @ change)
        for (step, change), factor in zip(pairs, reversed(used)):
            direction = direction + (factor - change @ direction / (step @ change)) * step
        length, slope = (1 if pairs else 1e-3), gradient @ direction
        while length > 1e-12:
            next_value, next_gradient = function(point + length * direction)
            if next_value <= value + 1e-4 * length * slope:
                break
            length /= 2
        else:
            return value
        step, change, gain = length * direction, next_gradient - gradient, value - next_value
        point, value, gradient = point + step, next_value, next_gradient
        if step @ change > 1e-12 * (step @ step):
            pairs = [*pairs, (step, change)][-MEMORY:]
        if gain < 1e-11 * abs(value):
            return value
    return value


def smallest(covariance, rank):
    """From the leading eigenpairs of the precision, and what they leave of its diagonal."""
    precision = np.linalg.inv(covariance)
    values, vectors = np.linalg.eigh(precision)
    low_rank = 0.9 * vectors[:, -rank:] * np.sqrt(values[-rank:])
    rest = np.maximum(np.diag(precision) - (low_rank ** 2).sum(1), 1e-3 * np.diag(precision))
    return minimise(lambda point: divergence(point, rank, covariance, precision),
                    np.concatenate([low_rank.ravel(), np.log(rest)]))


def main(folder):
    with open(pathlib.Path(folder) / "bound.csv", "w", encoding="ascii") as file:
        file.write("data,rank,split,smallest_kl\n")
        for data in NAMES:
            path = pathlib.Path(folder) / "covariance" / f"{data}-exact-0.csv"
            if path.exists():
                covariance = np.loadtxt(path, delimiter=",")[1:]
                for rank in (1, 2, 5, 10):
                    file.write(f"{data},{rank},1,{smallest(covariance, rank):.6g}\n")


if __name__ == "__main__":
    main(sys.argv[1])
