"""The CSV files of the experiments, grouped and averaged over seeds."""
import collections
import csv
import math
import pathlib

RULES = ["bong", "blr", "bog", "bbb"]
CURVATURES = ["lin-hess", "mc-ef"]
FAMILIES = ["diagonal", "low-rank-10"]


def read(folder, name):
    with open(pathlib.Path(folder) / f"{name}.csv", newline="", encoding="ascii") as file:
        return list(csv.DictReader(file))


def grouped(rows, *keys):
    """Rows by the values of some columns, in order of appearance."""
    groups = collections.defaultdict(list)
    for row in rows:
        groups[tuple(row[key] for key in keys)].append(row)
    return groups


def mean_and_error(values):
    """Mean and its standard error (nan for one value)."""
    n = len(values)
    mean = sum(values) / n
    variance = sum((v - mean) ** 2 for v in values) / (n - 1) if n > 1 else math.nan
    return mean, math.sqrt(variance / n)


def by_seed(rows, column):
    return {row["seed"]: float(row[column]) for row in rows}
