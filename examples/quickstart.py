"""Quickstart: a Bayesian neural network on the yacht data (308 x 6), one published split, default options."""

import sys
from pathlib import Path

import numpy as np

import bdl

folder = Path(__file__).parent / "data"
data = np.loadtxt(folder / "yacht.csv", delimiter=",")
x, y = data[:, :-1], data[:, -1]
with open(folder / "yacht_test_rows.csv") as rows:
    test = np.isin(np.arange(len(y)), np.array(rows.readline().split(","), dtype=int))

regressor = bdl.BayesianMLPRegressor(verbose=sys.stderr.isatty()).fit(x[~test], y[~test])

mean = regressor.predict(x[test])
log_density = regressor.log_predictive_density(x[test], y[test])
print(f"test RMSE {bdl.metrics.rmse(mean, y[test]):.3f}  log likelihood {log_density.mean():.3f}  (in the target's units)")
for probability in 0.5, 0.9, 0.95:
    lower, upper = regressor.predict(x[test], interval=probability)
    covered = bdl.metrics.coverage(lower, upper, y[test])
    print(f"{100 * probability:.0f} % intervals hold {100 * covered:.0f} % of the test targets")
noise = regressor.predict_uncertainty(x[test]).noise_variance ** 0.5
print(f"learned noise: standard deviations from {noise.min():.3f} to {noise.max():.3f}")
