"""Estimators with members, and parameters that the posterior does not have."""

import pickle

import numpy as np
import pytest

import bdl


def regression(rng):
    X = rng.uniform(-2, 2, (60, 1))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=60)


def test_members_are_an_ensemble_of_seeds(rng):
    X, y = regression(rng)
    settings = {"hidden": 10, "epochs": 40, "samples": 20}
    estimator = bdl.BayesianMLPRegressor(**settings, members=3, random_state=4).fit(X, y)
    ensemble = bdl.DeepEnsembleRegressor(bdl.BayesianMLPRegressor(**settings), n_estimators=3, random_state=4).fit(X, y)
    for of in (estimator, pickle.loads(pickle.dumps(estimator))):
        assert np.array_equal(of.predict(X), ensemble.predict(X))
        assert np.array_equal(of.predict(X, interval=0.9), ensemble.predict(X, interval=0.9))
        assert np.array_equal(of.sample_y(X, 7), ensemble.sample_y(X, 7))
        assert np.array_equal(of.log_predictive_density(X, y), ensemble.log_predictive_density(X, y))
    for what in (lambda: estimator.save("never"), estimator.sample_posterior, lambda: estimator.cross_validate(X, y)):
        with pytest.raises(bdl.UnsupportedError, match="members"):
            what()
    assert len(estimator.set_params(members=1).fit(X, y).others_) == 0


def test_members_go_on(rng):
    X, y = regression(rng)
    classifier = bdl.BayesianMLPClassifier(6, members=2, epochs=5, warm_start=True).fit(X, y > 0)
    classifier.fit(X, y > 0)
    assert [member.n_iter_ for member in (classifier, *classifier.others_)] == [10, 10]
    stream = bdl.BayesianMLPRegressor(6, members=2)
    for part in (slice(0, 30), slice(30, 60)):
        stream.partial_fit(X[part], y[part])
    assert len(stream.others_) == 1 and np.isfinite(stream.predict(X)).all()
    assert not np.array_equal(stream.posterior_.mean, stream.others_[0].posterior_.mean)


def test_members_that_make_no_sense(rng):
    X, y = regression(rng)
    with pytest.raises(ValueError, match="members is 0"):
        bdl.BayesianMLPRegressor(members=0).fit(X, y)
    with pytest.raises(bdl.UnsupportedError, match="one optimum"):
        bdl.BayesianMLPRegressor((), members=2).fit(X, y)
    with pytest.raises(ValueError, match="an ensemble already"):
        bdl.DeepEnsembleRegressor(bdl.BayesianMLPRegressor(members=2)).fit(X, y)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"posterior": "diagonal", "rank": 5}, "rank is 5, but posterior 'diagonal' has no rank"),
        ({"posterior": "full", "rank": 5}, "has no rank"),
        ({"method": "vogn", "rank": 5}, "family diagonal, this one's is low_rank"),
        ({"dropout": 0.5}, "dropout is 0.5, but these are rates of posterior='dropout'"),
        ({"options": {"forgetting": 0.9}}, "it is read by streams"),
    ],
)
def test_settings_that_nothing_reads(rng, settings, message):
    with pytest.raises(bdl.UnsupportedError, match=message):
        bdl.BayesianMLPRegressor(5, **settings).fit(*regression(rng))


def test_epochs_of_streams_are_said(rng):
    with pytest.warns(UserWarning, match="epochs is 50, but method 'lo-fi' learns from each row once") as said:
        bdl.BayesianMLPRegressor(5, method="lo-fi", epochs=50).fit(*regression(rng))
    assert said[0].filename == __file__


def test_a_rank_chooses_the_family(rng):
    X, y = regression(rng)
    glm = bdl.BayesianGLM(rank=2, epochs=3).fit(X, y)
    assert (glm.posterior_.family, glm.posterior_.rank) == ("low_rank", 2)
    elrg = bdl.BayesianMLPRegressor(5, method="elrg", rank=3, epochs=2).fit(X, y)
    assert (elrg.posterior_.family, elrg.posterior_.rank) == ("layerwise_low_rank_moment", 3)
    assert bdl.BayesianMLPRegressor(5, posterior="diagonal", rank=0, epochs=2).fit(X, y).posterior_.rank == 0
