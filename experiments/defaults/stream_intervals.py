#!/usr/bin/python3
"""Intervals of estimators that learn by partial_fit: each block of 20 rows is predicted before it is learned.

stream_intervals.py [PAGE]   prints a table of the second half of each stream; with PAGE also rewrites it there, between
<!-- table intervals --> and <!-- end -->.
"""
import argparse
import pathlib
import sys

import bdl
import numpy as np
from sklearn.datasets import make_friedman1

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from results import publish, table  # noqa: E402

BLOCK = 20
LEVELS = (0.5, 0.9, 0.95)


def linear(noise):
    def rows(n, random):
        x = random.normal(size=(n, 4))
        return x, x @ [1, -2, 0.5, 0] + noise * random.normal(size=n)

    return rows


def friedman(n, random):
    return make_friedman1(n, noise=0.5, random_state=random.integers(1000))


def sine(n, random):
    x = random.uniform(-3, 3, size=(n, 1))
    return x, np.sin(2 * x[:, 0]) + 0.1 * random.normal(size=n)


def drift(n, random):
    """tanh of a linear function whose coefficients take a random walk."""
    x = random.normal(size=(n, 3))
    w = [1, -1, 0.5] + np.cumsum(0.03 * random.normal(size=(n, 3)), axis=0)
    return x, np.tanh(np.sum(x * w, axis=1)) + 0.1 * random.normal(size=n)


# name, rows, their number, deviation of the noise, estimator
STREAMS = [
    ("linear", linear(0.1), 1000, 0.1, bdl.BayesianGLM, {}),
    ("linear", linear(1), 1000, 1, bdl.BayesianGLM, {}),
    ("linear", linear(0.1), 2000, 0.1, bdl.BayesianMLPRegressor, {}),
    ("friedman1", friedman, 4000, 0.5, bdl.BayesianMLPRegressor, {}),
    ("friedman1", friedman, 4000, 0.5, bdl.BayesianMLPRegressor, {"method": "vd-ekf"}),
    ("sin(2x)", sine, 8000, 0.1, bdl.BayesianMLPRegressor, {}),
    ("drift", drift, 3000, 0.1, bdl.BayesianMLPRegressor, {"options": {"forgetting": 0.99}}),
    ("drift", drift, 3000, 0.1, bdl.BayesianMLPRegressor, {"options": {"process_noise": 1e-4}}),
]


def measured(name, rows, count, noise, kind, settings):
    error, score, held = [], [], {level: [] for level in LEVELS}
    for seed in range(3):
        x, y = rows(count, np.random.default_rng(seed))
        estimator = kind(**settings)
        for first in range(0, count, BLOCK):
            part = slice(first, first + BLOCK)
            if first >= count // 2:
                error.append(np.mean((estimator.predict(x[part]) - y[part]) ** 2))
                score.append(np.mean(estimator.log_predictive_density(x[part], y[part])))
                for level in LEVELS:
                    low, high = estimator.predict(x[part], interval=level)
                    held[level].append(np.mean((low < y[part]) & (y[part] < high)))
            estimator.partial_fit(x[part], y[part])
    said = ", ".join(f"{key} {value}" for key, value in settings.get("options", {}).items())
    method = estimator.optimizer_.method + (f", {said}" if said else "")
    stated = float(estimator.model_.noise_precision[0] ** -0.5)
    shares = [f"{100 * np.mean(held[level]):.0f}" for level in LEVELS]
    return [name, method, count, noise, f"{stated:.3g}", f"{np.mean(error) ** 0.5:.3g}", f"{np.mean(score):.2f}", *shares]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", nargs="?")
    heads = ["data", "method", "rows", "noise", "found", "RMSE", "log density", "50 % hold", "90 %", "95 %"]
    tables = {"intervals": table(heads, [measured(*stream) for stream in STREAMS])}
    publish(tables)
    page = parser.parse_args().page
    if page:
        publish(tables, page)


if __name__ == "__main__":
    main()
