"""Every method of the library through the estimators, on few data: what a method is for comes from the library alone."""

import warnings

import bdl
import numpy as np
import pytest
from bdl.estimators import learning
from sklearn.exceptions import ConvergenceWarning


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(24, 2))
    return x, x @ [1.0, -0.5] + 0.1 * rng.normal(size=24)


def is_for_linear_models(method):
    return bdl.describe_method(method).is_exact or method == "slang-exact-hess"


def targets(kind, y):
    return {"numbers": y, "two classes": np.where(y > 0, "b", "a"), "three classes": np.digitize(y, [-0.5, 0.5])}[kind]


@pytest.mark.parametrize("method", bdl.methods())
@pytest.mark.parametrize("family, kind", [("gaussian", "numbers"), ("bernoulli", "two classes")])
def test_of_linear_models(method, family, kind, data):
    glm = bdl.BayesianGLM(family, method=method, epochs=5).fit(data[0], targets(kind, data[1]))
    assert glm.optimizer_.method == method
    if kind == "numbers":
        assert np.isfinite(glm.predict(data[0])).all()
    else:
        assert np.isfinite(glm.predict_proba(data[0])).all()


@pytest.mark.parametrize("method", bdl.methods())
@pytest.mark.parametrize("kind", ["numbers", "two classes", "three classes"])
def test_of_networks(method, kind, data):
    estimator = bdl.BayesianMLPRegressor if kind == "numbers" else bdl.BayesianMLPClassifier
    network = estimator(hidden=3, method=method, epochs=2)
    if is_for_linear_models(method):
        with pytest.raises(bdl.UnsupportedError, match="one layer"):
            network.fit(data[0], targets(kind, data[1]))
        return
    network.fit(data[0], targets(kind, data[1]))
    family = bdl.describe_method(method).families[0]
    assert network.optimizer_.method == method and network.posterior_.family in (family, "low_rank", "kronecker")
    predict = network.predict if kind == "numbers" else network.predict_proba
    assert np.isfinite(predict(data[0])).all()


@pytest.mark.parametrize("method", [m for m in bdl.methods() if bdl.describe_method(m).is_stream])
def test_of_streams_block_by_block(method, data):
    network = bdl.BayesianMLPRegressor(hidden=3, method=method)
    for part in np.array_split(np.arange(24), 4):
        network.partial_fit(data[0][part], data[1][part])
    assert np.isfinite(network.predict(data[0])).all() and network.optimizer_.progress.step == 24


def test_dropout_is_judged_without_moments(data):
    network = bdl.BayesianMLPRegressor(hidden=3, method="mc-dropout", epochs=120).fit(*data)
    assert np.isnan(network.optimizer_.diagnosis.mean_shift)
    assert network.posterior_.dropout_rates == (0.0, 0.1)


def test_networks_without_hidden_units_are_linear_models(data):
    network, glm = bdl.BayesianMLPRegressor(hidden=()).fit(*data), bdl.BayesianGLM().fit(*data)
    assert network.optimizer_.method == glm.optimizer_.method == "exact-full"
    assert np.array_equal(network.predict(data[0]), glm.predict(data[0]))


def test_an_optimum_of_a_stream_goes_on_from_its_posterior(data):
    glm = bdl.BayesianGLM().partial_fit(*data)
    assert glm.optimizer_.method == "ekf" and glm.posterior_.family == "full"
    assert glm.set_params(warm_start=True).fit(*data).optimizer_.method == "exact-full"


def test_options_are_set_together():
    model = bdl.Model.mlp([2, 3, 1])
    optimizer = bdl.Optimizer(model, bdl.Posterior.low_rank(model.parameters, 2), "map", 10)
    with pytest.raises(bdl.UnsupportedError, match="adam"):
        optimizer["rule"] = "bbb"
    optimizer.set(rule="bbb", descent="sgd")
    optimizer.set_text("minibatch=3 learning_rate=0.125")
    assert (optimizer["rule"], optimizer["minibatch"], optimizer["learning_rate"]) == ("bbb", 3, 0.125)
    with pytest.raises(bdl.UnknownOptionError, match='no option "sample", did you mean "samples"'):
        optimizer.set(momentum=0.5, sample=3)
    assert optimizer["momentum"] == 0.9


def said_of_baselines(learn):
    """What the call says of baselines, and in which file."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        learn()
    return [(str(w.message), w.filename) for w in said if "is a baseline for" in str(w.message)]


def test_the_first_fit_by_a_baseline_says_what_it_is_for(data, monkeypatch):
    monkeypatch.setattr(learning, "_cautioned", set())
    network = bdl.BayesianMLPRegressor(hidden=3, method="bbb", epochs=1)
    [(message, file)] = said_of_baselines(lambda: network.fit(*data))
    assert message == bdl.describe_method("bbb").caution and file == __file__
    assert message.startswith("bbb is a baseline for comparisons (Blundell et al. 2015): untuned, it had 95 % intervals that contained ")
    assert message.endswith("Method laplace and the default passed the test.")
    assert not said_of_baselines(lambda: network.fit(*data))
    [(_, file)] = said_of_baselines(lambda: bdl.BayesianMLPRegressor(hidden=3, method="bog").partial_fit(*data))
    assert file == __file__
    [(message, _)] = said_of_baselines(lambda: bdl.BayesianMLPRegressor(hidden=3, posterior="dropout", epochs=1).fit(*data))
    assert message.startswith("mc-dropout")
    assert not said_of_baselines(lambda: bdl.BayesianMLPRegressor(hidden=3, epochs=1).fit(*data))


def test_suggestions_are_no_baselines(data):
    model = bdl.Model.mlp([2, 3, 1])
    for in_blocks in (False, True):
        assert not bdl.describe_method(bdl.suggest_training(model, 24, in_blocks).method).is_baseline
    cautions = {name: bdl.describe_method(name).caution for name in bdl.methods()}
    assert cautions["laplace"] == cautions["lo-fi"] == "" and cautions["map"].startswith("map is a baseline")


def test_a_fit_that_has_gone_to_the_constant_says_so():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(50, 10)), rng.normal(size=50)
    with pytest.warns(ConvergenceWarning, match="the same for every row, because a constant model"):
        network = bdl.BayesianMLPRegressor(method="laplace").fit(x, y)
    assert np.std(network.predict(x)) < 0.01 * np.std(y)
