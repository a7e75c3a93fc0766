"""Ranks of MPI train with the results of one that trains alone: mpirun -n N python ranks.py"""

import sys

import numpy as np

import bdl

x = np.sin(1.3 * np.arange(96)[:, None] + 0.7 * np.arange(4) * np.arange(96)[:, None])
y = (x[:, 0] > 0.2).astype(float)


def learned(ranks, method="vogn", hidden=(5,)):
    model = bdl.Model.mlp([4, *hidden, 1], likelihood="bernoulli")
    q = bdl.Posterior.low_rank(model.parameters, rank=0) if hidden else bdl.Posterior.full(model.parameters)
    optimizer = bdl.Optimizer(model, q, method, 96, shards=4, threads=1)
    optimizer.set_communicator(ranks)
    optimizer.fit(x, y, epochs=20)
    return q.mean


ranks = bdl.mpi.world(timeout=30)
assert ranks.size == int(sys.argv[1]), ranks.size
for method, hidden in (("vogn", (5,)), ("exact-full", ())):
    assert np.array_equal(learned(ranks, method, hidden), learned(None, method, hidden)), method
assert ranks.statistics().received > 0
if "mpi4py" in sys.argv:
    from mpi4py import MPI

    assert np.array_equal(learned(bdl.mpi.of(MPI.COMM_WORLD.Dup(), timeout=30)), learned(None))
print(f"rank {ranks.rank}: the same bits")
