"""IVON (package ivon-opt) and Laplace's approximation (package laplace-torch), where the user has installed them with
torch. A network of 50 ReLU units as bdl's, Adam's or IVON's usual rates, 120 epochs in bdl's minibatches."""
import importlib.util

import numpy as np

EPOCHS, SAMPLES = 120, 64


def available():
    """Functions (split, targets, seed) by name: probabilities of test rows, or means and standard deviations."""
    def found(*modules):
        return all(importlib.util.find_spec(module) for module in ("torch", *modules))
    return {**({"ivon": fit_ivon} if found("ivon") else {}),
            **({"laplace-torch": fit_laplace} if found("laplace") else {})}


def prepared(split, targets, seed):
    """Network, loss, minibatches of an epoch and test inputs, as torch has them."""
    import torch

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    classes = int(np.max(targets)) + 1 if split.classifies else 1
    network = torch.nn.Sequential(torch.nn.Linear(split.x.shape[1], 50), torch.nn.ReLU(), torch.nn.Linear(50, classes))
    x = torch.as_tensor(split.x, dtype=torch.float32)
    y = torch.as_tensor(targets) if split.classifies else torch.as_tensor(targets, dtype=torch.float32)[:, None]
    rows = torch.utils.data.TensorDataset(x, y)
    size = min(max(len(y) // (20 if split.classifies else 200), 10), 200)
    batches = torch.utils.data.DataLoader(rows, batch_size=size, shuffle=True)
    return torch, network, batches, torch.as_tensor(split.x_test, dtype=torch.float32)


def fit_ivon(split, targets, seed):
    """Shen et al. 2024. Numbers: the noise is one more parameter, a point, stepped by Adam."""
    import ivon

    torch, network, batches, x_test = prepared(split, targets, seed)
    log_variance = torch.zeros(1, requires_grad=True)
    optimizer = ivon.IVON(network.parameters(), lr=0.1, ess=len(targets))
    noise = torch.optim.Adam([log_variance], lr=0.01)

    def loss_of(output, y):
        if split.classifies:
            return torch.nn.functional.cross_entropy(output, y)
        return torch.nn.functional.gaussian_nll_loss(output, y, log_variance.exp().expand_as(output))

    steps = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    for _ in range(EPOCHS):
        for x, y in batches:
            with optimizer.sampled_params(train=True):
                optimizer.zero_grad()
                noise.zero_grad()
                loss_of(network(x), y).backward()
            optimizer.step()
            noise.step()
        steps.step()
    outputs = []
    with torch.no_grad():
        for _ in range(SAMPLES):
            with optimizer.sampled_params():
                outputs.append(network(x_test))
    outputs = torch.stack(outputs)
    if split.classifies:
        return outputs.softmax(-1).mean(0).double().numpy()
    variance = outputs.var(0) + log_variance.detach().exp()
    return outputs.mean(0)[:, 0].double().numpy(), variance.sqrt()[:, 0].double().numpy()


def fit_laplace(split, targets, seed):
    """Daxberger et al. 2021: all weights, Kronecker factors, prior and noise by the evidence, linearised predictions."""
    from laplace import Laplace

    torch, network, batches, x_test = prepared(split, targets, seed)
    loss = torch.nn.CrossEntropyLoss() if split.classifies else torch.nn.MSELoss()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    steps = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    for _ in range(EPOCHS):
        for x, y in batches:
            optimizer.zero_grad()
            loss(network(x), y).backward()
            optimizer.step()
        steps.step()
    kind = "classification" if split.classifies else "regression"
    posterior = Laplace(network, kind, subset_of_weights="all", hessian_structure="kron")
    posterior.fit(batches)
    posterior.optimize_prior_precision(method="marglik")
    if split.classifies:
        return posterior(x_test, link_approx="probit").detach().double().numpy()
    if hasattr(posterior, "sigma_noise"):
        residuals = [network(x).detach() - y for x, y in batches]
        posterior.sigma_noise = torch.cat(residuals).pow(2).mean().sqrt()
        posterior.fit(batches)
        posterior.optimize_prior_precision(method="marglik")
    mean, variance = posterior(x_test)
    noise = float(posterior.sigma_noise) ** 2
    return (mean[:, 0].detach().double().numpy(),
            np.sqrt(variance[:, 0, 0].detach().double().numpy() + noise))
