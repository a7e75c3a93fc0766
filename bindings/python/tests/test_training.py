"""Courses of training: streams, early stopping, warm starts, what is recorded and shown."""

import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning

import bdl
from bdl.estimators.training import Validation, best_length, constant_score, lengths_of_courses


def test_history(curve):
    regressor = bdl.BayesianMLPRegressor(epochs=30).fit(*curve)
    history = regressor.history_
    assert history["epoch"] == list(range(1, 31)) and regressor.n_iter_ == 30
    assert np.allclose(history["elbo"], np.subtract(history["expected_log_likelihood"], history["kl"]))
    assert history["elbo"][-1] > history["elbo"][0]
    assert set(history) == {"epoch", "expected_log_likelihood", "kl", "elbo"}


def test_early_stopping_takes_whole_courses_on_all_data(curve):
    x, y = curve
    regressor = bdl.BayesianMLPRegressor(epochs=150, early_stopping=True, patience=20).fit(x, y)
    assert regressor.history_["validation_epoch"] == [20, 40, 150][: len(regressor.history_["validation_epoch"])]
    same = bdl.BayesianMLPRegressor(epochs=regressor.n_iter_).fit(x, y)
    assert np.array_equal(regressor.predict(x), same.predict(x))
    assert regressor.history_["epoch"] == list(range(1, regressor.n_iter_ + 1))
    assert regressor.score(x, y) > 0.9


def scored(monkeypatch, means):
    """Early stopping whose courses have these mean log densities of held-out data, which vary little between rows."""
    scores, trained = iter(means), []

    def train(epochs):
        trained.append(epochs)

    validation = Validation(np.zeros((9, 1)), np.zeros((9, 1)), -1.0)
    monkeypatch.setattr(Validation, "densities", lambda self, optimizer: next(scores) + 1e-3 * np.arange(9))
    return best_length(train, lengths_of_courses(10, 160), validation), trained


def test_early_stopping_ends_where_more_epochs_are_worse(monkeypatch):
    (best, tried), trained = scored(monkeypatch, [-2, -1, -1.5, -1.6, 0])
    assert best == 20 and trained == [10, 20, 40, 80] and tried["validation_epoch"] == trained
    assert scored(monkeypatch, [-2, -1, -1.5, -0.5, -0.4])[0][0] == 160
    with pytest.raises(bdl.DivergedError, match="far below that of a constant"):
        scored(monkeypatch, [-1e6])


def test_early_stopping_with_integers(plane):
    x, y = plane
    regressor = bdl.BayesianMLPRegressor(epochs=20, early_stopping=True).fit(x, np.round(y).astype(np.int32))
    assert regressor.history_["validation_epoch"] == [10, 20]


def test_early_stopping_of_classifiers(blobs):
    classifier = bdl.BayesianMLPClassifier(epochs=60, early_stopping=True, patience=15).fit(*blobs)
    assert classifier.score(*blobs) > 0.9


def test_early_stopping_is_for_epochs(curve):
    regressor = bdl.BayesianMLPRegressor(method="lo-fi", early_stopping=True)
    with pytest.raises(ValueError, match="early_stopping"):
        regressor.fit(*curve)
    assert not hasattr(regressor, "optimizer_")


def test_warm_start_goes_on(curve):
    regressor = bdl.BayesianMLPRegressor(epochs=10, warm_start=True).fit(*curve)
    optimizer = regressor.optimizer_
    first = optimizer.posterior.mean
    regressor.fit(*curve)
    assert regressor.optimizer_ is optimizer and regressor.n_iter_ == 20
    assert not np.array_equal(regressor.posterior_.mean, first)
    assert regressor.history_["epoch"] == list(range(1, 21))
    regressor.fit(curve[0][:100], curve[1][:100])
    assert regressor.optimizer_.data_size == 100
    with pytest.raises(ValueError, match="features"):
        regressor.fit(np.zeros((10, 2)), np.zeros(10))


