#!/usr/bin/python3
"""Streams with default options against the best constant predictor: four data sets in one pass, then 100,000 rows.

streams.py [--quick] [PAGE]   prints two tables; with PAGE also rewrites them there, between <!-- table NAME --> and
<!-- end -->. BDL_DATA: the folder with sarcos (default ../shared/data). --quick: a part of everything, no SARCOS.
"""
import argparse
import gzip
import os
import pathlib
import sys
import time

import bdl
import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from results import publish, table  # noqa: E402

SCALED_BY = 100  # first rows, whose means and deviations scale all inputs and targets
WARM_UP = 200  # observations before a stream is judged
LOOK_EVERY = 20
# name, method, family of posteriors, hidden units: a full covariance of the larger networks takes seconds a row
FILTERS = [
    ("lo-fi", "lo-fi", "low_rank", 50),
    ("vd-ekf", "vd-ekf", "diagonal", 50),
    ("bong, diagonal moments", "bong", "diagonal_moment", 50),
    ("bong, full moments", "bong", "full_moment", 8),
    ("ekf", "ekf", "full", 8),
]


def sarcos():
    folder = pathlib.Path(os.environ.get("BDL_DATA", "../shared/data")) / "sarcos"
    with gzip.open(folder / "sarcos_inv_test.csv.gz", "rt") as file:
        rows = np.loadtxt(file, delimiter=",")
    return rows[:, :21], rows[:, 21]


def streams(quick):
    sets = {
        "digits": (load_digits(return_X_y=True), "categorical"),
        "breast cancer": (load_breast_cancer(return_X_y=True), "bernoulli"),
        "diabetes": (load_diabetes(return_X_y=True), "gaussian"),
    }
    if not quick:
        sets["SARCOS"] = (sarcos(), "gaussian")
    for name, ((x, y), likelihood) in sets.items():
        order = np.random.default_rng(1).permutation(len(x))
        yield name, x[order], y[order].astype(float), likelihood


def family(name, model):
    rank = {"low_rank": 10, "diagonal": 0}.get(name)
    if rank is not None:
        return bdl.Posterior.low_rank(model.parameters, rank, model.dtype)
    return getattr(bdl.Posterior, name)(model.parameters, model.dtype)


class Stream:
    """A network that knows nothing but the scale of the first rows."""

    def __init__(self, x, y, likelihood, method, posterior, hidden, **options):
        outputs = len(np.unique(y)) if likelihood == "categorical" else 1
        self.model = bdl.Model.mlp([x.shape[1], hidden, outputs], "relu", likelihood)
        self.q = family(posterior, self.model)
        self.optimizer = bdl.Optimizer(self.model, self.q, method, 1, **options)
        self.model.standardize(x[:SCALED_BY], y[:SCALED_BY, None] if likelihood == "gaussian" else None)

    def observe(self, x, y):
        return self.optimizer.observe(x, y[:, None])

    def largest_mean(self):
        return float(np.max(np.abs(self.q.mean)))


def constant(y, likelihood):
    """Mean log density and error (share of errors or RMSE) of the best predictor without inputs, known afterwards."""
    if likelihood == "gaussian":
        return -0.5 * np.log(2 * np.pi * np.e * np.var(y)), np.std(y)
    shares = np.unique(y, return_counts=True)[1] / len(y)
    return float(np.sum(shares * np.log(shares))), 1 - shares.max()


def with_neither(x, y, likelihood, filter_options):
    """The log score without guard and with weights of N(0, 1), and the largest weight if it is large."""
    stream = Stream(x, y, likelihood, *filter_options, guard=0, prior_scaling="unit")
    try:
        stream.observe(x, y)
    except bdl.DivergedError:
        return "diverged"
    score, weight = stream.optimizer.prequential.log_density, stream.largest_mean()
    return f"{score:.3g}" + (f", weight {weight:.1g}" if weight > 100 else "")


def one_pass(x, y, likelihood, filter_options):
    """Scores at the end, the worst lead over the constant after the warm-up, and what the weights have come to."""
    start = time.process_time()
    stream = Stream(x, y, likelihood, *filter_options)
    constant_score, constant_error = constant(y, likelihood)
    lead, ratio, weights = np.inf, 0.0, 0.0
    for first in range(0, len(x), LOOK_EVERY):
        stream.observe(x[first : first + LOOK_EVERY], y[first : first + LOOK_EVERY])
        weights = max(weights, stream.largest_mean())
        running = stream.optimizer.prequential
        if running.count >= WARM_UP:
            lead = min(lead, running.log_density - constant_score)
            ratio = max(ratio, running.error / constant_error)
    seconds = time.process_time() - start
    return {
        "log score": f"{running.log_density:.3f} ({constant_score:.3f})",
        "with neither": with_neither(x, y, likelihood, filter_options),
        "error": f"{running.error:.3g} ({constant_error:.3g})",
        "smallest lead": f"{lead:.3f}",
        "largest error ratio": f"{ratio:.2f}",
        "always better": "yes" if lead > 0 and ratio < 1 else "NO",
        "largest weight": f"{weights:.2g}",
        "held back, %": f"{100 * stream.optimizer.guarded_steps / len(x):.1f}",
        "CPU s": f"{seconds:.1f}",
    }


def marathon(x, y, likelihood, filter_options, rows):
    """The same rows in new orders, over and over: no stream may diverge."""
    stream = Stream(x, y, likelihood, *filter_options)
    random, seen, weights, last = np.random.default_rng(2), 0, 0.0, []
    while seen < rows:
        order = random.permutation(len(x))
        last = stream.observe(x[order], y[order])
        seen += len(x)
        weights = max(weights, stream.largest_mean())
    return {
        "log score of the last pass": f"{np.mean(last):.3f} ({constant(y, likelihood)[0]:.3f})",
        "largest weight": f"{weights:.2g}",
        "held back, %": f"{100 * stream.optimizer.guarded_steps / seen:.1f}",
    }


def rows_of(results):
    head = list(next(iter(results.values())))
    return table(["data", "filter", *head], [[*key, *row.values()] for key, row in results.items()])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("page", nargs="?")
    given = arguments.parse_args()
    passes, marathons = {}, {}
    for name, x, y, likelihood in streams(given.quick):
        rows = 300 if given.quick else len(x)
        for label, *options in FILTERS:
            passes[name, label] = one_pass(x[:rows], y[:rows], likelihood, options)
            if name == "digits" and options[-1] < 50:
                continue  # ten minutes each
            marathons[name, label] = marathon(x, y, likelihood, options, 2000 if given.quick else 100_000)
    tables = {"one pass": rows_of(passes), "marathon": rows_of(marathons)}
    publish(tables)
    if given.page:
        publish(tables, given.page)
    sys.exit(any(row["always better"] == "NO" for row in passes.values()) and not given.quick)


if __name__ == "__main__":
    main()
