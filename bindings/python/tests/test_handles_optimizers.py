"""Optimizers and searches."""

import copy
import pickle
import threading

import numpy as np
import pytest

import bdl


@pytest.fixture
def line(rng):
    x = rng.uniform(-1, 1, (60, 1))
    return x, 2 * x[:, 0] + 1 + 0.1 * rng.normal(size=60)


def make(method="slang-exact-hess", n=60, **options):
    model = bdl.Model.mlp([1, 1])
    return bdl.Optimizer(model, bdl.Posterior.full(2), method, n, **options)


def test_description_and_options():
    optimizer = make(seed=3, schedule="power")
    assert (optimizer.method, optimizer.data_size) == ("slang-exact-hess", 60)
    optimizer["learning_rate"] = 0.5
    optimizer.set(minibatch=7)
    read = [optimizer[name] for name in ("seed", "schedule", "learning_rate", "minibatch")]
    assert read == [3, "power", 0.5, 7]
    assert optimizer.options["momentum"] == 0.9 and set(optimizer.options) == set(bdl.options())
    assert repr(optimizer) == "<Optimizer slang-exact-hess: data_size=60, step=0>"
    assert bdl.options()["seed"].type == "int" and len(bdl.methods()) > 20


def test_fit(line):
    optimizer = make()
    epochs = []
    assert optimizer.fit(*line, 30, lambda o: epochs.append(o.progress.epoch))
    assert epochs == list(range(1, 31))
    assert optimizer.progress.step == optimizer.progress.planned == 180
    assert optimizer.running_elbo.value == pytest.approx(optimizer.elbo(*line, samples=0).value, rel=0.5)
    assert optimizer.diagnosis.message == "" and optimizer.diagnosis.mean_shift > 1
    assert optimizer.memory() > 0 and optimizer.shortened_steps == 0


def test_stops(line):
    optimizer, whole = make(), make()
    assert not optimizer.fit(*line, 10, lambda o: o.progress.epoch >= 4)
    assert optimizer.progress.epoch == 4
    assert optimizer.fit(*line, 0)
    whole.fit(*line, 10)
    assert np.array_equal(optimizer.posterior.mean, whole.posterior.mean)
    optimizer.request_stop()
    assert not optimizer.fit(*line, 10)


def test_requests_of_another_thread(line):
    optimizer = make()
    threading.Timer(0.2, optimizer.request_stop).start()
    assert not optimizer.fit(*line, 10**9)


def test_prior(line):
    optimizer = make()
    assert np.array_equal(optimizer.prior_precision, [1, 1])
    optimizer.prior_precision = [2, 3]
    optimizer.fit(*line, 5)
    assert np.array_equal(optimizer.prior_precision, [2, 3])
    optimizer.prior_precision = 4
    assert np.array_equal(optimizer.prior_precision, [4, 4])


def test_exact_optimum_is_the_conjugate_posterior(line):
    x, y = line
    optimizer = make("exact-full")
    optimizer.model.noise_precision = 100
    optimizer.prior_precision = [2, 3]
    optimizer.fit(x, y, 100)
    design = np.column_stack([x, np.ones(60)])
    covariance = np.linalg.inv(100 * design.T @ design + np.diag([2, 3]))
    assert np.allclose(optimizer.posterior.covariance(), covariance, rtol=1e-6)
    assert np.allclose(optimizer.posterior.mean, 100 * covariance @ design.T @ y, rtol=1e-6)


def test_steps(line):
    x, y = line
    optimizer = make(learn_noise=0, learn_prior=0, momentum=0)
    optimizer.initialize()
    before = optimizer.posterior.mean
    optimizer.step(x[:10], y[:10])
    assert optimizer.progress.step == 1 and not np.array_equal(optimizer.posterior.mean, before)
    rows = bdl.Optimizer(None, bdl.Posterior.low_rank(4, 1), "slang", 10)
    rows.step_rows(np.ones((2, 4)))
    assert rows.model is None and rows.progress.step == 1