def test_fit_begins_anew_without_warm_start(curve):
    regressor = bdl.BayesianMLPRegressor(epochs=5).fit(*curve)
    first = regressor.posterior_.mean
    assert np.array_equal(regressor.fit(*curve).posterior_.mean, first)


def test_partial_fit_takes_steps(plane):
    x, y = plane
    regressor = bdl.BayesianMLPRegressor(hidden=(20,), method="slang-ggn")
    with pytest.warns(ConvergenceWarning, match="one pass of them is not a fit") as said:
        for epoch in range(200):
            for part in range(0, 200, 50):
                assert regressor.partial_fit(x[part : part + 50], y[part : part + 50], data_size=200) is regressor
    assert len(said) == 1
    assert regressor.optimizer_.data_size == 200
    assert regressor.optimizer_.progress.step == 200 * 4 * 5
    assert regressor.score(x, y) > 0.95


@pytest.mark.parametrize(
    "posterior, method",
    [("auto", "lo-fi"), ("low_rank", "lo-fi"), ("diagonal", "vd-ekf"), ("full", "ekf"), ("full_moment", "bong")],
)
def test_partial_fit_observes_a_stream(plane, posterior, method):
    x, y = plane
    regressor = bdl.BayesianMLPRegressor(hidden=(5,), posterior=posterior)
    for part in range(0, 200, 50):
        regressor.partial_fit(x[part : part + 50], y[part : part + 50])
    assert regressor.optimizer_.method == method
    assert regressor.optimizer_.prequential.count == 200 and len(regressor.history_["log_density"]) == 4


def test_partial_fit_of_dropout_takes_steps(plane):
    regressor = bdl.BayesianMLPRegressor(hidden=(5,), posterior="dropout").partial_fit(*plane)
    assert regressor.optimizer_.method == "mc-dropout" and regressor.optimizer_.progress.step > 0


def test_one_pass_of_a_stream_learns_more_than_one_of_steps():
    x, y = load_digits(return_X_y=True)
    stream = bdl.BayesianMLPClassifier().partial_fit(x[:1000], y[:1000], classes=range(10))
    steps = bdl.BayesianMLPClassifier(method="slang")
    with pytest.warns(ConvergenceWarning):
        steps.partial_fit(x[:1000], y[:1000], classes=range(10))
    assert stream.score(x[1000:], y[1000:]) > max(0.8, steps.score(x[1000:], y[1000:]))


def test_partial_fit_after_fit(curve):
    """A stream begins with the posterior that fit has learned; a warm fit goes back to batches."""
    x, y = curve
    regressor = bdl.BayesianMLPRegressor(epochs=50, warm_start=True).fit(x, y)
    score = regressor.score(x, y)
    assert regressor.optimizer_.method == "slang"
    regressor.partial_fit(x, y)
    assert regressor.optimizer_.method == "lo-fi" and regressor.optimizer_.prequential.count == len(x)
    assert abs(regressor.score(x, y) - score) < 0.05
    assert regressor.fit(x, y).optimizer_.method == "slang"
    assert abs(regressor.score(x, y) - score) < 0.05


def test_partial_fit_of_classifiers(blobs):
    x, y = blobs
    classifier = bdl.BayesianMLPClassifier(hidden=(10,))
    with pytest.raises(ValueError, match="classes"):
        classifier.partial_fit(x, y)
    order = np.random.default_rng(1).permutation(len(y))
    for part in np.array_split(order, 3):
        classifier.partial_fit(x[part], y[part], classes=["red", "green", "blue"])
    assert list(classifier.classes_) == ["blue", "green", "red"]
    assert classifier.score(x, y) > 0.9
    with pytest.raises(ValueError, match="classes"):
        classifier.partial_fit(x, y, classes=["red", "green"])


def test_streams_are_observed_once(plane):
    x, y = plane
    options = {"initial_noise_precision": 100.0}
    whole = bdl.BayesianGLM(method="cm-ekf", options=options).fit(x, y)
    blocks = bdl.BayesianGLM(method="cm-ekf", options=options, standardize=False)
    assert whole.score(x, y) > 0.95
    assert whole.optimizer_.prequential.count == 200 and len(whole.history_["log_density"]) == 1
    for part in range(0, 200, 40):
        blocks.partial_fit(x[part : part + 40], y[part : part + 40])
    assert blocks.optimizer_.prequential.count == 200 and len(blocks.history_["log_density"]) == 5


