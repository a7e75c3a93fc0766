"""Weights and offsets of rows, trials, and weights of classes."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

import bdl

FAMILIES = ("gaussian", "poisson", "bernoulli")


def rows(rng, n=60):
    X, weights = rng.normal(size=(n, 2)), rng.integers(0, 4, n)
    eta = 0.5 + X @ [1.0, -0.7]
    y = {
        "gaussian": 3 + eta + rng.normal(size=n),
        "poisson": rng.poisson(np.exp(0.3 * eta)),
        "bernoulli": rng.random(n) < 1 / (1 + np.exp(-eta)),
    }
    return X, y, weights


def repeated(weights, *arrays):
    return [np.repeat(array, weights, axis=0) for array in arrays]


def assert_same_posterior(a, b):
    assert np.abs(a.posterior_.mean - b.posterior_.mean).max() < 1e-9
    assert np.abs(a.posterior_.variance / b.posterior_.variance - 1).max() < 1e-9


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("standardize, n", [(True, 60), (False, 60), (True, 300)])
def test_weighted_rows_are_repeated_rows(rng, family, standardize, n):
    X, y, w = rows(rng, n)
    offset = rng.normal(size=len(X))
    weighted = bdl.BayesianGLM(family, standardize=standardize).fit(X, y[family], sample_weight=w, offset=offset)
    long_X, long_y, long_offset = repeated(w, X, y[family], offset)
    plain = bdl.BayesianGLM(family, standardize=standardize).fit(long_X, long_y, offset=long_offset)
    assert_same_posterior(weighted, plain)
    assert np.isclose(weighted.novelty_limit(), plain.novelty_limit(), rtol=1e-9)
    assert np.allclose(weighted.novelty(X), plain.novelty(X), rtol=1e-9)
    scores = weighted.score(X, y[family], w, offset), plain.score(long_X, long_y, offset=long_offset)
    assert np.isclose(*scores, rtol=1e-9)
    if family != "bernoulli":  # whose weights are trials together
        density = weighted.log_predictive_density(X, y[family], w, offset)
        alone = weighted.log_predictive_density(X, y[family], offset=offset)
        assert np.allclose(density, w * alone)
        assert np.isclose(np.sum(density), np.sum(plain.log_predictive_density(long_X, long_y, offset=long_offset)))


def test_no_weight_is_no_row(rng):
    X, y, w = rows(rng)
    w, kept = (w > 1).astype(float), w > 1
    for estimator in (bdl.BayesianGLM(), bdl.BayesianMLPRegressor(3, epochs=5), bdl.BayesianMLPRegressor(3, method="lo-fi")):
        without = type(estimator)(**estimator.get_params()).fit(X[kept], y["gaussian"][kept])
        estimator.fit(X, y["gaussian"], sample_weight=w)
        assert np.allclose(estimator.posterior_.mean, without.posterior_.mean, atol=1e-8)


def test_trials_are_their_single_results(rng):
    X, _, _ = rows(rng)
    trials = rng.integers(1, 20, len(X))
    successes = rng.binomial(trials, 1 / (1 + np.exp(-X[:, 0])))
    single = np.concatenate([np.arange(n) < k for n, k in zip(trials, successes)])
    long_X = np.repeat(X, trials, axis=0)
    share = successes / trials
    grouped = bdl.BayesianGLM("bernoulli").fit(X, share, sample_weight=trials)
    plain = bdl.BayesianGLM("bernoulli").fit(long_X, single)
    assert_same_posterior(grouped, plain)
    assert list(grouped.classes_) == [0, 1]
    assert np.allclose(grouped.predict_proba(X), plain.predict_proba(X))
    assert np.isclose(grouped.score(X, share, trials), plain.score(long_X, single))
    # all numbers of successes of three trials have probability 1 together
    of_three = [grouped.log_predictive_density(X[:1], [k / 3], [3])[0] for k in (1, 2)]
    ends = [grouped.log_predictive_density(X[:1], [k], [3])[0] for k in (0, 1)]
    assert np.isclose(np.sum(np.exp(of_three + ends)), 1)
    network = bdl.BayesianMLPClassifier(3, epochs=20).fit(X, share, sample_weight=trials)
    assert network.predict_proba(X).shape == (len(X), 2)


@pytest.mark.parametrize(
    "fit, message",
    [
        (lambda X, y, w: bdl.BayesianGLM().fit(X, y, -w), r"sample_weight\[\d+\] is -\d.0, expected a number of at least 0"),
        (lambda X, y, w: bdl.BayesianGLM().fit(X, y, np.full(len(X), np.nan)), r"sample_weight\[0\] is nan, expected a finite"),
        (lambda X, y, w: bdl.BayesianGLM().fit(X, y, 0 * w), "sample_weight is 0 in all rows"),
        (lambda X, y, w: bdl.BayesianGLM().fit(X, y, w[1:]), "sample_weight has 59 rows, expected 60 as X"),
        (lambda X, y, w: bdl.BayesianGLM().fit(X, y, np.c_[w, w]), r"sample_weight has the shape \(60, 2\)"),
        (lambda X, y, w: bdl.BayesianGLM().fit(X, y, offset=np.inf), r"offset\[0\] is inf, expected a finite number"),
        (lambda X, y, w: bdl.BayesianGLM().fit(X, y, offset=np.c_[w, w]), "offset has 2 columns, expected 1"),
        (lambda X, y, w: bdl.BayesianGLM("bernoulli").fit(X, w / 3), "pass their numbers of trials as sample_weight"),
        (lambda X, y, w: bdl.BayesianGLM("bernoulli").fit(X, np.c_[w, w]), "pass the share of successes as y"),
        (lambda X, y, w: bdl.BayesianGLM("categorical").fit(X, w / 3, w), "Unknown label type"),
        (lambda X, y, w: bdl.BayesianGLM().fit(X, y).partial_fit(X, y, sample_weight=w), "training was without"),
        (lambda X, y, w: bdl.BayesianGLM().fit(X, y).log_predictive_density(X, y, w), "training was without"),
        (lambda X, y, w: bdl.BayesianGLM().fit(X, y).predict(X, offset=1.0), "training was without"),
        (lambda X, y, w: bdl.BayesianGLM(class_weight="balanced").fit(X, y), "class_weight is for classifiers"),
        (lambda X, y, w: bdl.BayesianGLM("bernoulli", class_weight={7: 1}).fit(X, y > 0), "has the label 7"),
        (lambda X, y, w: bdl.BayesianGLM("bernoulli", class_weight="b").fit(X, y > 0), "class_weight is 'b', expected None"),
        (
            lambda X, y, w: bdl.BayesianGLM("bernoulli", class_weight="balanced").partial_fit(X, y > 0, [False, True]),
            "pass a dict for partial_fit",
        ),
        (lambda X, y, w: bdl.Dataset(X, y, row_weights=True), "y has 1 columns"),
        (lambda X, y, w: bdl.Dataset(X, y, offsets=2), "offsets is 2"),
    ],
)
def test_wrong_weights_are_refused(rng, fit, message):
    X, y, w = rows(rng)
    with pytest.raises(ValueError, match=message):
        fit(X, y["gaussian"], w)


def test_offset_of_counts_is_the_log_of_the_exposure(rng):
    X = rng.normal(size=(300, 1))
    exposure = rng.choice([1.0, 10.0, 100.0], 300)
    counts = rng.poisson(exposure * np.exp(1 + 0.5 * X[:, 0]))
    glm = bdl.BayesianGLM("poisson").fit(X, counts, offset=np.log(exposure))
    assert np.allclose([glm.intercept_, glm.coef_[0]], [1, 0.5], atol=0.05)
    rate = glm.predict(X)  # for an exposure of 1
    assert np.allclose(glm.predict(X, offset=np.log(7.0)), 7 * rate)
    _, std = glm.predict(X, return_std=True, offset=np.log(exposure))
    assert std.shape == (300,) and glm.sample_y(X, 5, offset=np.log(exposure)).shape == (300, 5)
    lower, upper = glm.predict(X, interval=0.9, offset=np.log(exposure))
    assert 0.85 < np.mean((lower <= counts) & (counts <= upper)) <= 1


def test_offsets_of_numbers_are_taken_from_them(rng):
    X, y, w = rows(rng)
    offset = 100 * rng.normal(size=len(X))
    with_offset = bdl.BayesianGLM().fit(X, y["gaussian"] + offset, offset=offset)
    without = bdl.BayesianGLM().fit(X, y["gaussian"])
    assert_same_posterior(with_offset, without)
    network = bdl.BayesianMLPRegressor(5, epochs=40).fit(X, y["gaussian"] + offset, offset=offset)
    assert network.model_.likelihood == "heteroscedastic"  # offsets are no outliers
    same = bdl.BayesianMLPRegressor(5, epochs=40).fit(X, y["gaussian"])
    assert np.allclose(network.predict(X, offset=offset) - offset, same.predict(X), atol=1e-6)


def test_each_output_has_its_offset(rng):
    X, y, _ = rows(rng)
    Y = np.c_[y["gaussian"], -y["gaussian"]]
    glm = bdl.BayesianGLM().fit(X, Y + [5.0, 7.0], offset=np.tile([5.0, 7.0], (len(X), 1)))
    assert glm.model_.offsets == 2
    assert np.allclose(glm.predict(X, offset=np.tile([1.0, 0.0], (len(X), 1))) - glm.predict(X), [1, 0])


def test_weights_of_classes_are_weights_of_rows(rng):
    X, _, w = rows(rng, 200)
    y = np.where(X[:, 0] > 1, "rare", "usual")
    balanced = bdl.BayesianGLM("bernoulli", class_weight="balanced").fit(X, y)
    counts = {label: np.sum(y == label) for label in np.unique(y)}
    by_hand = np.array([len(y) / (2 * counts[label]) for label in y])
    assert_same_posterior(balanced, bdl.BayesianGLM("bernoulli").fit(X, y, by_hand))
    doubled = bdl.BayesianGLM("bernoulli", class_weight={"rare": 2}).fit(X, y, sample_weight=w)
    assert_same_posterior(doubled, bdl.BayesianGLM("bernoulli").fit(X, y, w * np.where(y == "rare", 2, 1)))
    network = bdl.BayesianMLPClassifier(5, class_weight="balanced", epochs=30, early_stopping=True, members=2).fit(X, y)
    assert network.others_[0].model_.row_weights and network.get_params()["class_weight"] == "balanced"
    assert bdl.BayesianConvClassifier("dense 5; relu", class_weight={"rare": 2}, epochs=5).fit(X, y).model_.row_weights


def test_streams_have_weights_and_offsets(rng):
    X, y, w = rows(rng)
    y = y["gaussian"]
    offset = np.full(len(X), 4.0)
    stream = bdl.BayesianGLM().partial_fit(X[:30], y[:30] + 4, sample_weight=w[:30], offset=offset[:30])
    stream.partial_fit(X[30:], y[30:], sample_weight=w[30:])  # offsets are 0
    same = bdl.BayesianGLM().partial_fit(X[:30], y[:30], sample_weight=w[:30]).partial_fit(X[30:], y[30:], sample_weight=w[30:])
    assert np.allclose(stream.posterior_.mean, same.posterior_.mean)
    assert np.all(np.isfinite(stream.history_["log_density"])) and stream.novelty_limit() > 0


def test_searches_honour_weights(rng):
    X, y, w = rows(rng)
    y = y["gaussian"].copy()
    y[w == 0] += 1e3  # counts nowhere
    found = bdl.BayesianGLM().cross_validate(X, y, sample_weight=w)
    assert -2.5 < found.score < -1
    ranges = {"prior_precision": (0.01, 100, "log")}
    tuned = bdl.BayesianGLM().tune(X, y, ranges, sample_weight=w, offset=1.0, random_trials=2, bayesian_trials=0)
    assert tuned.model_.row_weights and tuned.model_.offsets == 1
    early = bdl.BayesianMLPRegressor(5, epochs=40, early_stopping=True, members=2).fit(X, y, sample_weight=w, offset=1.0)
    assert np.abs(early.predict(X, offset=1.0)).max() < 100
    assert len(cross_val_score(bdl.BayesianGLM(), X, y, fit_params={"sample_weight": w})) == 5


def test_members_share_weights_and_offsets(rng):
    X, y, w = rows(rng)
    y = y["gaussian"]
    member = bdl.BayesianMLPRegressor(4, epochs=30)
    ensemble = bdl.DeepEnsembleRegressor(member, 2).fit(X, y + 9, w, offset=9.0)
    assert all(m.model_.row_weights and m.model_.offsets == 1 for m in ensemble.estimators_)
    assert ensemble.score(X, y + 9, w, offset=9.0) > 0.3
    assert np.allclose(ensemble.predict(X, offset=9.0) - ensemble.predict(X), 9)
    assert np.allclose(ensemble.log_predictive_density(X, y, 2 * np.ones(60)), 2 * ensemble.log_predictive_density(X, y))
    classes = bdl.DeepEnsembleClassifier(bdl.BayesianMLPClassifier(4, epochs=30), 2).fit(X, y > 3, w)
    assert classes.score(X, y > 3, w) > 0.6


def test_data_sets_have_columns_of_weights(rng, tmp_path):
    X, y, w = rows(rng)
    y, offset = y["gaussian"], rng.normal(size=len(X))
    plain = bdl.BayesianGLM().fit(X, y, w, offset)
    wide = np.c_[X, offset], np.c_[y, w]
    np.save(tmp_path / "x.npy", wide[0])
    np.save(tmp_path / "y.npy", wide[1])
    what = {"row_weights": True, "offsets": 1}
    for data in (
        bdl.Dataset(*wide, **what),
        bdl.Dataset.from_callable(lambda numbers: (wide[0][numbers], wide[1][numbers]), len(X), **what),
        bdl.Dataset.from_npy(tmp_path / "x.npy", tmp_path / "y.npy", **what),
    ):
        glm = bdl.BayesianGLM().fit(data)
        assert_same_posterior(glm, plain)
        assert glm.n_features_in_ == 2
        assert np.isclose(glm.novelty_limit(), plain.novelty_limit())
    with pytest.raises(TypeError, match="row_weights=True"):
        bdl.BayesianGLM().fit(data, sample_weight=w)
    with pytest.raises(ValueError, match="but training was with"):
        bdl.BayesianGLM(warm_start=True).fit(X, y).fit(bdl.Dataset(np.c_[X, offset], y, offsets=1))


def test_a_file_keeps_what_rows_have(rng, tmp_path):
    X, y, w = rows(rng)
    path = str(tmp_path / "glm.safetensors")
    glm = bdl.BayesianGLM().fit(X, y["gaussian"], w, offset=2.0)
    glm.save(path)
    loaded = bdl.BayesianGLM.load(path)
    density = glm.log_predictive_density(X, y["gaussian"], w, 2.0)
    assert np.array_equal(loaded.log_predictive_density(X, y["gaussian"], w, 2.0), density)
    network = bdl.BayesianMLPRegressor(4, epochs=5).fit(X, y["gaussian"], w)
    network.save(path)
    assert bdl.BayesianMLPRegressor.load(path).noise == "auto"


def test_models_have_weights_and_offsets():
    model = bdl.Model.mlp([2, 1])
    assert not model.row_weights and model.offsets == 0
    model.row_weights, model.offsets = True, True
    assert model.row_weights and model.offsets == 1 and model.inputs == 2 and model.targets == 1
    assert model.copy().row_weights
    optimizer = bdl.Optimizer(model, bdl.Posterior.full(3), "exact-full", 2)
    with pytest.raises(bdl.UnsupportedError, match="before you create the optimizer"):
        model.row_weights = False
    with pytest.raises(bdl.ShapeError, match="expected 2"):
        optimizer.fit(np.ones((2, 3)), [1.0, 2.0])
