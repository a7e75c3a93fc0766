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