def test_kalman_filter_is_exact_regression(rng):
    """With the noise that is given, a filter of a linear model ends at the conjugate posterior."""
    x, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    options = {"initial_noise_precision": 4.0, "learn_noise": 0, "bias_prior_precision": 1.0}
    glm = bdl.BayesianGLM(method="cm-ekf", standardize=False, options=options).fit(x, y)
    precision = glm.model_.noise_precision[0]
    assert np.isclose(precision, 4 / y.var())
    design = np.column_stack([x, np.ones(50)])
    covariance = np.linalg.inv(precision * design.T @ design + np.eye(3))
    assert np.allclose(glm.posterior_.covariance(), covariance)
    assert np.allclose(glm.posterior_.mean, covariance @ design.T @ y * precision)


def test_glm_goes_on_after_an_exact_fit(plane):
    x, y = plane
    glm = bdl.BayesianGLM().fit(x, y)
    coef, std = glm.coef_, glm.coef_std_
    glm.partial_fit(x, y)
    assert glm.optimizer_.method == "ekf"
    assert np.all(np.abs(glm.coef_ - coef) < std)


def test_progress_bar(curve, capsys):
    pytest.importorskip("tqdm")
    bdl.BayesianMLPRegressor(epochs=3, verbose=True).fit(*curve)
    shown = capsys.readouterr()
    assert "ELBO" in shown.err and "3/3" in shown.err and not shown.out


def test_progress_without_tqdm(curve, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    bdl.BayesianMLPRegressor(epochs=3, verbose=True).fit(*curve)
    shown = capsys.readouterr()
    assert "\repoch 3 of 3  ELBO" in shown.err and shown.err.count("\n") == 1


def test_one_row():
    x, y = np.ones((1, 2)), np.ones(1)
    for estimator in bdl.BayesianMLPRegressor(epochs=5), bdl.BayesianGLM():
        assert np.isfinite(estimator.fit(x, y).predict(x)).all()


@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
def test_healthy_fits_say_nothing(curve, plane, blobs):
    for data in curve, plane:
        bdl.BayesianMLPRegressor().fit(*data)
        bdl.BayesianGLM().fit(*data)
    for data in blobs, load_iris(return_X_y=True):
        bdl.BayesianMLPClassifier().fit(*data)


def test_fits_that_are_too_short_say_so(curve):
    with pytest.warns(ConvergenceWarning, match="train for more") as said:
        bdl.BayesianMLPRegressor(epochs=2).fit(*curve)
    assert len(said) == 1 and said[0].filename == __file__


def test_divergence_says_what_is_held(curve):
    """Nothing is held of a first step that fails; a former fit stays."""
    x, y = curve
    wild = {"learning_rate": 1e6, "guard": 0, "samples": 2}
    regressor = bdl.BayesianMLPRegressor(method="von", epochs=5, options=wild)
    with pytest.raises(bdl.DivergedError, match="The estimator (is not fitted|holds the posterior of epoch)"):
        regressor.fit(x, y)


def test_early_stopping_of_training_that_diverges(curve, monkeypatch):
    monkeypatch.setattr(Validation, "densities", lambda self, optimizer: np.full(len(self.x), -np.inf))
    regressor = bdl.BayesianMLPRegressor(epochs=4, early_stopping=True)
    with pytest.raises(bdl.DivergedError, match="far below that of a constant.*not fitted"):
        regressor.fit(*curve)
    assert not hasattr(regressor, "optimizer_")


def test_scores_of_constants():
    y = np.array([[1.0], [3.0]])
    assert np.isclose(constant_score(y, y, None), -0.5 * (np.log(2 * np.pi) + 1))
    labels = np.array([[0], [1], [1]])
    assert np.isclose(constant_score(labels, labels, 2), (np.log(0.4) + 2 * np.log(0.6)) / 3)
