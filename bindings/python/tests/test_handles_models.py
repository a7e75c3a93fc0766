"""Models and predictions against formulas in NumPy."""

import copy
import pickle

import numpy as np
import pytest

import bdl


@pytest.fixture
def network(rng):
    """A small network, parameters and data: x is 7 x 3, y is 7 x 2."""
    model = bdl.Model.mlp([3, 4, 2], activation="tanh")
    return model, rng.normal(size=model.parameters), rng.normal(size=(7, 3)), rng.normal(size=(7, 2))


def forward(theta, x):
    first, bias, second, last = theta[:12].reshape(4, 3), theta[12:16], theta[16:24].reshape(2, 4), theta[24:26]
    return np.tanh(x @ first.T + bias) @ second.T + last


def derivative(function, at, step=1e-6):
    columns = [(function(at + step * e) - function(at - step * e)) / (2 * step) for e in np.eye(len(at))]
    return np.stack(columns, axis=-1)


def test_description(network):
    model = network[0]
    assert (model.parameters, model.inputs, model.outputs, model.targets) == (26, 3, 2, 2)
    assert (model.dtype, model.likelihood, model.activation) == ("float64", "gaussian", "tanh")
    assert model.blocks[2] == bdl.Block("layer1.weight", 16, 2, 4)
    assert repr(model) == "Model.mlp([3, 4, 2], activation='tanh', likelihood='gaussian', dtype='float64')"


def test_outputs_and_derivatives(network):
    model, theta, x, y = network
    assert np.allclose(model.evaluate(theta, x), forward(theta, x))
    assert np.allclose(model.jacobian(theta, x), derivative(lambda t: forward(t, x), theta), atol=1e-7)
    error = y - forward(theta, x)
    assert np.allclose(model.log_likelihood(theta, x, y), np.sum(-0.5 * error**2 - 0.5 * np.log(2 * np.pi), axis=1))
    minus = derivative(lambda t: -model.log_likelihood(t, x, y), theta)
    assert np.allclose(model.gradient_rows(theta, x, y), minus, atol=1e-6)
    hessian = derivative(lambda t: model.gradient_rows(t, x, y).sum(axis=0), theta)
    assert np.allclose(model.hessian(theta, x, y), hessian, atol=1e-5)
    vectors = np.eye(26)[:2]
    assert np.allclose(model.hessian_vector_product(theta, x, y, vectors), hessian[:2], atol=1e-5)


def test_likelihoods(rng):
    x, theta = rng.normal(size=(5, 2)), rng.normal(size=3)
    f = x @ theta[:2] + theta[2]
    y = np.array([0, 1, 1, 0, 1])
    bernoulli = bdl.Model.mlp([2, 1], likelihood="bernoulli").log_likelihood(theta, x, y)
    assert np.allclose(bernoulli, -np.log1p(np.exp(np.where(y == 1, -f, f))))
    poisson = bdl.Model.mlp([2, 1], likelihood="poisson").log_likelihood(theta, x, y)
    assert np.allclose(poisson, y * f - np.exp(f))
    theta = rng.normal(size=9)
    f = x @ theta[:6].reshape(3, 2).T + theta[6:]
    model = bdl.Model.mlp([2, 3], likelihood="categorical")
    expected = f[np.arange(5), y] - np.log(np.exp(f).sum(axis=1))
    assert model.targets == 1 and np.allclose(model.log_likelihood(theta, x, y), expected)


def test_noise(network):
    model = network[0]
    model.noise_precision = 4
    assert np.array_equal(model.noise_covariance, np.eye(2) / 4)
    model.noise_precision = [4, 25]
    assert np.allclose(model.noise_precision, [4, 25])
    model.noise_covariance = [[2, 1], [1, 2]]
    assert np.array_equal(model.noise_covariance, [[2, 1], [1, 2]])
    with pytest.raises(bdl.UnsupportedError):
        model.noise_precision


def test_standardization(network):
    model, theta, x, _ = network
    model.standardization = ([1, 2, 3], [4, 5, 6], [7, 8], [9, 10])
    assert np.array_equal(model.standardization.target_scale, [9, 10])
    assert np.allclose(model.evaluate(theta, x), forward(theta, (x - [1, 2, 3]) / [4, 5, 6]) * [9, 10] + [7, 8])
    model.standardization = (None, None, None, None)
    assert np.allclose(model.evaluate(theta, x), forward(theta, x))
    model.standardize(x)
    assert np.allclose(model.standardization.input_mean, x.mean(axis=0))
    assert np.array_equal(model.standardization.target_mean, [0, 0])


