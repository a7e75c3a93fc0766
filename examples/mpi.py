"""Several processes train one network of digits: mpirun -n 2 python examples/mpi.py

Each process works on its own shards of the data. The sums of all shards are added up in one order, so all processes end
with the same posterior, which is identical for any number of processes.
"""

import hashlib
import sys
from pathlib import Path

import numpy as np

import bdl

# Each record is a label and an image.
data = np.fromfile(Path(__file__).parent / "data" / "digits.bin", dtype=np.uint8).reshape(1500, 197)
images, labels = data[:, 1:], data[:, 0].astype(float)
x, y, x_test, y_test = images[:1000], labels[:1000], images[1000:], labels[1000:]

processes = bdl.mpi.world(timeout=60)
model = bdl.Model.mlp([196, 100, 10], likelihood="categorical", dtype="float32")
model.standardize(x, y)
posterior = bdl.Posterior.low_rank(model.parameters, rank=0, dtype="float32")
optimizer = bdl.Optimizer(model, posterior, "vogn", len(x), shards=4)
optimizer.set_communicator(processes)
optimizer.fit(x, y, epochs=40)

if processes.rank == 0:  # any process could
    right = bdl.predict_classes(model, posterior, x_test, samples=100).probabilities.argmax(axis=1) == y_test
    print(f"test accuracy {np.mean(right):.3f}, checksum of the posterior {hashlib.sha256(posterior.mean.tobytes()).hexdigest()[:16]}")
    megabytes = processes.statistics().received / 1e6
    print(f"processes: {processes.size}, received by the first: {megabytes:.1f} MB", file=sys.stderr)
