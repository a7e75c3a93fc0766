"""Posteriors, metrics and checkpoints against formulas in NumPy."""

import copy
import pickle

import numpy as np
import pytest

import bdl
from bdl import metrics

D = 6


def posteriors(rng):
    """One of each Gaussian family, its mean and its covariance."""
    mean, diagonal, u = rng.normal(size=D), rng.uniform(1, 2, D), rng.normal(size=(D, 2))
    root = rng.normal(size=(D, D))
    full = root @ root.T + np.eye(D)
    made = {}
    made["low_rank"] = bdl.Posterior.low_rank(D, 2), np.linalg.inv(u @ u.T + np.diag(diagonal))
    made["low_rank"][0].set_low_rank(mean, u, diagonal)
    made["diagonal"] = bdl.Posterior.low_rank(D, 0), np.diag(1 / diagonal)
    made["diagonal"][0].set_low_rank(mean, None, diagonal)
    made["full"] = bdl.Posterior.full(D), np.linalg.inv(full)
    made["full"][0].set_full(mean, full)
    made["full_moment"] = bdl.Posterior.full_moment(D), full
    made["full_moment"][0].set_full_moment(mean, full)
    made["diagonal_moment"] = bdl.Posterior.diagonal_moment(D), np.diag(diagonal)
    made["diagonal_moment"][0].set_diagonal_moment(mean, diagonal)
    return {name: (q, mean, covariance) for name, (q, covariance) in made.items()}


names = ["low_rank", "diagonal", "full", "full_moment", "diagonal_moment"]


@pytest.fixture(params=names)
def posterior(request, rng):
    return posteriors(rng)[request.param]


def test_description():
    q = bdl.Posterior.low_rank(7, 3, "float32")
    assert (q.dimension, q.rank, q.family, q.dtype, q.is_blank) == (7, 3, "low_rank", "float32", True)
    assert repr(q) == "<Posterior low_rank: dimension=7, rank=3, dtype='float32'>"
    assert bdl.Posterior.full(4).rank == 4
    q.set_low_rank(np.zeros(7), np.zeros((7, 3)), np.ones(7))
    assert not q.is_blank


def test_moments(posterior):
    q, mean, covariance = posterior
    assert np.allclose(q.mean, mean) and np.allclose(q.variance, np.diag(covariance))
    assert np.allclose(q.covariance(), covariance)
    assert np.allclose(q.covariance([4, 0], [1]), covariance[np.ix_([4, 0], [1])])
    assert np.allclose(q.precision_diagonal, np.diag(np.linalg.inv(covariance)))
    vectors = np.arange(2.0 * D).reshape(2, D)
    assert np.allclose(q.solve(vectors), vectors @ covariance)
    assert np.allclose(q.solve(vectors[0]), vectors[:1] @ covariance)


def test_densities(posterior, rng):
    q, mean, covariance = posterior
    log_det = np.linalg.slogdet(covariance)[1]
    assert np.isclose(q.log_det_covariance, log_det)
    assert np.isclose(q.entropy, 0.5 * log_det + 0.5 * D * np.log(2 * np.pi * np.e))
    theta = rng.normal(size=(4, D))
    squares = np.einsum("ij,jk,ik->i", theta - mean, np.linalg.inv(covariance), theta - mean)
    assert np.allclose(q.log_density(theta), -0.5 * (squares + log_det + D * np.log(2 * np.pi)))


def kl(mean, covariance, other_mean, other_covariance):
    inverse = np.linalg.inv(other_covariance)
    shift, ratio = mean - other_mean, np.linalg.slogdet(other_covariance)[1] - np.linalg.slogdet(covariance)[1]
    return 0.5 * (np.trace(inverse @ covariance) + shift @ inverse @ shift - D + ratio)


@pytest.mark.parametrize("first", names)
@pytest.mark.parametrize("second", names)
def test_divergences(rng, first, second):
    made = posteriors(rng)
    (q, *of_q), (p, *of_p) = made[first], made[second]
    assert np.isclose(q.kl(p), kl(*of_q, *of_p), atol=1e-8)
    assert np.isclose(q.kl_prior(2.0), kl(*of_q, np.zeros(D), np.eye(D) / 2))
    precision = np.arange(1.0, D + 1)
    assert np.isclose(q.kl_prior(precision), kl(*of_q, np.zeros(D), np.diag(1 / precision)))


def test_draws(posterior):
    q, mean, covariance = posterior
    draws = q.sample(40_000, seed=2)
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert np.all(np.abs(draws.mean(axis=0) - mean) < 0.03 * np.sqrt(np.diag(covariance)))
    assert np.all(np.abs(np.cov(draws.T) - covariance) < 0.04 * scale)
    assert np.array_equal(q.sample(3, seed=2, first=5), draws[5:8])


