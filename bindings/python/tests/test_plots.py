import sys

import numpy as np
import pytest
from matplotlib import pyplot

import bdl
from bdl import plots


@pytest.fixture
def regressor(curve):
    yield bdl.BayesianMLPRegressor(epochs=40, early_stopping=True).fit(*curve)
    pyplot.close("all")


@pytest.fixture
def classifier(blobs):
    yield bdl.BayesianMLPClassifier(hidden=(5,), epochs=10).fit(*blobs)
    pyplot.close("all")


def drawn(ax):
    ax.figure.canvas.draw()
    return ax


def test_training(regressor, classifier):
    ax = drawn(plots.plot_training(regressor))
    assert len(ax.lines) == 3 and len(ax.get_legend().get_texts()) == 4
    assert len(drawn(plots.plot_training(classifier)).get_legend().get_texts()) == 3


def test_calibration_of_regressors(regressor, curve):
    ax = drawn(plots.plot_calibration(regressor, *curve))
    stated, observed = ax.lines[1].get_data()
    lower, upper = regressor.predict(curve[0], interval=0.9)
    at = int(np.argmin(np.abs(np.asarray(stated) - 0.9)))
    assert np.isclose(observed[at], np.mean((lower <= curve[1]) & (curve[1] <= upper)))
    assert np.all(np.diff(stated) > 0)


def test_calibration_of_classifiers(classifier, blobs):
    ax = drawn(plots.plot_calibration(classifier, *blobs, bins=1))
    (confidence,), (right,) = ax.lines[1].get_data()
    assert np.isclose(confidence, classifier.predict_proba(blobs[0]).max(axis=1).mean())
    assert np.isclose(right, classifier.score(*blobs))


def test_predictive(regressor, classifier, curve, blobs):
    ax = pyplot.figure().add_subplot()
    assert plots.plot_predictive(regressor, *curve, ax=ax, bands=[0.8]) is drawn(ax)
    assert len(ax.collections) == 1
    assert len(drawn(plots.plot_predictive(classifier, blobs[0], feature=1)).lines) == 3


def test_posterior(regressor):
    ax = drawn(plots.plot_posterior(regressor, [0, -1]))
    values, density = ax.lines[0].get_data()
    assert np.isclose(np.sum(density) * (values[1] - values[0]), 1, atol=1e-3)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["layer0.weight[0]", "layer1.bias[1]"]
    assert len(drawn(plots.plot_posterior(regressor)).lines) == 10


def test_several_outputs_are_refused(rng):
    regressor = bdl.BayesianMLPRegressor(epochs=1).fit(rng.normal(size=(20, 1)), rng.normal(size=(20, 2)))
    with pytest.raises(ValueError, match="2 outputs"):
        plots.plot_predictive(regressor, rng.normal(size=(5, 1)))


def test_matplotlib_is_missing(regressor, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        plots.plot_training(regressor)
