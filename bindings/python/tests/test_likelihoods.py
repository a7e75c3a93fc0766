"""Links, negative binomial, Gamma and ordinal models, from Model to BayesianGLM."""

import pickle

import numpy as np
import pytest
from scipy import stats

import bdl


@pytest.fixture
def eta(rng):
    X = rng.normal(size=(600, 2))
    return X, 0.4 + X @ [0.8, -0.5]


def targets_of(family, eta, rng):
    if family == "probit":
        return (rng.uniform(size=len(eta)) < stats.norm.cdf(eta)).astype(int)
    if family == "cloglog":
        return (rng.uniform(size=len(eta)) < 1 - np.exp(-np.exp(eta))).astype(int)
    if family == "negative_binomial":
        return rng.negative_binomial(3, 3 / (3 + np.exp(eta)))
    if family == "gamma":
        return rng.gamma(4, np.exp(eta) / 4)
    return np.array(["low", "mid", "high"])[np.digitize(eta + rng.logistic(size=len(eta)), [-0.5, 1.5])]


families = ["probit", "cloglog", "negative_binomial", "gamma", "ordinal"]


@pytest.mark.parametrize("family", families)
def test_coefficients_are_found(family, eta, rng):
    X, f = eta
    y = targets_of(family, f, rng)
    if family == "ordinal":
        pandas = pytest.importorskip("pandas")
        y = pandas.Series(pandas.Categorical(y, ["low", "mid", "high"], ordered=True))
    glm = bdl.BayesianGLM(family).fit(X, y)
    deviations = (np.ravel(glm.coef_) - [0.8, -0.5]) / np.ravel(glm.coef_std_)
    assert np.abs(deviations).max() < 4
    again = pickle.loads(pickle.dumps(glm))
    assert np.array_equal(again.predict(X[:5]), glm.predict(X[:5]))
    if family in ("negative_binomial", "gamma"):
        assert abs(np.log(glm.model_.shape / {"gamma": 4, "negative_binomial": 3}[family])) < 0.5
        lower, upper = glm.predict(X, interval=0.8)
        assert 0.75 < np.mean((y >= lower) & (y <= upper)) < (0.85 if family == "gamma" else 0.96)  # counts cover more
        assert glm.score(X, y) > 0.05
    else:
        probabilities = glm.predict_proba(X)
        assert np.allclose(probabilities.sum(axis=1), 1)
        assert list(glm.classes_) == (["low", "mid", "high"] if family == "ordinal" else [0, 1])
        assert glm.score(X, y) > 0.5
    if family == "ordinal":
        cuts = glm.model_.cut_points - np.ravel(glm.intercept_)
        assert np.abs(cuts - [-0.9, 1.1]).max() < 0.5
    assert glm.sample_y(X[:3], n_samples=10).shape == (3, 10)
    assert str(glm.summary())


@pytest.mark.parametrize("family", families)
def test_streams_learn(family, eta, rng):
    X, f = eta
    y = targets_of(family, f, rng)
    glm = bdl.BayesianGLM(family)
    classes = {"ordinal": ["low", "mid", "high"], "probit": [0, 1], "cloglog": [0, 1]}.get(family)
    for first in range(0, 600, 200):
        glm.partial_fit(X[first : first + 200], y[first : first + 200], classes=classes)
    assert np.abs(np.ravel(glm.coef_) - [0.8, -0.5]).max() < 0.4
    assert glm.optimizer_.prequential.count == 600


def test_an_order_of_classes_is_kept(eta, rng):
    X, f = eta
    y = targets_of("ordinal", f, rng)
    glm = bdl.BayesianGLM("ordinal").partial_fit(X, y, classes=["low", "mid", "high"])
    assert list(glm.classes_) == ["low", "mid", "high"]
    assert glm.model_.levels == 3 and len(glm.model_.cut_points) == 2
    assert list(bdl.BayesianGLM("ordinal").fit(X, y).classes_) == ["high", "low", "mid"]


def test_shapes_are_attributes():
    model = bdl.Model.mlp([2, 1], likelihood="gamma")
    model.shape = 3
    assert model.shape == 3 and model.levels == 0
    with pytest.raises(bdl.InvalidArgumentError, match="shape is -1"):
        model.shape = -1
    ordinal = bdl.Model.mlp([2, 1], likelihood="ordinal")
    ordinal.cut_points = [-1, 0, 2.5]
    assert ordinal.levels == 4 and ordinal.cut_points.tolist() == [-1, 0, 2.5]
    ordinal.class_labels = ["a", "b", "c", "d"]
    assert list(ordinal.class_labels) == ["a", "b", "c", "d"]
    ordinal.levels = 3
    assert ordinal.class_labels is None
    with pytest.raises(bdl.UnsupportedError, match="not ordinal"):
        model.cut_points = [1, 2]


def test_predictions_have_a_column_for_each_level(rng):
    model = bdl.Model.mlp([2, 4, 1], likelihood="ordinal")
    model.levels = 5
    x, q = rng.normal(size=(3, 2)), bdl.Posterior.full(model.parameters)
    for method in ("monte_carlo", "linearized", "linearized_monte_carlo", "plug_in"):
        found = bdl.predict_classes(model, q, x, method)
        assert found.probabilities.shape == (3, 5) and found.entropy.shape == (3, 1)
        assert np.allclose(found.probabilities.sum(axis=1), 1)
        assert bdl.predict(model, q, x, method).mean.shape == (3, 5)
    assert bdl.Predictor(model, q, method="linearized").predict_classes(x).probabilities.shape == (3, 5)


@pytest.mark.parametrize("family", families)
def test_networks_beat_a_constant(family, rng):
    X = rng.uniform(-2, 2, size=(400, 1))
    y = targets_of(family, 2 * np.sin(2 * X[:, 0]), rng)
    numbers = np.searchsorted(["high", "low", "mid"], y) if family == "ordinal" else y
    if family == "ordinal":
        numbers = np.array([2, 0, 1])[numbers]
    model = bdl.Model.mlp([1, 20, 1], likelihood=family)
    if family == "ordinal":
        model.levels = 3
    model.standardize(X[:300])
    optimizer = bdl.Optimizer(model, bdl.Posterior.low_rank(model.parameters, 3), "slang-ggn", 300)
    optimizer.fit(X[:300], numbers[:300], epochs=100)
    found = bdl.predict_log_density(model, optimizer.posterior, X[300:], numbers[300:]).mean()
    constant = bdl.Model.mlp([1, 1], likelihood=family)
    if family == "ordinal":
        constant.levels = 3
    flat = bdl.Optimizer(constant, bdl.Posterior.full(2), "exact-full", 300)
    flat.fit(np.zeros((300, 1)), numbers[:300])
    assert found > bdl.predict_log_density(constant, flat.posterior, np.zeros((100, 1)), numbers[300:], "quadrature").mean()
