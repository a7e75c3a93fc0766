"""Ctrl-C, exceptions of callbacks, and other threads during long calls."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import bdl

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.fixture(autouse=True)
def listening():
    """Where the tests run in the background, SIGINT is ignored, which Python inherits."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


@pytest.fixture
def data(rng):
    x = rng.normal(size=(5000, 6))
    return x, x[:, 0] + rng.normal(size=5000)


def interrupted(call, after=0.2):
    """Seconds from the signal to the end of a call, which raises KeyboardInterrupt."""
    sent = []

    def send():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, send)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        call()
    end = time.perf_counter()
    timer.join()
    return end - sent[0]


def make(n=5000):
    model = bdl.Model.mlp([6, 50, 1])
    return bdl.Optimizer(model, bdl.Posterior.low_rank(model.parameters, 5), "slang-ggn", n)


@pytest.mark.parametrize("progress", [None, lambda optimizer: False])
def test_fit(data, progress):
    optimizer = make()
    assert interrupted(lambda: optimizer.fit(*data, 10**6, progress)) < 0.2
    step = optimizer.progress.step
    assert step > 0 and np.isfinite(optimizer.posterior.mean).all()
    optimizer.step(data[0][:10], data[1][:10])
    assert optimizer.progress.step == step + 1


def test_other_long_calls(data):
    x, y = np.tile(data[0], (40, 1)), np.tile(data[1], 40)
    optimizer = make()
    optimizer.fit(*data, 1)
    handles = optimizer.model, optimizer.posterior
    assert interrupted(lambda: bdl.predict(*handles, x, samples=10**6)) < 0.2
    assert interrupted(lambda: optimizer.elbo(x, y, samples=10**6)) < 0.2
    assert interrupted(lambda: make(len(x)).observe(x, y)) < 0.2
    search = bdl.Search(optimizer, epochs=10**6)
    search.add("learning_rate", 0.01, 0.1)
    assert interrupted(lambda: search.run(*data)) < 0.2


def test_estimators_keep_what_they_have_learned(data):
    x, y = data
    regressor = bdl.BayesianMLPRegressor(epochs=10**6)
    assert interrupted(lambda: regressor.fit(x, y), after=0.5) < 0.2
    assert regressor.n_iter_ > 0 and regressor.n_iter_ - len(regressor.history_["epoch"]) in (0, 1)
    assert regressor.score(x, y) > 0.2
    regressor.set_params(epochs=1, warm_start=True).fit(x, y)
    classifier = bdl.BayesianMLPClassifier(epochs=10**6, early_stopping=True, patience=10**6)
    assert interrupted(lambda: classifier.fit(x, y > 0), after=0.5) < 0.2
    assert classifier.score(x, y > 0) > 0.6
    glm = bdl.BayesianGLM("bernoulli", method="slang-exact-hess", epochs=10**6)
    assert interrupted(lambda: glm.fit(x, y > 0)) < 0.2
    assert glm.coef_[0, 0] > 3 * glm.coef_std_[0, 0]


def test_exceptions_of_callbacks_come_out_unchanged(data):
    mine = LookupError("mine")

    def fails(optimizer):
        raise mine

    optimizer = make()
    with pytest.raises(LookupError) as caught:
        optimizer.fit(*data, 5, fails)
    assert caught.value is mine and optimizer.progress.epoch == 1
    assert optimizer.fit(*data, 0)


def test_callbacks_may_use_the_library(data):
    optimizer, scores = make(), []

    def look(optimizer):
        scores.append(bdl.predict_log_density(optimizer.model, optimizer.posterior, *data, samples=2).mean())

    assert optimizer.fit(*data, 3, look) and len(scores) == 3
    assert interrupted(lambda: optimizer.fit(*data, 10**6, look)) < 0.2


def test_other_threads_make_progress(data):
    optimizer, counted = make(), []

    def count():
        end = time.perf_counter() + 0.3
        while time.perf_counter() < end:
            counted.append(1)
            time.sleep(0.001)
        optimizer.request_stop()

    thread = threading.Thread(target=count)
    thread.start()
    assert not optimizer.fit(*data, 10**6)
    thread.join()
    assert len(counted) > 50


def test_trainings_on_several_threads(data):
    """Each as alone, and those on other threads than the main one hear nothing of signals."""
    alone = make()
    alone.fit(*data, 2)
    together = [make() for _ in range(3)]
    threads = [threading.Thread(target=optimizer.fit, args=(*data, 2)) for optimizer in together]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for optimizer in together:
        assert np.array_equal(optimizer.posterior.mean, alone.posterior.mean)


def test_closing_while_another_thread_trains(data):
    optimizer = make()
    thread = threading.Thread(target=optimizer.fit, args=(*data, 3))
    thread.start()
    optimizer.close()
    thread.join()
    assert optimizer.closed
