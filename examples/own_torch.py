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
x_mean, x_scale = torch.tensor(X_train.mean(axis=0)), torch.tensor(X_train.std(axis=0))
y_mean, y_scale = y_train.mean(), y_train.std()

torch.manual_seed(0)
torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
network = torch.nn.Sequential(torch.nn.Linear(10, 20), torch.nn.Tanh(), torch.nn.Linear(20, 1))
# [network]

# [functions]
shapes = {name: value.shape for name, value in network.named_parameters()}
sizes = [shape.numel() for shape in shapes.values()]


def forward(theta, x):
    """Returns the network's outputs, in the units of y, for parameters in one vector."""
    parts = torch.split(theta, sizes)
    named = {name: part.view(shape) for (name, shape), part in zip(shapes.items(), parts)}
    return y_mean + y_scale * functional_call(network, named, ((x - x_mean) / x_scale,))


def weighted(theta, x, seed):
    """Returns the sum of one example's outputs, weighted by the seed."""
    return (seed * forward(theta, x)).sum()


per_example = vmap(grad(weighted), in_dims=(None, 0, 0))


def outputs(theta, x):
    with torch.no_grad():
        return forward(torch.from_numpy(theta), torch.from_numpy(x)).numpy()


def gradients(theta, x, seeds):
    return per_example(*(torch.from_numpy(values) for values in (theta, x, seeds))).numpy()


# [functions]

# [training]
start = torch.nn.utils.parameters_to_vector(network.parameters()).detach().numpy()
count = len(start)

model = bdl.Model.user(outputs, gradients, inputs=10, outputs=1, parameters=count)
posterior = bdl.Posterior.low_rank(count, rank=5)
posterior.set_low_rank(start, np.zeros((count, 5)), np.full(count, 10.0))

optimizer = bdl.Optimizer(model, posterior, "slang-ggn", len(X_train), seed=1)
optimizer.start_noise(y_train)
began = time.perf_counter()
optimizer.fit(X_train, y_train, epochs=120)
print(f"{count} parameters, {time.perf_counter() - began:.0f} seconds")
# [training]

# [predictions]
mean = bdl.predict(model, posterior, X_test).mean[:, 0]
lower, upper = (limit[:, 0] for limit in bdl.predict_interval(model, posterior, X_test, 0.9))
log_density = bdl.predict_log_density(model, posterior, X_test, y_test)
print(f"RMSE {bdl.metrics.rmse(mean, y_test):.1f}, log density {log_density.mean():.2f} nats per row")
print(f"{np.mean((lower < y_test) & (y_test < upper)):.0%} of test values are inside the 90 % interval")

above = bdl.predict_quantiles(model, posterior, X_test, [0.1])[:, 0, 0] > 150
print(f"{above.sum()} patients exceed 150 with probability 0.9; {(y_test[above] > 150).sum()} of them did")
# [predictions]
