"""Inside the library it gives what standardising the data by hand gives."""

import numpy as np
import pytest

import bdl


@pytest.fixture
def pairs(plane):
    """An estimator on data, and one on data standardised by hand."""
    x, y = plane
    z, t = (x - x.mean(axis=0)) / x.std(axis=0), (y - y.mean()) / y.std()
    inside = bdl.BayesianMLPRegressor(hidden=(8,), epochs=20).fit(x, y)
    outside = bdl.BayesianMLPRegressor(hidden=(8,), epochs=20, standardize=False).fit(z, t)
    return inside, outside, x, y, z, t


def test_moments(plane):
    x, y = plane
    parts = bdl.BayesianMLPRegressor(epochs=1).fit(x, y).model_.standardization
    for given, expected in zip(parts, (x.mean(axis=0), x.std(axis=0), [y.mean()], [y.std()])):
        assert np.allclose(given, expected)


def test_predictions(pairs):
    inside, outside, x, y, z, t = pairs
    mean, std = inside.predict(x, return_std=True)
    mean_of_t, std_of_t = outside.predict(z, return_std=True)
    assert np.allclose(mean, y.mean() + y.std() * mean_of_t, rtol=1e-6)
    assert np.allclose(std, y.std() * std_of_t, rtol=1e-6)
    inner, outer = inside.predict(x, interval=0.8), outside.predict(z, interval=0.8)
    assert np.allclose(inner, y.mean() + y.std() * np.array(outer), rtol=1e-6)
    assert np.allclose(inside.log_predictive_density(x, y), outside.log_predictive_density(z, t) - np.log(y.std()))


def test_posterior_and_noise(pairs):
    inside, outside, _, y, _, _ = pairs
    assert np.allclose(inside.posterior_.mean, outside.posterior_.mean, atol=1e-6)
    assert np.allclose(inside.model_.noise_precision * y.var(), outside.model_.noise_precision, rtol=1e-6)


def test_elbo_is_in_units_of_y(pairs):
    inside, outside, _, y, _, _ = pairs
    shift = len(y) * np.log(y.std())
    assert np.allclose(np.add(inside.history_["elbo"], shift), outside.history_["elbo"], rtol=1e-6)


def test_of_classifiers(blobs):
    x, y = blobs
    scale = [100.0, 0.01]
    plain, scaled = (bdl.BayesianMLPClassifier((5,), epochs=20).fit(data, y) for data in (x, x * scale))
    assert np.allclose(plain.predict_proba(x), scaled.predict_proba(x * scale))


def test_constant_columns(plane):
    x, y = plane
    x[:, 1] = 7.0
    glm = bdl.BayesianGLM().fit(x, np.full(200, 3.0))
    assert np.allclose(glm.predict(x), 3.0)
