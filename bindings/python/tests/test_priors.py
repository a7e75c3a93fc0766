"""Posteriors as priors, and all that posteriors consist of."""

import numpy as np
import pytest

import bdl

D, N, TAU = 3, 20, 4.0


def data(orthogonal=False):
    i = np.arange(N)
    if orthogonal:
        X = np.array([[1.0 if bin(a & k).count("1") % 2 == 0 else -1.0 for k in range(D)] for a in i])
    else:
        X = np.sin(1.3 * i[:, None] * (1 + np.arange(D)) + 0.4)
    return X, np.cos(0.9 * i) + X[:, 1]


def learn(q, method, X, y, prior):
    model = bdl.Model.mlp([D, 1], bias=False)
    model.noise_precision = TAU
    optimizer = bdl.Optimizer(model, q, method, len(X), learn_prior=0, learn_noise=0)
    optimizer.set_prior(prior)
    if bdl.describe_method(method).is_stream:
        optimizer["block"] = 0
        optimizer.observe(X, y)
    else:
        optimizer.fit(X, y, epochs=500)
    return q


@pytest.mark.parametrize(
    ("create", "method"),
    [
        (lambda: bdl.Posterior.full(D), "exact-full"),
        (lambda: bdl.Posterior.blockwise_full([D]), "exact-full"),
        (lambda: bdl.Posterior.low_rank(D, D), "lo-fi"),
        (lambda: bdl.Posterior.low_rank(D, 0), "exact-diagonal"),
    ],
)
def test_two_parts_are_the_whole(create, method):
    X, y = data(orthogonal=method == "exact-diagonal")
    first = learn(create(), method, X[:12], y[:12], create())
    second = learn(create(), method, X[12:], y[12:], first)
    precision = np.eye(D) + TAU * X.T @ X
    assert np.allclose(second.mean, np.linalg.solve(precision, TAU * X.T @ y), rtol=0, atol=1e-9)
    expected = np.linalg.inv(np.diag(np.diag(precision)) if method == "exact-diagonal" else precision)
    assert np.allclose(second.covariance(), expected, rtol=0, atol=1e-9)


def test_estimators_take_another_fit_as_their_prior():
    X, y = data()
    options = {"learn_noise": 0, "initial_noise_precision": 2.0}
    first = bdl.BayesianGLM(options=options).fit(X[:12], y[:12])
    second = bdl.BayesianGLM(options=options, prior=first.optimizer_).fit(X[12:], y[12:])
    assert np.array_equal(second.model_.standardization.input_mean, first.model_.standardization.input_mean)
    assert np.all(second.posterior_.variance < first.posterior_.variance)
    kl = second.posterior_.kl(first.posterior_)
    assert np.isclose(second.optimizer_.elbo(X[12:], y[12:], 0).kl, kl)
    network = bdl.BayesianMLPRegressor(hidden=(4,), epochs=20, posterior="layerwise_full")
    before = network.fit(X[:12], y[:12]).posterior_
    after = bdl.BayesianMLPRegressor(hidden=(4,), epochs=5, posterior="layerwise_full", prior=before).fit(X, y)
    assert after.posterior_.family == "layerwise_full"
    with pytest.raises(TypeError, match="prior is a str"):
        bdl.BayesianGLM(prior="flat").fit(X, y)
    with pytest.raises(bdl.UnsupportedError, match="low-rank"):
        bdl.BayesianGLM(method="slang-ggn", posterior="low_rank", rank=1, prior=first.posterior_).fit(X, y)


def test_tensors():
    q = bdl.Posterior.blockwise_full([2, 1])
    q.set_tensors({"mean": [1, 2, 3], "block0.precision": [[2, 1], [1, 2]]})
    assert np.allclose(q.variance, [2 / 3, 2 / 3, 1])
    for other in (q, bdl.Posterior.low_rank(3, 0), bdl.Posterior.low_rank(3, 2), bdl.Posterior.diagonal_moment(3)):
        copy = other.copy()
        copy.set_tensors({"mean": [7, 7, 7]})
        assert np.array_equal(copy.mean, [7, 7, 7])
        copy.set_tensors(other.tensors())
        assert all(np.array_equal(copy.tensors()[name], values) for name, values in other.tensors().items())
    for tensors, error, message in [
        ({"mean": [1, 2]}, bdl.ShapeError, "mean has 2 columns"),
        ({"covariance": np.eye(3)}, bdl.InvalidArgumentError, "covariance"),
        ({"block0.precision": -np.eye(2)}, bdl.InvalidArgumentError, "not positive definite"),
        ({"mean": "abc"}, TypeError, "mean"),
    ]:
        with pytest.raises(error, match=message):
            q.set_tensors(tensors)
    with pytest.raises(TypeError, match="tuples"):
        bdl.lowlevel.bdl_posterior_set_tensors(q._handle, [1])
    assert np.array_equal(q.mean, [1, 2, 3])


