"""One call at a time may change an object: what would pull the ground from under another is refused."""

import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import bdl


@pytest.fixture
def data(rng):
    x = rng.normal(size=(500, 3))
    return x, x[:, 0] + rng.normal(size=500)


@pytest.fixture
def optimizer():
    model = bdl.Model.mlp([3, 20, 1])
    return bdl.Optimizer(model, bdl.Posterior.low_rank(model.parameters, 2), "slang-ggn", 500)


# Calls that a callback must not make on objects in training.
changes = {
    "fit": lambda o, x, y: o.fit(x, y, 1),
    "step": lambda o, x, y: o.step(x[:10], y[:10]),
    "observe": lambda o, x, y: o.observe(x[:10], y[:10]),
    "initialize": lambda o, x, y: o.initialize(),
    "option": lambda o, x, y: o.set(learning_rate=0.1),
    "prior": lambda o, x, y: setattr(o, "prior_precision", 2.0),
    "noise": lambda o, x, y: setattr(o.model, "noise_precision", 2.0),
    "standardization": lambda o, x, y: o.model.standardize(x, y),
    "posterior": lambda o, x, y: o.posterior.update(np.ones((1, o.posterior.dimension))),
    "another optimizer of the posterior": lambda o, x, y: bdl.Optimizer(o.model, o.posterior, "slang", 500),
}


@pytest.mark.parametrize("change", changes.values(), ids=changes)
def test_callbacks_change_nothing(data, optimizer, change):
    with pytest.raises(bdl.InvalidArgumentError, match="in use"):
        optimizer.fit(*data, 3, lambda o: change(o, *data))
    assert optimizer.fit(*data, 1)


def test_callbacks_read(data, optimizer):
    seen = []

    def look(o):
        copy = o.posterior.copy()
        copy.update(np.ones((1, copy.dimension)))
        seen.append((o.progress, o.running_elbo, o["learning_rate"], o.model.noise_precision, bdl.predict(o.model, o.posterior, data[0][:5])))
        if len(seen) == 2:
            o.request_stop()

    assert not optimizer.fit(*data, 5, look)
    assert len(seen) == 2


def test_callbacks_train_other_objects(data, optimizer):
    def train_another(o):
        model = bdl.Model.mlp([3, 1])
        assert bdl.Optimizer(model, bdl.Posterior.full(4), "exact-full", 500).fit(*data, 50)

    assert optimizer.fit(*data, 2, train_another)


def test_other_threads_wait_their_turn(data, optimizer):
    refused = []

    def try_all():
        for call in (
            lambda: optimizer.posterior.mean,
            lambda: optimizer.progress,
            lambda: bdl.predict(optimizer.model, optimizer.posterior, data[0]),
            lambda: optimizer.step(*data),
        ):
            try:
                call()
            except bdl.InvalidArgumentError as error:
                refused.append(str(error))
        optimizer.request_stop()

    def in_another_thread(o):
        if not refused:
            thread = threading.Thread(target=try_all)
            thread.start()
            thread.join()

    assert not optimizer.fit(*data, 10, in_another_thread)
    assert len(refused) == 4 and all("another thread" in text or "in use" in text for text in refused)
    assert np.isfinite(optimizer.posterior.mean).all()


def test_many_read_at_once(data, optimizer):
    optimizer.fit(*data, 1)
    expected = bdl.predict(optimizer.model, optimizer.posterior, data[0], samples=50).mean
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(bdl.predict(optimizer.model, optimizer.posterior, data[0], samples=50).mean))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and all(np.array_equal(result, expected) for result in results)


def test_lent_posteriors(optimizer, data):
    kept = []

    def draws(kind, step, iteration, q, count):
        kept.append(q)
        with pytest.raises(bdl.InvalidArgumentError, match="only read"):
            q.update(np.ones((1, q.dimension)))
        return q.sample(count, seed=step)

    optimizer.set_draws(draws)
    optimizer.step(data[0][:10], data[1][:10])
    with pytest.raises(bdl.InvalidArgumentError, match="closed"):
        kept[0].mean


def test_loaded_parts_belong_together(data, optimizer, tmp_path):
    optimizer.fit(*data, 1)
    bdl.save(tmp_path / "all.safetensors", optimizer=optimizer)
    loaded = bdl.load(tmp_path / "all.safetensors").optimizer
    with pytest.raises(bdl.InvalidArgumentError, match="in use"):
        loaded.fit(*data, 3, lambda o: o.posterior.update(np.ones((1, o.posterior.dimension))))


def test_reading_an_optimizer_reads_its_parts(data, optimizer):
    """A custom model is changed neither while it is trained nor while an ELBO of it is computed."""
    refused = []

    def outputs(theta, x):
        try:
            model.noise_precision = 2.0
        except bdl.InvalidArgumentError as error:
            refused.append(str(error))
        return x @ theta

    model = bdl.Model.user(outputs, lambda theta, x, seeds: seeds * x, 3, 1, 3)
    trained = bdl.Optimizer(model, bdl.Posterior.full(3), "slang-ggn", 500)
    trained.step(data[0][:10], data[1][:10])
    count = len(refused)
    trained.elbo(*data, samples=2)
    assert 0 < count < len(refused)
    assert model.noise_precision[0] != 2.0


def test_a_users_model_is_one_object(data, tmp_path):
    model = bdl.Model.user(lambda theta, x: x @ theta, lambda theta, x, seeds: seeds * x, 3, 1, 3)
    optimizer = bdl.Optimizer(model, bdl.Posterior.full(3), "slang-ggn", 500)
    optimizer.fit(*data, 1)
    bdl.save(tmp_path / "user.safetensors", optimizer=optimizer)
    loaded = bdl.load(tmp_path / "user.safetensors", user_model=model)
    assert loaded.model is model and loaded.optimizer.model is model
    with pytest.raises(bdl.InvalidArgumentError, match="in use"):
        loaded.optimizer.fit(*data, 1, lambda o: setattr(model, "noise_precision", 2.0))
    for whole in (model, optimizer):
        with pytest.raises(bdl.UnsupportedError, match="pickled"):
            pickle.dumps(whole)


def test_the_interpreter_ends_while_a_thread_trains():
    program = """
import threading, time, bdl, numpy as np
x, y = np.random.randn(500, 3), np.random.randn(500)
for model in bdl.Model.mlp([3, 20, 1]), bdl.Model.user(lambda t, x: x @ t, lambda t, x, s: s * x, 3, 1, 3):
    o = bdl.Optimizer(model, bdl.Posterior.low_rank(model.parameters, 1), "slang-ggn", 500)
    threading.Thread(target=o.fit, args=(x, y, 10**6, lambda o: None), daemon=True).start()
time.sleep(0.5)
print("ending")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (0, "ending\n"), ended.stderr
