"""With scikit-learn's tools, pandas, and files."""

import copy
import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import bdl


def test_pipeline(curve):
    x, y = curve
    pipeline = make_pipeline(PolynomialFeatures(7, include_bias=False), bdl.BayesianGLM()).fit(x, y)
    assert pipeline.score(x, y) > 0.9
    mean, std = pipeline.predict(x, return_std=True)
    assert mean.shape == std.shape == (240,)


def test_grid_search(plane):
    grid = {"hidden": [(2,), (10,)], "options": [{"learning_rate": 0.2}, {"learning_rate": 1e-6}]}
    search = GridSearchCV(bdl.BayesianMLPRegressor(epochs=20), grid, cv=3).fit(*plane)
    assert search.best_params_["options"] == {"learning_rate": 0.2}
    assert search.best_estimator_.score(*plane) > 0.5


def test_cross_validation(blobs):
    assert cross_val_score(bdl.BayesianGLM("categorical"), *blobs, cv=3).min() > 0.85


def test_clone():
    estimator = bdl.BayesianMLPRegressor((3, 4), method="vogn", options={"samples": 3})
    assert clone(estimator).get_params() == estimator.get_params()
    assert clone(bdl.BayesianGLM("poisson")).family == "poisson"


def test_pandas(plane):
    pandas = pytest.importorskip("pandas")
    x, y = plane
    frame = pandas.DataFrame(x, columns=["a", "b", "c"])
    regressor = bdl.BayesianMLPRegressor(epochs=5).fit(frame, pandas.Series(y))
    assert list(regressor.feature_names_in_) == ["a", "b", "c"]
    plain = bdl.BayesianMLPRegressor(epochs=5).fit(x, y)
    assert np.array_equal(regressor.predict(frame), plain.predict(x))
    with pytest.raises(ValueError, match="feature names"):
        regressor.predict(frame.rename(columns={"a": "z"}))
    labels = pandas.Series(np.where(y > y.mean(), "high", "low"), dtype="category")
    assert bdl.BayesianGLM("bernoulli").fit(frame, labels).score(frame, labels) > 0.9


@pytest.mark.parametrize("estimator", [bdl.BayesianMLPRegressor(), bdl.BayesianMLPClassifier(), bdl.BayesianGLM()])
def test_sparse_is_refused(estimator):
    with pytest.raises(TypeError, match="dense"):
        estimator.fit(scipy.sparse.csr_matrix(np.eye(4)), [0, 1, 0, 1])
    with pytest.raises(TypeError):
        estimator.fit(np.eye(4), scipy.sparse.csr_matrix(np.array([[0], [1], [0], [1]])))


def test_boosting_gives_weights(rng):
    X = rng.normal(size=(80, 2))
    boosted = AdaBoostClassifier(bdl.BayesianGLM("bernoulli"), n_estimators=3, random_state=1).fit(X, X[:, 0] > 0)
    assert boosted.score(X, X[:, 0] > 0) > 0.9


def through_joblib(estimator, folder):
    joblib.dump(estimator, folder / "estimator")
    return joblib.load(folder / "estimator")


@pytest.mark.parametrize(
    "duplicate",
    [lambda e, _: pickle.loads(pickle.dumps(e)), lambda e, _: copy.deepcopy(e), through_joblib],
    ids=["pickle", "deepcopy", "joblib"],
)
def test_duplicates_predict_and_train_alike(duplicate, blobs, tmp_path):
    x, y = blobs
    estimator = bdl.BayesianMLPClassifier(hidden=(5,), epochs=10, warm_start=True).fit(x, y)
    twin = duplicate(estimator, tmp_path)
    assert twin.model_ is twin.optimizer_.model and twin.optimizer_ is not estimator.optimizer_
    assert np.array_equal(twin.predict_proba(x), estimator.predict_proba(x))
    assert twin.history_ == estimator.history_
    before = estimator.posterior_.mean
    twin.fit(x, y)
    assert np.array_equal(estimator.posterior_.mean, before)
    assert np.array_equal(estimator.fit(x, y).posterior_.mean, twin.posterior_.mean)


def test_files_of_regressors(plane, tmp_path):
    x, y = plane
    path = tmp_path / "regressor.safetensors"
    given = dict(hidden=(7, 3), activation="tanh", rank=2, dtype="float32", random_state=5, options={"samples": 3})
    regressor = bdl.BayesianMLPRegressor(epochs=5, **given).fit(x, y)
    regressor.save(path)
    loaded = bdl.BayesianMLPRegressor.load(path)
    params = loaded.get_params()
    assert {name: params[name] for name in given} == given and loaded.n_iter_ == 5
    assert np.array_equal(loaded.predict(x), regressor.predict(x))
    with pytest.raises(ValueError, match="BayesianMLPClassifier"):
        bdl.BayesianMLPClassifier.load(path)
    assert bdl.load(path).posterior.rank == 2