def test_low_rank_moment():
    q = bdl.Posterior.low_rank_moment(3, 2)
    W = np.array([[1, 0], [1, 2], [0, 0.5]])
    q.set_low_rank_moment([1, 2, 3], W, [0.1, 0.2, 0.3])
    assert (q.family, q.rank) == ("low_rank_moment", 2)
    assert np.allclose(q.covariance(), W @ W.T + np.diag([0.1, 0.2, 0.3]))
    model = bdl.Model.mlp([2, 3, 1])
    layers = bdl.Posterior.layerwise_low_rank_moment(model, 1)
    layers.set_tensors({"block1.low_rank": np.ones((4, 1)), "block1.diagonal": np.full(4, 0.5)})
    assert (layers.family, layers.rank) == ("layerwise_low_rank_moment", 1)
    assert np.allclose(layers.variance, [1] * 9 + [1.5] * 4)
    with pytest.raises(bdl.UnsupportedError, match="layerwise_low_rank_moment"):
        bdl.Optimizer(model, layers, "slang", 10)


def test_kronecker():
    model = bdl.Model.mlp([2, 3, 1])
    q = bdl.Posterior.kronecker(model)
    c, s = np.cos(0.3), np.sin(0.3)
    precision = np.arange(1, 5.0).reshape(4, 1)
    q.set_tensors({"block1.input_vectors": np.kron(np.eye(2), [[c, -s], [s, c]]), "block1.precision": precision})
    assert q.family == "kronecker"
    assert np.allclose(q.variance[9:], [c * c + s * s / 2, s * s + c * c / 2, c * c / 3 + s * s / 4, s * s / 3 + c * c / 4])
    assert np.allclose(q.as_diagonal().variance, q.variance)
    with pytest.raises(bdl.InvalidArgumentError, match="orthogonal"):
        q.set_tensors({"block1.input_vectors": np.ones((4, 4))})
    with pytest.raises(bdl.UnsupportedError, match="kronecker"):
        bdl.Optimizer(model, q, "slang", 10)


def test_layerwise_full():
    model = bdl.Model.mlp([2, 3, 1])
    q = bdl.Posterior.layerwise_full(model)
    assert (q.family, q.dimension, list(q.tensors())[1]) == ("layerwise_full", 13, "block0.precision")
    assert bdl.Posterior.blockwise_full(np.array([9, 4]), "float32").dtype == "float32"


def line(n=30, factor=1.0):
    rng = np.random.default_rng(5)
    X = np.column_stack([100 + 3 * rng.normal(size=n), rng.normal(size=n) / 100]) * [factor, 1]
    y = 40 + 2 / factor * X[:, 0] - 30 * X[:, 1] + rng.normal(size=n)
    return X, y


KNOWN = {"learn_noise": 0}


def closed_form(X, y, location, scale, tau):
    Z = np.column_stack([np.ones(len(X)), X])
    size = 1 / np.linalg.norm(Z, axis=0)
    Z = Z * size
    precision = (size / np.asarray(scale)) ** 2
    covariance = np.linalg.inv(np.diag(precision) + tau * Z.T @ Z)
    mean = covariance @ (tau * Z.T @ y + precision * np.asarray(location) / size)
    return mean * size, covariance * np.outer(size, size)


@pytest.mark.parametrize("factor", [1, 1e-3])
def test_normal_priors_are_in_the_units_of_the_data(factor):
    X, y = line(factor=factor)
    prior = {"intercept": bdl.normal(20, 10), "x0": bdl.normal(1.5 / factor, 0.2 / factor), "x1": bdl.normal(0, 5)}
    glm = bdl.BayesianGLM(prior=prior, options=KNOWN).fit(X, y)
    tau = glm.model_.noise_precision[0]
    mean, covariance = closed_form(X, y, [20, 1.5 / factor, 0], [10, 0.2 / factor, 5], tau)
    std = np.sqrt(np.diag(covariance))
    assert np.allclose([glm.intercept_, *glm.coef_], mean, rtol=0, atol=1e-9 * std.max() / std.min() * std)
    assert np.allclose([glm.intercept_std_, *glm.coef_std_], std, rtol=1e-9)
    table = glm.summary()
    assert np.allclose(table.prior.location, [20, 1.5 / factor, 0])
    assert f"normal(20, 10)" in str(table) and "prior" in str(table)
    assert list(table.to_frame()["prior scale"]) == [10, 0.2 / factor, 5]


