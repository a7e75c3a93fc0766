"""How unlike the training rows a row is."""

import pickle

import numpy as np
import pytest

import bdl

LINE = {"hidden": 8, "epochs": 30, "samples": 20}


def numbers(rng, rows=120):
    X = rng.uniform(-2, 2, (rows, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=rows)


def test_it_is_the_leverage_over_that_of_the_training_rows(rng):
    X, y = numbers(rng)
    regressor = bdl.BayesianMLPRegressor(**LINE).fit(X, y)
    new = rng.uniform(-4, 4, (7, 3))
    leverages, left_out = bdl.predict_leverage(regressor.model_, regressor.posterior_, X)
    expected = bdl.predict_leverage(regressor.model_, regressor.posterior_, new).leverage / leverages.mean()
    assert np.allclose(regressor.novelty(new), expected, rtol=1e-12)
    assert np.isclose(regressor.novelty(X).mean(), 1)
    assert regressor.novelty_limit() == np.quantile(left_out, 0.95) / leverages.mean()
    assert regressor.novelty_limit(0.01) > regressor.novelty_limit()
    assert (regressor.novelty(X + 20) > regressor.novelty_limit()).all()
    again = pickle.loads(pickle.dumps(regressor))
    assert np.array_equal(again.novelty(new), regressor.novelty(new)) and again.novelty_limit() == regressor.novelty_limit()


def test_linear_models_have_the_leverages_of_least_squares(rng):
    X, y = numbers(rng)
    glm = bdl.BayesianGLM(options={"prior_precision": 1e-9}, standardize=False).fit(X, y)
    design = np.column_stack([X, np.ones(len(X))])
    hat = np.einsum("ij,jk,ik->i", design, np.linalg.inv(design.T @ design), design)
    assert np.allclose(glm.novelty(X), hat / hat.mean(), rtol=1e-3)
    without = hat / (1 - hat)
    assert np.isclose(glm.novelty_limit(0.1), np.quantile(without, 0.9) / hat.mean(), rtol=1e-3)


def test_classes_data_sets_and_checkpoints(rng, tmp_path):
    X, y = numbers(rng, 700)
    classifier = bdl.BayesianMLPClassifier(4, epochs=5).fit(X, y > 0)
    kept = np.arange(500) * 700 // 500
    assert classifier.leverages_.shape == (2, 500) and np.isclose(classifier.novelty(X[kept]).mean(), 1)
    regressor = bdl.BayesianMLPRegressor(**LINE).fit(X, y)
    of_data = bdl.BayesianMLPRegressor(**LINE).fit(bdl.Dataset(X, y))
    assert np.allclose(of_data.novelty(X), regressor.novelty(X), rtol=1e-6)
    regressor.save(tmp_path / "saved")
    loaded = bdl.BayesianMLPRegressor.load(tmp_path / "saved")
    with pytest.raises(bdl.UnsupportedError, match=r"a checkpoint .* call learn_novelty\(X\)"):
        loaded.novelty(X)
    for data in (X, bdl.Dataset(X, y)):
        assert np.array_equal(loaded.learn_novelty(data).novelty(X), regressor.novelty(X))


def test_ensembles(rng):
    X, y = numbers(rng)
    estimator = bdl.BayesianMLPRegressor(**LINE, members=2, random_state=3).fit(X, y)
    ensemble = bdl.DeepEnsembleRegressor(bdl.BayesianMLPRegressor(**LINE), n_estimators=2, random_state=3).fit(X, y)
    handles = [member.model_ for member in ensemble.estimators_], [member.posterior_ for member in ensemble.estimators_]
    leverages, left_out = bdl.predict_leverage(*handles, X)
    for of in (estimator, ensemble, ensemble.learn_novelty(X)):
        assert np.allclose(of.novelty(X), leverages / leverages.mean(), rtol=1e-12)
        assert np.isclose(of.novelty_limit(), np.quantile(left_out, 0.95) / leverages.mean())


def test_streams_keep_the_last_rows(rng):
    X, y = numbers(rng, 400)
    stream = bdl.BayesianMLPRegressor(6)
    for first in range(0, 400, 40):
        stream.partial_fit(X[first : first + 40], y[first : first + 40])
    assert stream.leverages_.shape == (2, 100)
    assert 0.3 < stream.novelty(X[-100:]).mean() < 1.2
    assert stream.novelty([[9.0, 9.0, 9.0]]) > stream.novelty_limit()


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"method": "map"}, "there is no novelty: method 'map' finds a point"),
        ({"posterior": "dropout"}, "there is no novelty: a dropout posterior has no covariance: method 'laplace'"),
    ],
)
def test_without_a_covariance_there_is_none(rng, settings, message):
    X, y = numbers(rng)
    regressor = bdl.BayesianMLPRegressor(**LINE, **settings).fit(X, y)
    for ask in (lambda: regressor.novelty(X), regressor.novelty_limit, lambda: regressor.learn_novelty(X)):
        with pytest.raises(bdl.UnsupportedError, match=message):
            ask()


def test_large_networks_are_asked_for_it(rng, monkeypatch):
    X, y = numbers(rng)
    monkeypatch.setitem(bdl.tables.defaults, "novelty_numbers", 10)
    regressor = bdl.BayesianMLPRegressor(**LINE).fit(X, y)
    with pytest.raises(bdl.UnsupportedError, match="large network"):
        regressor.novelty(X)
    assert np.isclose(regressor.learn_novelty(X).novelty(X).mean(), 1)
    with pytest.raises(ValueError, match="false_alarms is 1"):
        regressor.novelty_limit(1)