def test_initialization():
    model = bdl.Model.mlp([100, 400, 1])
    he = model.initialize("he", seed=3)[:40_000]
    assert np.isclose(he.var(), 2 / 100, rtol=0.05)
    xavier = model.initialize("xavier")[:40_000]
    assert np.isclose(np.abs(xavier).max(), np.sqrt(6 / 500), rtol=0.01)
    assert np.array_equal(model.initialize(seed=3), model.initialize(seed=3))
    assert not np.array_equal(model.initialize(seed=3), model.initialize(seed=4))


def test_networks_of_layers(rng):
    """A sum of two branches: its outputs by NumPy, its text, its checkpoint."""
    model = bdl.Model.network("input 3; dense 4; residual; tanh; dense 4 nobias; end; dense 2")
    theta, x = rng.normal(size=model.parameters), rng.normal(size=(5, 3))
    first, bias, inner, second, last = np.split(theta, [12, 16, 32, 40])
    hidden = x @ first.reshape(4, 3).T + bias
    hidden = hidden + np.tanh(hidden) @ inner.reshape(4, 4).T
    assert np.allclose(model.evaluate(theta, x), hidden @ second.reshape(2, 4).T + last)
    assert "residual" in repr(model) and model.activation == "tanh"
    copy = pickle.loads(pickle.dumps(model))
    assert copy.description == model.description and np.array_equal(copy.evaluate(theta, x), model.evaluate(theta, x))
    with pytest.raises(bdl.InvalidArgumentError, match="line 2 of the description: dense two"):
        bdl.Model.network("input 3\ndense two")
    random = bdl.Model.network("input 3; dense 4; dropout 0.2; dense 2")
    with pytest.raises(bdl.UnsupportedError, match='"dropout 0.2" \\(line 3\\)'):
        bdl.Optimizer(random, bdl.Posterior.low_rank(random.parameters, 0), "von", 5)


def test_models_of_ones_own(rng):
    """A polynomial, as a custom model and by its design matrix."""
    design = lambda x: np.hstack([x**2, x, np.ones_like(x)])  # noqa: E731
    model = bdl.Model.user(
        lambda theta, x: design(x) @ theta, lambda theta, x, seeds: seeds * design(x), inputs=1, outputs=1, parameters=3
    )
    x, theta = rng.normal(size=(6, 1)), np.array([1.0, 2.0, 3.0])
    assert np.allclose(model.evaluate(theta, x)[:, 0], design(x) @ theta)
    assert np.allclose(model.jacobian(theta, x)[:, 0], design(x))
    assert model.activation is None and model.description is None and "Model.user(inputs=1" in repr(model)
    q = bdl.Posterior.full(3)
    optimizer = bdl.Optimizer(model, q, "bong", 6, learn_noise=0)
    optimizer.observe(x, design(x) @ theta)
    covariance = np.linalg.inv(design(x).T @ design(x) + np.eye(3))
    assert np.allclose(q.covariance(), covariance)
    blind = bdl.Model.user(lambda theta, x: x * theta, None, 1, 1, 1)
    assert blind.evaluate([2.0], [[3.0]]) == 6
    with pytest.raises(bdl.UnsupportedError):
        blind.jacobian([2.0], [[3.0]])


