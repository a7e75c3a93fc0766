"""Estimators learn from data sets as from arrays of the same rows."""

import numpy as np
import pytest

import bdl

QUICK = dict(hidden=(6,), epochs=4, samples=20)


def mean_of(estimator):
    return estimator.posterior_.mean


def same_fit(estimator, again, X, y, data):
    expected, got = estimator.fit(X, y), again.fit(data)
    np.testing.assert_array_equal(mean_of(expected), mean_of(got))
    assert got.n_features_in_ == X.shape[1]
    np.testing.assert_array_equal(expected.predict(X), got.predict(X))
    return got


def test_regression(plane):
    X, y = plane
    both = np.column_stack([y, y**2])
    for targets in (y, both):
        new = lambda: bdl.BayesianMLPRegressor(**QUICK)
        same_fit(new(), new(), X, targets, bdl.Dataset(X, targets))
    same_fit(bdl.BayesianGLM(), bdl.BayesianGLM(), X, y, bdl.Dataset(X, y))
    same_fit(bdl.BayesianGLM("poisson"), bdl.BayesianGLM("poisson"), X / 50, np.rint(y / 50), bdl.Dataset(X / 50, np.rint(y / 50)))
    noisy = dict(noise="student_t", **QUICK)
    same_fit(bdl.BayesianMLPRegressor(**noisy), bdl.BayesianMLPRegressor(**noisy), X, y, bdl.Dataset(X, y))


def test_classification(blobs):
    X, names = blobs
    y = np.unique(names, return_inverse=True)[1]
    for labels in (y, np.minimum(y, 1)):
        data = bdl.Dataset.from_callable(lambda rows: (X[rows], labels[rows]), len(X))
        got = same_fit(bdl.BayesianMLPClassifier(**QUICK), bdl.BayesianMLPClassifier(**QUICK), X, labels, data)
        np.testing.assert_array_equal(got.classes_, np.unique(labels))
    same_fit(bdl.BayesianGLM("categorical"), bdl.BayesianGLM("categorical"), X, y, bdl.Dataset(X, y))


def test_files_and_images(tmp_path, rng):
    images = rng.integers(0, 255, (60, 64), dtype=np.uint8)
    y = (images.mean(axis=1) > 127).astype(np.int32)
    np.save(tmp_path / "x.npy", images)
    np.save(tmp_path / "y.npy", y)
    new = lambda: bdl.BayesianConvClassifier("conv 2 3; relu; maxpool 2", image_shape=(1, 8, 8), epochs=2, samples=5)
    data = bdl.Dataset.from_npy(tmp_path / "x.npy", tmp_path / "y.npy")
    got = same_fit(new(), new(), images, y, data)
    assert got.image_shape_ == (1, 8, 8)
    assert got.score(images.reshape(60, 1, 8, 8), y) >= 0


def test_streams(plane):
    X, y = plane
    new = lambda: bdl.BayesianMLPRegressor(method="lo-fi", **QUICK)
    same_fit(new(), new(), X, y, bdl.Dataset(X, y))


def test_going_on(plane):
    X, y = plane
    new = lambda: bdl.BayesianMLPRegressor(warm_start=True, **QUICK)
    arrays, data = new(), new()
    for _ in range(2):
        arrays.fit(X, y)
        data.fit(bdl.Dataset(X, y))
    np.testing.assert_array_equal(mean_of(arrays), mean_of(data))
    assert data.n_iter_ == 8


def test_ensembles(plane):
    X, y = plane
    new = lambda: bdl.DeepEnsembleRegressor(bdl.BayesianMLPRegressor(**QUICK), n_estimators=2)
    np.testing.assert_array_equal(new().fit(X, y).predict(X), new().fit(bdl.Dataset(X, y)).predict(X))


def test_what_is_wrong_is_said(plane):
    X, y = plane
    data, estimator = bdl.Dataset(X, y), bdl.BayesianMLPRegressor(**QUICK)
    with pytest.raises(TypeError, match="the data set has its own"):
        estimator.fit(data, y)
    with pytest.raises(ValueError, match="the data set has no y"):
        estimator.fit(bdl.Dataset(X))
    with pytest.raises(TypeError, match="partial_fit takes arrays"):
        estimator.partial_fit(data, None)
    with pytest.raises(TypeError, match="a search takes arrays"):
        estimator.cross_validate(data, None)
    with pytest.raises(TypeError, match="early_stopping takes arrays"):
        bdl.BayesianMLPRegressor(early_stopping=True, **QUICK).fit(data)
    with pytest.raises(ValueError, match="between 3 and 4"):
        bdl.BayesianMLPClassifier(**QUICK).fit(bdl.Dataset(X, np.arange(len(X)) % 2 + 3))
    with pytest.raises(ValueError, match="between 0.5"):
        bdl.BayesianMLPClassifier(**QUICK).fit(bdl.Dataset(X, np.arange(len(X)) % 2 + 0.5))
    with pytest.raises(ValueError, match="requires y"):
        estimator.fit(X)
    fitted = bdl.BayesianMLPRegressor(warm_start=True, **QUICK).fit(data)
    with pytest.raises(ValueError, match="X has 2 features"):
        fitted.fit(bdl.Dataset(X[:, :2], y))
    assert not hasattr(estimator, "optimizer_")
