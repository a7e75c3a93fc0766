"""Measures what training on a large array adds to the memory: python memory.py [GIGABYTES]. Each case is a process of its own."""

import resource
import subprocess
import sys
import time

import numpy as np


def megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run(case, gigabytes):
    import bdl

    layout, what = case.split("-")
    columns = 100
    rows = int(gigabytes * 1e9 / 4 / columns)
    rng = np.random.default_rng(1)
    x = np.empty((rows, columns), dtype=np.float32, order=layout)
    for first in range(0, rows, 10000):  # no large temporaries before the measurement
        x[first : first + 10000] = rng.standard_normal((min(10000, rows - first), columns), dtype=np.float32)
    y = x[:, 0] - x[:, 1]
    if what == "estimator":
        regressor = bdl.BayesianMLPRegressor(hidden=(8,), rank=1, epochs=1, options={"minibatch": 2000})
        train = lambda: regressor.fit(x, y)
    else:
        model = bdl.Model.mlp([columns, 8, 1])
        model.standardize(x, y)
        optimizer = bdl.Optimizer(model, bdl.Posterior.low_rank(model.parameters, 1), "slang-ggn", rows, minibatch=2000)
        train = lambda: optimizer.fit(x, y, 1)
    before, start = megabytes(), time.time()
    train()
    added = megabytes() - before
    print(f"Python: {case}, {x.nbytes / 1e9:.2f} GB of float, one epoch: {added:.1f} MB more, {time.time() - start:.1f} s", flush=True)


gigabytes = sys.argv[1] if len(sys.argv) > 1 else "1"
if len(sys.argv) > 2:
    run(sys.argv[2], float(gigabytes))
else:
    for case in ("C-handles", "F-handles", "C-estimator", "F-estimator"):
        subprocess.run([sys.executable, __file__, gigabytes, case], check=True)