def test_user_functions_raise_what_they_raise():
    def fails(theta, x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        bdl.Model.user(fails, None, 1, 1, 1).evaluate([1.0], [[1.0]])


@pytest.fixture
def linear(rng):
    """A linear model of two outputs under a full posterior, and data: predictions have closed forms."""
    model, q = bdl.Model.mlp([2, 2]), bdl.Posterior.full(6)
    root = rng.normal(size=(6, 6))
    q.set_full(rng.normal(size=6), root @ root.T + np.eye(6))
    model.noise_covariance = [[1.0, 0.3], [0.3, 0.5]]
    x = rng.normal(size=(4, 2))
    jacobian = model.jacobian(q.mean, x)
    return model, q, x, model.evaluate(q.mean, x), jacobian @ q.covariance() @ jacobian.transpose(0, 2, 1)


def test_moments_of_predictions(linear):
    model, q, x, mean, covariance = linear
    found_mean, found_covariance = bdl.predict_output_distribution(model, q, x)
    assert np.allclose(found_mean, mean) and np.allclose(found_covariance, covariance)
    exact = bdl.predict(model, q, x, "linearized")
    variances = np.diagonal(covariance, axis1=1, axis2=2)
    assert np.allclose(exact.mean, mean) and np.allclose(exact.epistemic_variance, variances)
    assert np.allclose(exact.noise_variance, [1.0, 0.5])
    drawn = bdl.predict(model, q, x, samples=20_000, seed=4)
    assert np.allclose(drawn.mean, mean, atol=0.05) and np.allclose(drawn.epistemic_variance, variances, rtol=0.1)
    plug_in = bdl.predict(model, q, x, "plug_in")
    assert np.allclose(plug_in.mean, mean) and np.all(plug_in.epistemic_variance == 0)


def test_distributions_of_predictions(linear):
    scipy = pytest.importorskip("scipy.stats")
    model, q, x, mean, covariance = linear
    total = covariance + model.noise_covariance
    y = mean + 0.5
    density = [scipy.multivariate_normal(m, c).logpdf(row) for m, c, row in zip(mean, total, y)]
    assert np.allclose(bdl.predict_log_density(model, q, x, y, "linearized"), density)
    std = np.sqrt(np.diagonal(total, axis1=1, axis2=2))
    levels = [0.05, 0.5, 0.8]
    expected = mean[..., np.newaxis] + std[..., np.newaxis] * scipy.norm.ppf(levels)
    assert np.allclose(bdl.predict_quantiles(model, q, x, levels, "linearized"), expected, atol=1e-8)
    lower, upper = bdl.predict_interval(model, q, x, 0.9, "linearized")
    assert np.allclose(lower, mean - scipy.norm.ppf(0.95) * std) and np.allclose(upper, 2 * mean - lower)
    draws = bdl.predict_draws(model, q, x, 20_000)
    assert draws.shape == (4, 2, 20_000) and np.allclose(draws.std(axis=2), std, rtol=0.05)


@pytest.mark.parametrize("sizes, likelihood, columns", [([2, 3], "categorical", 1), ([2, 1], "bernoulli", 1)])
def test_classes(rng, sizes, likelihood, columns):
    model = bdl.Model.mlp(sizes, likelihood=likelihood)
    q = bdl.Posterior.full(model.parameters)
    q.set_full(rng.normal(size=q.dimension), np.eye(q.dimension))
    x = rng.normal(size=(5, 2))
    found = bdl.predict_classes(model, q, x, samples=100)
    p = found.probabilities if sizes[1] > 1 else np.hstack([1 - found.probabilities, found.probabilities])
    assert np.allclose(p.sum(axis=1), 1) and found.entropy.shape == (5, columns)
    assert np.allclose(found.entropy[:, 0], -np.sum(p * np.log(p), axis=1))
    assert np.all((0 < found.mutual_information) & (found.mutual_information < found.entropy))
    linearized = bdl.predict_classes(model, q, x, "linearized")
    assert (linearized.mutual_information is None) == (likelihood == "categorical")
    if likelihood == "bernoulli":
        exact = bdl.predict_classes(model, q, x, "quadrature").probabilities
        assert np.allclose(exact, bdl.predict_classes(model, q, x, samples=50_000).probabilities, atol=0.01)


@pytest.mark.parametrize(
    "duplicate", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy, copy.copy, lambda m: m.copy()]
)
def test_duplicates(network, duplicate):
    model, theta, x, _ = network
    model.noise_precision = [2, 3]
    twin = duplicate(model)
    assert repr(twin) == repr(model) and np.array_equal(twin.evaluate(theta, x), model.evaluate(theta, x))
    twin.noise_precision = [1, 1]
    assert np.allclose(model.noise_precision, [2, 3])


def test_copies_of_own_models():
    scale = np.array([2.0])
    model = bdl.Model.user(lambda theta, x: x * theta * scale, None, inputs=1, outputs=1, parameters=1)
    for twin in (model.copy(), copy.deepcopy(model)):
        twin.noise_precision = 7
        assert model.noise_precision == 1 and twin.noise_precision == 7
        assert twin.evaluate([3], [[1]]) == model.evaluate([3], [[1]]) == 6
    model.close()
    del model
    assert twin.evaluate([3], [[1]]) == 6
    with pytest.raises(bdl.UnsupportedError, match="cannot be pickled"):
        pickle.dumps(twin)


def test_closing(network):
    with network[0] as model:
        assert not model.closed
    model.close()
    assert model.closed and repr(model) == "<closed Model>"
    with pytest.raises(bdl.InvalidArgumentError, match="the model is closed"):
        model.parameters


def test_what_was_built():
    assert bdl.__version__ in bdl.build_info()


def test_noise_precision_of_several_outputs():
    model = bdl.Model.mlp([2, 3])
    assert model.noise_precision.tolist() == [1, 1, 1]
    model.noise_precision = 4.0
    assert model.noise_precision.tolist() == [4, 4, 4]
    model.noise_precision = [1, 2, 3]
    assert model.noise_precision.tolist() == [1, 2, 3]
