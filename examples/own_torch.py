"""A PyTorch network whose posterior libbdl learns: python examples/own_torch.py (needs torch 2.0 or later)."""

import time

import numpy as np
import torch
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from torch.func import functional_call, grad, vmap

import bdl

# [network]
X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
x_mean = torch.tensor(X_train.mean(axis=0))
x_scale = torch.tensor(X_train.std(axis=0))
y_mean, y_scale = y_train.mean(), y_train.std()

torch.manual_seed(0)
torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
layers = torch.nn.Linear(10, 20), torch.nn.Tanh(), torch.nn.Linear(20, 1)
network = torch.nn.Sequential(*layers)
# [network]

# [functions]
shapes = {name: value.shape for name, value in network.named_parameters()}
sizes = [shape.numel() for shape in shapes.values()]


def forward(theta, x):
    """Returns the outputs, in the units of y, for parameters in one vector."""
    parts = torch.split(theta, sizes)
    named = {}
    for (name, shape), part in zip(shapes.items(), parts):
        named[name] = part.view(shape)
    scaled = (x - x_mean) / x_scale
    return y_mean + y_scale * functional_call(network, named, (scaled,))


def weighted(theta, x, seed):
    """Returns the sum of one example's outputs, weighted by the seed."""
    return (seed * forward(theta, x)).sum()


per_example = vmap(grad(weighted), in_dims=(None, 0, 0))


def outputs(theta, x):
    with torch.no_grad():
        return forward(torch.from_numpy(theta), torch.from_numpy(x)).numpy()


def gradients(theta, x, seeds):
    return per_example(*map(torch.from_numpy, (theta, x, seeds))).numpy()


# [functions]

# [training]
start = torch.nn.utils.parameters_to_vector(network.parameters())
start = start.detach().numpy()
count = len(start)

model = bdl.Model.user(
    outputs, gradients, inputs=10, outputs=1, parameters=count
)
posterior = bdl.Posterior.low_rank(count, rank=5)
posterior.set_low_rank(start, np.zeros((count, 5)), np.full(count, 10.0))

n = len(X_train)
optimizer = bdl.Optimizer(model, posterior, "slang-ggn", n, seed=1)
optimizer.start_noise(y_train)
began = time.process_time()
optimizer.fit(X_train, y_train, epochs=120)
seconds = time.process_time() - began
print(f"{count} parameters, {seconds:.0f} s of processor time")
# [training]

# [predictions]
mean = bdl.predict(model, posterior, X_test).mean[:, 0]
limits = bdl.predict_interval(model, posterior, X_test, 0.9)
lower, upper = limits[0][:, 0], limits[1][:, 0]
log_density = bdl.predict_log_density(model, posterior, X_test, y_test)
inside = np.mean((lower < y_test) & (y_test < upper))
print(f"RMSE {bdl.metrics.rmse(mean, y_test):.1f}")
print(f"log density {log_density.mean():.2f} nats per row")
print(f"{inside:.0%} of test values are inside the 90 % interval")

low = bdl.predict_quantiles(model, posterior, X_test, [0.1])[:, 0, 0]
called = low > 150
print(f"{called.sum()} patients exceed 150 with probability 0.9;")
print(f"{(y_test[called] > 150).sum()} of them did")
# [predictions]