def test_laplace(line):
    x, y = line
    optimizer = make("map", learn_noise=0)
    optimizer.fit(x, y, 20)
    mean = optimizer.posterior.mean
    optimizer.laplace(x, y)
    design = np.column_stack([x, np.ones(60)])
    precision = optimizer.model.noise_precision[0] * design.T @ design + np.eye(2)
    assert np.array_equal(optimizer.posterior.mean, mean)
    assert np.allclose(optimizer.posterior.covariance(), np.linalg.inv(precision))


def test_streams(line):
    x, y = line
    optimizer = make("bong", learn_noise=0)
    optimizer.posterior.set_full([0, 0], np.eye(2))
    density = optimizer.observe(x, y)
    design = np.column_stack([x, np.ones(60)])
    covariance = np.linalg.inv(design.T @ design + np.eye(2))
    assert np.allclose(optimizer.posterior.covariance(), covariance)
    assert np.allclose(optimizer.posterior.mean, covariance @ design.T @ y)
    variance = design[0] @ design[0] + 1
    assert np.isclose(density[0], -0.5 * (y[0] ** 2 / variance + np.log(2 * np.pi * variance)))
    assert optimizer.prequential.count == 60 and np.isclose(optimizer.prequential.log_density, density.mean())
    optimizer.set_process_noise([0.5, 0.25])
    optimizer.forecast(2)
    assert np.allclose(optimizer.posterior.covariance(), covariance + np.diag([1.0, 0.5]))
    optimizer.set_process_noise(None)
    assert np.isnan(optimizer.observe([[0.0]], [np.nan])[0])


def test_draws_of_the_caller(line):
    asked = []

    def draws(kind, step, iteration, q, count):
        asked.append((kind, step, iteration, q.dimension, count))
        return np.tile(q.mean, (count, 1))

    optimizer = make("slang-ggn")
    optimizer.set_draws(draws)
    optimizer.step(*line)
    assert asked == [("parameters", 0, 0, 2, 2)]
    optimizer.set_draws(None)
    optimizer.step(*line)
    assert len(asked) == 1


@pytest.mark.parametrize("duplicate", [lambda o: pickle.loads(pickle.dumps(o)), copy.deepcopy])
def test_duplicates_train_alike(line, duplicate):
    optimizer = make()
    optimizer.fit(*line, 3, lambda o: o.progress.epoch >= 2)
    twin = duplicate(optimizer)
    assert twin.model is not optimizer.model
    optimizer.fit(*line, 0)
    twin.fit(*line, 0)
    assert np.array_equal(twin.posterior.mean, optimizer.posterior.mean)


def test_order_of_freeing(line):
    optimizer = make()
    model, q = optimizer.model, optimizer.posterior
    optimizer.fit(*line, 2)
    mean = q.mean
    model.close()
    optimizer.close()
    assert optimizer.closed and repr(optimizer) == "<closed Optimizer>" and np.array_equal(q.mean, mean)


def test_search(line):
    prototype = make(learn_prior=0)
    search = bdl.Search(prototype, folds=3, epochs=10, samples=20)
    search.add("prior_precision", 0.1, 10, scale="log")
    search.add("minibatch", 5, 20)
    search.add("schedule", "cosine", "power")
    seen = []
    assert search.run(*line, random_trials=3, bayesian_trials=2, progress=lambda s: seen.append(len(s.trials)))
    assert seen == [1, 2, 3, 4, 5]
    best = search.trials[search.best]
    assert best.score == max(trial.score for trial in search.trials) and best.message == ""
    assert 0.1 <= best.values["prior_precision"] <= 10 and best.values["schedule"] in ("cosine", "power")
    search.apply(search.best, prototype)
    assert {name: prototype[name] for name in best.values} == pytest.approx(best.values)
    folds = search.folds(10)
    assert sorted(np.bincount(folds)) == [3, 3, 4]
    assert not search.run(*line, random_trials=5, progress=lambda s: True)
    search.request_stop()
    assert not search.run(*line, random_trials=1)
    with pytest.raises(bdl.UnsupportedError, match="pickled"):
        pickle.dumps(search)
