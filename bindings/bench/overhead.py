"""Measures what one call costs from Python beyond C: python overhead.py MICROSECONDS, those of the same step in C (step.c)."""

import sys
import time

import bdl
import numpy as np

steps, rounds = 50000, 5
in_c = float(sys.argv[1])
x, y = np.array([[0.1, 0.2]]), np.array([[0.3]])
model = bdl.Model.mlp([2, 1])
optimizer = bdl.Optimizer(model, bdl.Posterior.low_rank(model.parameters, 0), data_size=50, threads=1)


def microseconds(call):
    call()
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(steps):
            call()
        best = min(best, time.perf_counter() - start)
    return best / steps * 1e6


capsule, step = optimizer._handle, bdl.lowlevel.bdl_optimizer_step
low, high = microseconds(lambda: step(capsule, x, y)), microseconds(lambda: optimizer.step(x, y))
print(f"Python: bdl_optimizer_step() {low:.2f} us (+{low - in_c:.2f}), Optimizer.step() {high:.2f} us (+{high - in_c:.2f})")
