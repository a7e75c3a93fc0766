#!/usr/bin/python3
"""Tables of Tomczak et al. (2020): report.py RESULTS prints them, report.py RESULTS PAGE rewrites them in a page."""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from results import publish, read, table  # noqa: E402

HEAD = ["method", "epochs", "seeds", "test error", "log likelihood", "ECE", "s an epoch", "published error", "published log likelihood"]

# After 500 epochs: test error in per cent, log likelihood.
PUBLISHED = {
    "table2": {"elrg K=1": (1.82, -0.071), "elrg K=2": (1.69, -0.057), "elrg K=5": (1.54, -0.053), "naive K=1": (3.00, -0.130),
               "naive K=2": (2.82, -0.112), "k-tied 2": (2.67, -0.105), "k-tied 3": (2.69, -0.106), "mf-vi": (2.51, -0.0964),
               "slang L=1": (2.00, None)},
    "table3-mnist": {"elrg K=1": (0.90, -0.0274), "elrg K=2": (0.89, -0.0272), "elrg K=5": (0.80, -0.0257), "mf-vi": (1.09, -0.0462),
                     "map": (0.81, -0.0268)},
}


def latest(rows):
    """Of each method the rows with the most epochs."""
    methods = {}
    for row in rows:
        best = methods.setdefault(row["method"], [row])
        epochs = int(row["epochs"]), int(best[0]["epochs"])
        if epochs[0] > epochs[1]:
            methods[row["method"]] = [row]
        elif epochs[0] == epochs[1] and row is not best[0]:
            best.append(row)
    return methods


def mean(rows, name):
    return sum(float(row[name]) for row in rows) / len(rows)


def lines(experiment, rows):
    for method, of_seeds in latest(rows).items():
        error, likelihood = PUBLISHED.get(experiment, {}).get(method, (None, None))
        yield [method, of_seeds[0]["epochs"], str(len(of_seeds)), f"{mean(of_seeds, 'error'):.2f} %",
               f"{mean(of_seeds, 'log_likelihood'):.4f}", f"{mean(of_seeds, 'ece'):.4f}",
               f"{mean(of_seeds, 'seconds_per_epoch'):.1f}", f"{error:.2f} %" if error else "", f"{likelihood:.3f}" if likelihood else ""]


ROWS = read(sys.argv[1], "elrg")
EXPERIMENTS = dict.fromkeys(row["experiment"] for row in ROWS)
publish({name: table(HEAD, lines(name, [row for row in ROWS if row["experiment"] == name])) for name in EXPERIMENTS}, *sys.argv[2:3])