def test_low_rank_parts(rng):
    q, _, covariance = posteriors(rng)["low_rank"]
    u, d = q.low_rank_parts
    assert np.allclose(np.linalg.inv(u @ u.T + np.diag(d)), covariance)
    assert posteriors(rng)["diagonal"][0].low_rank_parts[0].shape == (D, 0)


def test_update(rng):
    """One step of SLANG without projection: a full posterior's is the plain formula."""
    q, mean, covariance = posteriors(rng)["full"]
    rows = rng.normal(size=(3, D))
    q.update(rows, scale=2.0, learning_rate=0.1, curvature_rate=0.2, prior_precision=3.0)
    precision = 0.8 * np.linalg.inv(covariance) + 0.2 * (2.0 * rows.T @ rows + 3.0 * np.eye(D))
    assert np.allclose(np.linalg.inv(q.covariance()), precision)
    assert np.allclose(q.mean, mean - 0.1 * np.linalg.solve(precision, 2.0 * rows.sum(axis=0) + 3.0 * mean))


def test_dropout():
    model = bdl.Model.mlp([2, 50, 1])
    q = bdl.Posterior.dropout(model, 0.0, 0.5)
    q.set_dropout(np.ones(model.parameters))
    assert q.family == "dropout" and q.dropout_rates == (0.0, 0.5)
    dropped = q.sample(200)[:, 150:200]
    assert set(np.unique(dropped)) == {0.0, 2.0} and 0.45 < np.mean(dropped == 0) < 0.55
    with pytest.raises(bdl.UnsupportedError):
        q.entropy


@pytest.mark.parametrize(
    "duplicate", [lambda q: pickle.loads(pickle.dumps(q)), copy.deepcopy, copy.copy, lambda q: q.copy()]
)
def test_duplicates(posterior, duplicate):
    q, mean, covariance = posterior
    twin = duplicate(q)
    assert repr(twin) == repr(q) and np.array_equal(twin.sample(3), q.sample(3))
    twin.update(np.ones((1, D)), learning_rate=0.001, curvature_rate=0.001)
    assert np.allclose(q.mean, mean)


def test_checkpoints(tmp_path):
    model, q = bdl.Model.mlp([2, 1]), bdl.Posterior.full(3)
    q.set_full([1, 2, 3], np.diag([1, 2, 3]))
    bdl.save(tmp_path / "both", model, q)
    found = bdl.load(str(tmp_path / "both"))
    assert repr(found.model) == repr(model) and np.array_equal(found.posterior.mean, q.mean)
    assert found.optimizer is None
    bdl.Optimizer(model, q, "slang-exact-hess", 9, seed=4)
    bdl.save(tmp_path / "all", optimizer=bdl.Optimizer(model, q, "slang-exact-hess", 9, seed=4))
    found = bdl.load(tmp_path / "all")
    assert found.optimizer["seed"] == 4 and found.optimizer.data_size == 9
    assert found.optimizer.model is found.model and found.optimizer.posterior is found.posterior
    own = bdl.Model.user(lambda theta, x: x @ theta[:, np.newaxis], None, 2, 1, 2)
    bdl.save(tmp_path / "own", own)
    assert bdl.load(tmp_path / "own", user_model=own).model.evaluate([1.0, 2.0], [[3.0, 4.0]]) == 11


def test_metrics(rng):
    mean, y = rng.normal(size=(2, 50))
    assert np.isclose(metrics.rmse(mean, y), np.sqrt(np.mean((mean - y) ** 2)))
    assert np.allclose(metrics.log_predictive_density(y), (y.mean(), y.std(ddof=1) / np.sqrt(50)))
    p, labels = rng.dirichlet([1, 1, 1], size=50), rng.integers(3, size=50)
    hits = p.argmax(axis=1) == labels
    assert np.isclose(metrics.accuracy(p, labels), hits.mean())
    assert np.isclose(metrics.brier(p, labels), np.mean(np.sum((p - np.eye(3)[labels]) ** 2, axis=1)))
    confidence = p.max(axis=1)
    bins = np.minimum((confidence * 10).astype(int), 9)
    members = [bins == b for b in np.unique(bins)]
    gaps = [part.mean() * abs(hits[part].mean() - confidence[part].mean()) for part in members]
    assert np.isclose(metrics.ece(p, labels, bins=10), sum(gaps))
    assert np.isclose(metrics.coverage(mean - 1, mean + 1, y), np.mean(np.abs(mean - y) <= 1))
    draws = rng.normal(size=(50, 20))
    spread = np.abs(draws[:, :, np.newaxis] - draws[:, np.newaxis]).sum(axis=(1, 2)) / (20 * 19)
    expected = np.mean(np.abs(draws - y[:, np.newaxis]).mean(axis=1) - 0.5 * spread)
    assert np.isclose(metrics.crps(draws, y), expected)
