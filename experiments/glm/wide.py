"""More columns than rows: the default GLM beside scikit-learn's ridge with cross-validation. python3 wide.py REPEATS"""
import os
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bdl

ROWS, NEW_ROWS = 20, 300


def make_data(kind, p, seed):
    """Independent columns of which one matters, or columns that five hidden ones explain, as in spectra."""
    rng = np.random.default_rng([p, seed])
    X = rng.normal(size=(ROWS + NEW_ROWS, p))
    b = np.zeros(p)
    if kind == "sparse":
        b[0] = 3
    else:
        X = rng.normal(size=(len(X), 5)) @ rng.normal(size=(5, p)) + 0.3 * X
        b = rng.normal(size=p) / np.sqrt(p)
    return X, X @ b + rng.normal(size=len(X))


def measure(kind, p, seed):
    X, y = make_data(kind, p, seed)
    train, test = slice(ROWS), slice(ROWS, None)
    begin = time.perf_counter()
    glm = bdl.BayesianGLM().fit(X[train], y[train])
    seconds = time.perf_counter() - begin
    mean, deviation = glm.predict(X[test], return_std=True)
    low, high = glm.predict_interval(X[test], of="y")
    ridge = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 5, 60))).fit(X[train], y[train])
    return (
        np.sqrt(np.mean((mean - y[test]) ** 2)),
        np.sqrt(np.mean((ridge.predict(X[test]) - y[test]) ** 2)),
        np.mean(deviation),
        np.std(y[test]),
        np.mean((low <= y[test]) & (y[test] <= high)),
        seconds,
    )


print("| signal | columns | RMSE | RMSE of RidgeCV | predictive sd | sd of y | coverage of 95 % | seconds |")
print("| --- | --- | --- | --- | --- | --- | --- | --- |")
for kind in ("sparse", "dense"):
    for p in (100, 600, 999, 1100):
        of_all = np.array([measure(kind, p, seed) for seed in range(int(sys.argv[1]))])
        means = [*of_all[:, :5].mean(axis=0), np.median(of_all[:, 5])]
        print(f"| {kind} | {p} | " + " | ".join(f"{value:.3f}" for value in means) + " |", flush=True)