def test_files_of_classifiers_and_glms(blobs, plane, tmp_path):
    x, y = blobs
    classifier = bdl.BayesianMLPClassifier(hidden=(5,), epochs=10).fit(x, y)
    classifier.save(tmp_path / "classifier")
    loaded = bdl.BayesianMLPClassifier.load(tmp_path / "classifier")
    assert list(loaded.classes_) == list(classifier.classes_)
    assert np.array_equal(loaded.predict_proba(x), classifier.predict_proba(x))
    glm = bdl.BayesianGLM().fit(*plane)
    glm.save(tmp_path / "glm")
    loaded = bdl.BayesianGLM.load(tmp_path / "glm")
    assert np.array_equal(loaded.coef_, glm.coef_) and loaded.intercept_std_ == glm.intercept_std_
    with pytest.raises(ValueError, match="BayesianGLM"):
        bdl.BayesianGLM.load(tmp_path / "classifier")
    bdl.save(tmp_path / "posterior", posterior=glm.posterior_)
    with pytest.raises(ValueError, match="no optimizer"):
        bdl.BayesianGLM.load(tmp_path / "posterior")


def saved_and_loaded(estimator, path):
    estimator.save(path)
    return type(estimator).load(path)


def bits_of(estimator):
    return estimator.posterior_.mean.tobytes(), estimator.posterior_.variance.tobytes(), estimator.optimizer_.method


@pytest.mark.parametrize(
    "estimator",
    [
        bdl.BayesianMLPRegressor(hidden=(5,), epochs=3, options={"prior_precision": 2.0}),
        bdl.BayesianMLPRegressor(hidden=(5,), epochs=3, posterior="diagonal", random_state=4),
        bdl.BayesianMLPRegressor(hidden=(5,), epochs=3, noise="student_t", dtype="float32"),
        bdl.BayesianMLPRegressor(hidden=(5,), epochs=3, method="vogn", noise="gaussian"),
        bdl.BayesianMLPRegressor(hidden=(5,), epochs=3, posterior="dropout", dropout=0.3),
        bdl.BayesianConvRegressor("dense 4; relu", epochs=3),
        bdl.BayesianGLM(epochs=3),
        bdl.BayesianGLM(epochs=3, options={"bias_prior_precision": 1.0}),
    ],
)
def test_training_goes_on_from_files(plane, tmp_path, estimator):
    """As it does from the estimator that was saved: block by block, and by a new fit."""
    x, more_x, y, more_y = (part[rows] for part in plane for rows in (slice(120), slice(120, None)))
    for begin in ("fit", "partial_fit"):
        original = getattr(clone(estimator), begin)(x, y)
        loaded = saved_and_loaded(original, tmp_path / "a")
        assert loaded.method == original.method
        assert bits_of(loaded.partial_fit(more_x, more_y)) == bits_of(original.partial_fit(more_x, more_y))
        loaded = saved_and_loaded(original, tmp_path / "b").set_params(epochs=3)
        assert bits_of(loaded.fit(more_x, more_y)) == bits_of(original.fit(more_x, more_y))


def test_files_hold_no_settings_of_predictions(plane, tmp_path):
    x, y = plane
    original = bdl.BayesianMLPRegressor(hidden=(5,), epochs=3, samples=7, prediction="linearized").fit(x, y)
    loaded = saved_and_loaded(original, tmp_path / "a")
    assert (loaded.samples, loaded.prediction) == (500, "auto")
    assert np.array_equal(loaded.set_params(samples=7, prediction="linearized").predict(x), original.predict(x))
    revived = pickle.loads(pickle.dumps(original))
    assert (revived.samples, revived.prediction) == (7, "linearized")


def test_methods_without_streams_keep_their_names(plane, tmp_path):
    """No stream learns such a posterior: a loaded estimator takes steps, as the one that was saved."""
    x, y = plane
    original = bdl.BayesianMLPRegressor(hidden=(5,), epochs=3, method="laplace", posterior="kronecker").fit(x, y)
    loaded = saved_and_loaded(original, tmp_path / "a")
    assert loaded.method == "laplace"
    assert bits_of(loaded.partial_fit(x, y)) == bits_of(original.partial_fit(x, y))


def test_save_takes_estimators(blobs, tmp_path):
    x, y = blobs
    classifier = bdl.BayesianMLPClassifier(hidden=(5,), epochs=3).fit(x, y)
    classifier.save(tmp_path / "own")
    bdl.save(tmp_path / "function", classifier)
    assert (tmp_path / "own").read_bytes() == (tmp_path / "function").read_bytes()
    with pytest.raises(ValueError, match="not fitted"):
        bdl.save(tmp_path / "x", bdl.BayesianMLPClassifier())


def test_not_fitted(tmp_path):
    for call in (
        lambda e: e.predict([[0.0]]),
        lambda e: e.sample_posterior(),
        lambda e: e.save(tmp_path / "x"),
        lambda e: e.log_predictive_density([[0.0]], [0.0]),
    ):
        with pytest.raises(ValueError, match="not fitted"):
            call(bdl.BayesianMLPRegressor())
    assert not hasattr(bdl.BayesianMLPRegressor(), "posterior_")


def test_package_is_imported_without_scikit_learn():
    import subprocess
    import sys

    code = "import bdl, sys; assert 'sklearn' not in sys.modules; assert 'BayesianGLM' in dir(bdl); bdl.BayesianGLM"
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="BayesianGML"):
        bdl.BayesianGML
