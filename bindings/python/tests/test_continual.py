"""One task after the other (docs/how-to/task-after-task.md): priors from posteriors, EWC, coresets, a head for each task."""

import numpy as np
import pytest

import bdl


@pytest.fixture
def tasks(rng):
    """In task t the classes 0 and 1 are apart along feature t."""
    made = []
    for t in range(2):
        y = np.arange(60) % 2
        x = 0.4 * rng.normal(size=(60, 2))
        x[:, t] += np.where(y == 1, 1.5, -1.5)
        made.append((x, y))
    return made


@pytest.fixture
def model():
    return bdl.Model.mlp([2, 8, 4], activation="tanh", likelihood="categorical")


def accuracy(model, q, x, y):
    return bdl.metrics.accuracy(bdl.predict_classes(model, q, x, "plug_in").probabilities, y)


def test_posteriors_as_priors(model, tasks):
    q = bdl.Posterior.low_rank(model.parameters, 2)
    for x, y in tasks:
        prior, q = q, bdl.Posterior.low_rank(model.parameters, 2)
        optimizer = bdl.Optimizer(model, q, "slang-ggn", data_size=len(x), learn_prior=0)
        if not prior.is_blank:
            optimizer.set_prior(prior)
        optimizer.fit(x, y, epochs=100)
    assert all(accuracy(model, q, x, y) > 0.9 for x, y in tasks)


@pytest.mark.parametrize("online, strength", [(False, 100.0), (False, 0.0), (True, 1.0)])
def test_elastic_weight_consolidation(model, tasks, online, strength):
    d, keep = model.parameters, 1.0
    q, penalties = bdl.Posterior.low_rank(d, 0), None
    precision, anchor, kept = np.ones(d), np.zeros(d), np.zeros(d)
    for x, y in tasks:
        optimizer = bdl.Optimizer(model, q, "laplace", data_size=len(x), evidence="none")
        if penalties is not None:
            optimizer.set_prior(penalties)
        optimizer.fit(x, y, epochs=100)
        information = np.maximum(0, 1 / q.variance - precision)
        if online:
            kept = keep * kept + information
            anchor, precision = q.mean, 1 + strength * kept
        else:
            total = precision + strength * information
            anchor, precision = (precision * anchor + strength * information * q.mean) / total, total
        penalties = bdl.Posterior.low_rank(d, 0)
        penalties.set_low_rank(anchor, None, precision)
    first, second = (accuracy(model, q, x, y) for x, y in tasks)
    assert second > 0.9 and (first > 0.9) == (strength > 0)
    if online:  # with keep = strength = 1 it is Laplace's posterior itself
        assert np.allclose(1 / q.variance, precision, rtol=1e-9)


def test_heads(model, tasks):
    q = None
    heads = [[0, 1], [3, 2]]
    tasks = [(x, y + 2 * t) for t, (x, y) in enumerate(tasks)]
    for (x, y), head in zip(tasks, heads):
        prior, q = q, bdl.Posterior.low_rank(model.parameters, 0)
        model.classes = head
        optimizer = bdl.Optimizer(model, q, "slang-ggn", data_size=len(x), learn_prior=0)
        if prior is not None:
            optimizer.set_prior(prior)
        optimizer.fit(x, y, epochs=100)
    for (x, y), head in zip(tasks, heads):
        model.classes = head
        assert accuracy(model, q, x, y) > 0.9
        outside = [c for c in range(4) if c not in head]
        probabilities = bdl.predict_classes(model, q, x).probabilities
        assert np.all(probabilities[:, outside] == 0) and np.allclose(probabilities.sum(axis=1), 1)
    assert model.classes.tolist() == [2, 3]
    with pytest.raises(bdl.LabelError, match="one of the classes"):
        bdl.predict_log_density(model, q, *tasks[0])
    model.classes = None
    assert model.classes.tolist() == [0, 1, 2, 3]
    with pytest.raises(bdl.InvalidArgumentError, match="twice"):
        model.classes = [1, 1]
    with pytest.raises(bdl.UnsupportedError):
        bdl.Model.mlp([2, 1]).classes = [0, 1]


def test_coresets(model, tasks):
    q, cores = bdl.Posterior.low_rank(model.parameters, 2), []
    for x, y in tasks:
        prior = None if q.is_blank else q.copy()
        optimizer = bdl.Optimizer(model, q, "slang-ggn", data_size=len(x) - 10, learn_prior=0)
        if prior is not None:
            optimizer.set_prior(prior)
        optimizer.fit(x[10:], y[10:], epochs=100)
        cores.append((x[:10], y[:10]))
    core_x, core_y = (np.concatenate(parts) for parts in zip(*cores))
    last = q.copy()
    optimizer = bdl.Optimizer(model, last, "slang-ggn", data_size=len(core_x))
    optimizer.set_prior(q)
    optimizer.fit(core_x, core_y, epochs=50)
    assert all(accuracy(model, last, x, y) > 0.9 for x, y in tasks)
