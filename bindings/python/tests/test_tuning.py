"""Cross-validation and tuning of estimators, by any number of workers; searches on ranks."""

import numpy as np
import pytest
from sklearn.base import clone
from test_communicators import on_ranks

import bdl

QUICK = dict(hidden=(6,), epochs=8, samples=20)
ESTIMATORS = [
    (bdl.BayesianMLPRegressor(**QUICK), "plane"),
    (bdl.BayesianMLPClassifier(**QUICK), "blobs"),
    (bdl.BayesianGLM(epochs=20), "plane"),
]


@pytest.mark.parametrize("estimator, data", ESTIMATORS)
def test_cross_validation_by_any_number_of_workers(estimator, data, request):
    X, y = request.getfixturevalue(data)
    before = estimator.get_params()
    scores = [estimator.cross_validate(X, y, folds=3, workers=workers) for workers in (1, 2, 5, None)]
    assert len(set(scores)) == 1 and np.isfinite(scores[0].score) and scores[0].standard_error > 0
    assert estimator.get_params() == before and not hasattr(estimator, "optimizer_")


def test_cross_validation_is_that_by_hand(plane):
    """Scores by the folds that a search reports, with the standardisation of all rows."""
    X, y = plane
    estimator = bdl.BayesianMLPRegressor(**QUICK)
    score = estimator.cross_validate(X, y, folds=3, workers=2)
    search, x, targets = estimator._search(X, y, 3, 1, with_noise=True)
    folds = search.folds(len(x))
    by_hand = []
    for k in range(3):
        # Rows in the order in which the search trains on them.
        train = np.concatenate([np.flatnonzero(folds == (k + j) % 3) for j in (1, 2)])
        optimizer = clone(estimator)._blank_optimizer(x, targets, len(train), stepwise=False)
        optimizer.start_noise(targets)
        optimizer.fit(x[train], targets[train], 8)
        density = bdl.predict_log_density(
            optimizer.model, optimizer.posterior, x[folds == k], targets[folds == k], method=optimizer.prediction, samples=20, seed=1
        )
        by_hand.append(np.mean(density))
    assert score.score == pytest.approx(np.mean(by_hand), rel=1e-12)
    assert score.standard_error == pytest.approx(np.std(by_hand, ddof=1) / np.sqrt(3), rel=1e-9)


def test_tuning_by_any_number_of_workers(blobs):
    ranges = {"learning_rate": (1e-3, 0.2, "log"), "samples": (1, 4), "curvature": ["mc-ef", "mc-ggn"]}
    tuned = [
        bdl.BayesianMLPClassifier(**QUICK).tune(
            *blobs, ranges, random_trials=3, bayesian_trials=3, parallel_trials=2, folds=3, workers=workers
        )
        for workers in (1, 4)
    ]
    assert tuned[0].trials_ == tuned[1].trials_ and len(tuned[0].trials_) == 6
    best = max(tuned[0].trials_, key=lambda trial: trial.score)
    assert tuned[0].options == tuned[1].options == best.values
    np.testing.assert_array_equal(tuned[0].posterior_.mean, tuned[1].posterior_.mean)
    again = clone(tuned[0]).fit(*blobs)  # the values are parameters now
    np.testing.assert_array_equal(again.posterior_.mean, tuned[0].posterior_.mean)


def test_what_is_wrong_is_said(plane):
    estimator = bdl.BayesianMLPRegressor(**QUICK)
    with pytest.raises(bdl.UnknownOptionError, match="learning_rate"):
        estimator.tune(*plane, {"learning_rat": (1e-3, 0.1)})
    with pytest.raises(bdl.InvalidArgumentError, match="workers is -1"):
        estimator.cross_validate(*plane, workers=-1)
    with pytest.raises(bdl.UnsupportedError, match="no option has a range"):
        estimator.tune(*plane, {})
    with pytest.raises(bdl.UnsupportedError, match="no trial has a score; the first failed with"):
        bdl.BayesianMLPRegressor(method="lo-fi", **QUICK).cross_validate(*plane)
    assert not hasattr(estimator, "optimizer_") and estimator.options is None


def test_progress_takes_the_best_so_far(plane):
    estimator = bdl.BayesianMLPRegressor(**QUICK)
    estimator.tune(*plane, {"samples": (1, 8)}, random_trials=6, bayesian_trials=0, folds=2, progress=lambda s: len(s.trials) == 2)
    assert len(estimator.trials_) == 2 and estimator.optimizer_["samples"] == estimator.options["samples"]


def new_search():
    model = bdl.Model.mlp([3, 5, 1])
    prototype = bdl.Optimizer(model, bdl.Posterior.low_rank(model.parameters, 2), "slang-ggn", 60, minibatch=20)
    search = bdl.Search(prototype, folds=3, epochs=3, samples=10, parallel_trials=2)
    search.add("learning_rate", 0.001, 0.1, scale="log")
    return search


def test_ranks_have_the_same_trials(plane):
    x, y = plane[0][:60], plane[1][:60]
    alone = new_search()
    assert alone.run(x, y, random_trials=2, bayesian_trials=2, workers=2)

    def run(rank):
        search = new_search()
        search.set_communicator(bdl.Communicator(rank))
        assert search.run(x, y, random_trials=2, bayesian_trials=2)
        search.set_communicator(None)
        return search.trials

    for trials in on_ranks(2, run):
        assert trials == alone.trials
