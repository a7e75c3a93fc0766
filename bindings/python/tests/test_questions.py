"""What a posterior can be asked: intervals and samples of means and links, log likelihoods, WAIC and LOO, contrasts."""

import bdl
import numpy as np
import pytest
from scipy.stats import t


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 2)) * [1, 10] + [0, 5]
    eta = 0.5 + X @ [1.0, -0.1]
    return X, {
        "gaussian": eta + rng.normal(size=80),
        "bernoulli": (rng.uniform(size=80) < 1 / (1 + np.exp(-eta))).astype(int),
        "poisson": rng.poisson(np.exp(eta)),
        "categorical": rng.integers(0, 3, 80),
    }


@pytest.fixture(scope="module")
def fits(data):
    X, ys = data
    return {family: bdl.BayesianGLM(family).fit(X, y) for family, y in ys.items()}


def linear_law(glm, X):
    """Mean and standard deviation of the linear predictor, from the coefficients."""
    design = np.hstack([np.ones((len(X), 1)), X])
    beta = np.concatenate([np.ravel(glm.intercept_), np.ravel(glm.coef_)])
    return design @ beta, np.sqrt(np.einsum("ij,jk,ik->i", design, glm.coef_covariance(), design))


@pytest.mark.parametrize("family", ["gaussian", "bernoulli", "poisson"])
def test_intervals_of_one_output_are_exact(data, fits, family):
    X, glm = data[0], fits[family]
    m, s = linear_law(glm, X)
    inverse = {"gaussian": lambda f: f, "bernoulli": lambda f: 1 / (1 + np.exp(-f)), "poisson": np.exp}[family]
    s *= t.ppf(0.975, glm.model_.noise_degrees_of_freedom[0] if family == "gaussian" else np.inf)
    lower, upper = glm.predict_interval(X, "link")
    np.testing.assert_allclose(lower, m - s, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(upper, m + s, rtol=1e-9, atol=1e-9)
    lower, upper = glm.predict_interval(X, of="mean", probability=0.95)
    if family == "bernoulli":
        assert lower.shape == (80, 2)
        np.testing.assert_allclose(lower[:, 0], 1 - upper[:, 1], rtol=1e-12)
        lower, upper = lower[:, 1], upper[:, 1]
    np.testing.assert_allclose(lower, inverse(m - s), rtol=1e-8)
    np.testing.assert_allclose(upper, inverse(m + s), rtol=1e-8)
    middle = glm.predict_quantiles(X, 0.5, "link")
    np.testing.assert_allclose(middle, m, rtol=1e-9, atol=1e-9)
    assert glm.predict_quantiles(X[:4], [0.1, 0.5, 0.9], "link").shape == (4, 3)


def test_the_mean_is_surer_than_y(data, fits):
    X, glm = data[0], fits["gaussian"]
    of_y, of_mean = glm.predict_interval(X, "y"), glm.predict_interval(X, "mean")
    assert ((of_y[0] < of_mean[0]) & (of_mean[1] < of_y[1])).all()
    np.testing.assert_array_equal(of_y, glm.predict(X, interval=0.95))


def test_classes_have_intervals(data, fits):
    X, glm = data[0], fits["categorical"]
    lower, upper = glm.predict_interval(X[:5], "mean", 0.9)
    p = glm.predict_proba(X[:5])
    assert lower.shape == (5, 3) and ((0 < lower) & (lower < p) & (p < upper) & (upper < 1)).all()
    assert glm.predict_interval(X[:5], "link")[0].shape == (5, 3)
    with pytest.raises(bdl.UnsupportedError, match="no quantiles"):
        glm.predict_interval(X, "y")


def test_samples_have_the_moments(data, fits):
    """4000 samples: |z| > 5 has probability 6e-7 for each of the 80 rows."""
    X, glm = data[0], fits["bernoulli"]
    m, s = linear_law(glm, X)
    link, mean = glm.sample_link(X, 4000), glm.sample_mean(X, 4000)
    assert link.shape == (80, 4000) and mean.shape == (80, 2, 4000)
    assert (np.abs(link.mean(1) - m) < 5 * s / np.sqrt(4000)).all()
    np.testing.assert_allclose(link.var(1), s**2, rtol=5 * np.sqrt(2 / 4000))
    np.testing.assert_allclose(mean[:, 1], 1 / (1 + np.exp(-link)), rtol=1e-10)
    samples = glm.sample_coefficients(4000)
    assert (np.abs(samples.mean(0) - [glm.intercept_[0], *glm.coef_[0]]) < 5 * samples.std(0) / np.sqrt(4000)).all()
    np.testing.assert_allclose(np.cov(samples.T).diagonal(), glm.coef_covariance().diagonal(), rtol=5 * np.sqrt(2 / 4000))


def test_samples_belong_together(data, fits):
    X, glm = data[0], fits["gaussian"]
    mean, y = glm.sample_mean(X, 300, 7), glm.sample_y(X, 300, 7)
    assert abs(np.std(y - mean) - glm.model_.noise_precision[0] ** -0.5) < 0.05
    logs = glm.log_likelihood(X, data[1]["gaussian"], 300, 7)
    tau = glm.model_.noise_precision[0]
    direct = 0.5 * np.log(tau / 2 / np.pi) - tau / 2 * (data[1]["gaussian"] - mean.T) ** 2
    np.testing.assert_allclose(logs, direct, rtol=1e-9, atol=1e-9)


def test_log_likelihoods_average_to_the_density(data, fits):
    X, y = data[0], data[1]["poisson"]
    glm = bdl.BayesianGLM("poisson", samples=50, prediction="monte_carlo").fit(X, y)
    logs = glm.log_likelihood(X, y)
    np.testing.assert_allclose(np.log(np.exp(logs).mean(0)), glm.log_predictive_density(X, y), rtol=1e-9)


def test_loo_is_exact_leaving_out():
    """Binary regression with 40 rows: refits of the exact posterior against one set of samples."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 2))
    y = (rng.uniform(size=40) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)
    glm = bdl.BayesianGLM("bernoulli", standardize=False).fit(X, y)
    loo, waic = glm.loo(X, y, 8000), glm.waic(X, y, 8000)
    others = [np.delete(np.arange(40), i) for i in range(40)]
    exact = np.array([
        bdl.BayesianGLM("bernoulli", standardize=False).fit(X[rest], y[rest]).log_predictive_density(X[[i]], y[[i]])[0]
        for i, rest in enumerate(others)
    ])
    assert loo.pareto_k.max() < 0.7
    # Monte-Carlo error of a row is about 0.005; the rest is that the samples are of the Gaussian approximation.
    np.testing.assert_allclose(loo.pointwise[:, 0], exact, atol=0.05)
    assert abs(loo.elpd - exact.sum()) < 0.2 and abs(waic.elpd - exact.sum()) < 0.2
    assert 1.5 < loo.effective_parameters < 4 and loo.standard_error > 0
    assert abs(loo.standard_error - np.sqrt(40) * loo.pointwise[:, 0].std(ddof=1)) < 1e-12


def test_loo_says_where_it_fails():
    rng = np.random.default_rng(3)
    logs = -0.5 * rng.normal(1, 0.3, size=(200, 3)) ** 2
    logs[:, 1] = -np.abs(rng.standard_cauchy(200)) * 20
    with pytest.warns(UserWarning, match="pareto_k is above 0.57 for 1 of 3 rows"):
        bdl.metrics.loo(logs)
    with pytest.raises(bdl.NotFiniteError):
        bdl.metrics.waic([[0.0, np.nan], [0.0, 1.0]])


def test_points_have_no_spread(data):
    X, ys = data
    point = bdl.BayesianGLM(method="map").fit(X, ys["gaussian"])
    for ask in (lambda: point.predict_interval(X, "mean"), lambda: point.loo(X, ys["gaussian"])):
        with pytest.raises(bdl.UnsupportedError, match="no covariance"):
            ask()
    lower, upper = point.predict_interval(X, "y")
    assert (lower < upper).all()


def test_ensembles_and_networks(data):
    X, ys = data
    net = bdl.BayesianMLPRegressor(hidden=(5,), epochs=10, members=2).fit(X, ys["gaussian"])
    lower, upper = net.predict_interval(X[:4], "mean", 0.9)
    assert lower.shape == (4,) and (lower < upper).all()
    assert net.sample_mean(X[:4], 7).shape == (4, 7) and net.log_likelihood(X, ys["gaussian"], 30).shape == (60, 80)
    classifier = bdl.BayesianMLPClassifier(hidden=(5,), epochs=10).fit(X, ys["categorical"])
    assert classifier.sample_mean(X[:4], 7).shape == (4, 3, 7)
    np.testing.assert_allclose(classifier.sample_mean(X[:4], 7).sum(1), 1, rtol=1e-12)
    two = np.stack([ys["gaussian"], -ys["gaussian"]], axis=1)
    glm = bdl.BayesianGLM().fit(X, two)
    assert glm.predict_interval(X[:4], "mean")[0].shape == (4, 2) and glm.sample_link(X[:4], 9).shape == (4, 2, 9)


def test_bad_questions(data, fits):
    X, glm = data[0], fits["gaussian"]
    with pytest.raises(bdl.InvalidArgumentError, match="of is 'median', expected one of: y, mean, link"):
        glm.predict_interval(X, "median")
    with pytest.raises(bdl.InvalidArgumentError, match="probability is 95"):
        glm.predict_interval(X, "mean", 95)
    with pytest.raises(bdl.UnsupportedError, match="base is for family 'categorical'"):
        glm.summary(base=0)
    with pytest.raises(bdl.InvalidArgumentError, match="base is 7, expected one of the classes"):
        fits["categorical"].summary(base=7)


def test_contrasts_with_a_base_class(data, fits):
    X, glm = data[0], fits["categorical"]
    table = glm.summary(base=1)
    assert table.names[:2] == ["0: intercept", "2: intercept"] and len(table.mean) == 6
    mean = np.array([glm.intercept_[[0, 2]] - glm.intercept_[1]]).ravel()
    np.testing.assert_allclose(table.mean[:2], mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(table.mean[2:], (glm.coef_[[0, 2]] - glm.coef_[1]).ravel(), rtol=1e-9, atol=1e-12)
    full, difference = glm.coef_covariance(), np.zeros((6, 9))
    for row, (plus, minus) in enumerate([(0, 1), (2, 1), (3, 5), (4, 6), (7, 5), (8, 6)]):
        difference[row, plus], difference[row, minus] = 1, -1
    expected = difference @ full @ difference.T
    np.testing.assert_allclose(glm.coef_covariance(base=1), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(table.std, np.sqrt(np.diag(expected)), rtol=1e-6)
    samples = glm.sample_coefficients(9, base=1)
    np.testing.assert_allclose(samples, glm.sample_coefficients(9) @ difference.T, rtol=1e-8, atol=1e-8)
    assert table.std[:2].max() < glm.summary().std[:3].min()  # the common level is the prior's