def test_one_prior_is_that_of_slopes():
    X, y = line()
    glm = bdl.BayesianGLM(prior=bdl.normal(0, [0.5, np.inf])).fit(X, y)
    prior = glm.optimizer_.coefficient_prior
    assert np.allclose(prior.scale[0, 1:], [0.5, np.inf]) and np.isclose(prior.location[0, 0], y.mean())
    flat = bdl.BayesianGLM(prior={"intercept": bdl.normal(0, np.inf), "x0": bdl.normal(0, np.inf), "x1": bdl.normal(0, np.inf)})
    flat.fit(X, y)
    expected = np.linalg.lstsq(np.column_stack([np.ones(len(X)), X]), y, rcond=None)[0]
    assert np.allclose([flat.intercept_, *flat.coef_], expected, rtol=1e-8)


def test_priors_of_several_outputs_have_their_names():
    X, y = line()
    Y = np.column_stack([y, -y])
    prior = {"x0": bdl.normal(0, 1), "1: x1": bdl.normal(3, 2), "0: intercept": bdl.normal(40, 1)}
    glm = bdl.BayesianGLM(prior=prior).fit(X, Y)
    given = glm.optimizer_.coefficient_prior
    assert given.scale[0, 1] == 1 and given.scale[1, 1] == 1 and given.scale[1, 2] == 2 and given.location[1, 2] == 3
    assert given.location[0, 0] == 40 and given.scale[0, 0] == 1


def test_checkpoints_keep_normal_priors():
    import pickle

    X, y = line()
    glm = bdl.BayesianGLM(prior={"x0": bdl.normal(1, 0.1)}).fit(X, y)
    copy = pickle.loads(pickle.dumps(glm))
    assert copy.optimizer_.coefficient_prior.scale[0, 1] == 0.1
    assert np.array_equal(copy.optimizer_.prior_precision, glm.optimizer_.prior_precision)


def test_networks_have_priors_by_layer_and_feature():
    X, y = line()
    prior = {"layer1.weight": bdl.normal(0, 0.25), "x1": bdl.normal(0, 0.001)}
    m = bdl.BayesianMLPRegressor(hidden=[4], prior=prior, epochs=20, noise="gaussian").fit(X, y)
    precision = m.optimizer_.prior_precision
    first, second = m.model_.blocks[0], m.model_.blocks[2]
    assert np.allclose(precision[second.offset : second.offset + 4], 16)
    assert np.allclose(precision[1:8:2], 1e6) and not np.allclose(precision[0:8:2], 1e6)
    assert np.abs(m.posterior_.mean[1:8:2]).max() < 0.01 and first.cols == 2


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ({"x7": bdl.normal(0, 1)}, "prior has the name 'x7', which is unknown: did you mean 'x"),
        ({"Intercept": bdl.normal(0, 1)}, "did you mean 'intercept'?"),
        ({"age": bdl.normal(0, 1)}, "expected one of: 'intercept', 'x0', 'x1'"),
        ({"x0": 3}, r"prior\['x0'\] is 3, expected bdl.normal\(location, scale\)"),
        (bdl.normal(0, [1, 2, 3]), "prior has 3 numbers, expected 1 or 2"),
        ("flat", "prior is a str, expected bdl.normal"),
    ],
)
def test_mistakes_in_priors_are_explained(prior, message):
    X, y = line()
    with pytest.raises((ValueError, TypeError), match=message):
        bdl.BayesianGLM(prior=prior).fit(X, y)


def test_normal_refuses_what_is_no_prior():
    with pytest.raises(ValueError, match="scale is -1, expected positive numbers"):
        bdl.normal(0, -1)
    with pytest.raises(ValueError, match="location is inf, expected finite numbers"):
        bdl.normal(np.inf, 1)
    with pytest.raises(ValueError, match="location is 'a', expected a number"):
        bdl.normal("a", 1)


def test_precisions_of_inputs_find_the_useful_ones():
    """Friedman (1991): five of ten inputs do nothing."""
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(450, 10))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4] + rng.normal(size=450)
    train, test = slice(0, 150), slice(150, None)
    errors = {}
    for groups in "layers", "inputs":
        m = bdl.BayesianMLPRegressor(options={"prior_groups": groups}).fit(X[train], y[train])
        errors[groups] = np.sqrt(np.mean((m.predict(X[test]) - y[test]) ** 2))
    precision = m.optimizer_.prior_precision[:10]
    assert np.median(precision[5:]) > 3 * np.median(precision[:5]), precision
    assert errors["inputs"] < errors["layers"], errors


def test_weights_and_normal_priors_go_together():
    X, y = line()
    prior = {"intercept": bdl.normal(20, 10), "x0": bdl.normal(1.5, 0.2)}
    weights = np.arange(len(X)) % 3
    weighted = bdl.BayesianGLM(prior=prior).fit(X, y, sample_weight=weights)
    repeated = bdl.BayesianGLM(prior=prior).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert np.allclose(weighted.coef_, repeated.coef_, rtol=1e-9)
    assert np.allclose(weighted.coef_std_, repeated.coef_std_, rtol=1e-9)
