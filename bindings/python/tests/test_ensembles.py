"""Deep ensembles as estimators."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import bdl


def regression(rng):
    X = rng.uniform(-2, 2, (60, 1))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=60)


def test_regression_is_the_members_mixture(rng):
    X, y = regression(rng)
    member = bdl.BayesianMLPRegressor(10, epochs=60, samples=20)
    ensemble = bdl.DeepEnsembleRegressor(member, n_estimators=3, random_state=4).fit(X, y)
    same = [clone(member).set_params(random_state=4 + j).fit(X, y) for j in range(3)]
    handles = [m.model_ for m in same], [m.posterior_ for m in same]
    mean, epistemic, noise = bdl.Predictor(*handles, "linearized", 20, 1).predict(X)
    found = ensemble.predict_uncertainty(X)
    assert np.array_equal(found.mean, mean[:, 0]) and np.array_equal(found.epistemic_variance, epistemic[:, 0])
    assert ensemble.predict(X, return_std=True)[1] == pytest.approx(np.sqrt(epistemic + noise)[:, 0])
    lower, upper = ensemble.predict(X, interval=0.9)
    assert np.mean((lower < y) & (y < upper)) > 0.7 and ensemble.score(X, y) > 0.8
    assert ensemble.predict(X, quantiles=[0.1, 0.9]).shape == (60, 2)
    assert np.isfinite(ensemble.log_predictive_density(X, y)).all()
    assert ensemble.sample_y(X, 7).shape == (60, 7)
    again = pickle.loads(pickle.dumps(ensemble))
    assert np.array_equal(again.predict(X), ensemble.predict(X))


def test_classes(rng):
    X = rng.normal(size=(80, 2))
    y = np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    ensemble = bdl.DeepEnsembleClassifier(bdl.BayesianMLPClassifier(8, method="map", epochs=80), n_estimators=2).fit(X, y)
    p = ensemble.predict_proba(X)
    each = [member.predict_proba(X) for member in ensemble.estimators_]
    assert np.allclose(p, np.mean(each, axis=0), rtol=1e-12) and not np.allclose(*each)
    assert ensemble.score(X, y) > 0.85 and ensemble.classes_.tolist() == ["high", "low", "middle"]
    assert np.all(ensemble.predict_uncertainty(X).mutual_information > 0)
    assert set(ensemble.sample_y(X, 5).ravel()) <= set(y)
    assert ensemble.log_predictive_density(X, y).mean() > -0.6


def test_members_of_another_kind(rng):
    X, y = regression(rng)
    ensemble = bdl.DeepEnsembleRegressor(bdl.BayesianGLM(), n_estimators=2).fit(X, y)
    assert np.allclose(ensemble.predict(X), bdl.BayesianGLM().fit(X, y).predict(X), atol=1e-6)
    with pytest.raises(ValueError, match="n_estimators is 0"):
        bdl.DeepEnsembleRegressor(n_estimators=0).fit(X, y)
