import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss

import bdl


@pytest.fixture
def fitted(blobs):
    return bdl.BayesianMLPClassifier(hidden=(20,), epochs=60).fit(*blobs), *blobs


def test_learns(fitted):
    classifier, x, y = fitted
    assert classifier.score(x, y) > 0.9
    assert list(classifier.classes_) == ["blue", "green", "red"]
    assert classifier.model_.likelihood == "categorical"


def test_probabilities(fitted):
    classifier, x, y = fitted
    probabilities = classifier.predict_proba(x)
    assert probabilities.shape == (150, 3) and np.allclose(probabilities.sum(axis=1), 1)
    assert np.allclose(np.exp(classifier.predict_log_proba(x)), probabilities)
    assert np.array_equal(classifier.classes_[probabilities.argmax(axis=1)], classifier.predict(x))
    of_labels = probabilities[np.arange(150), np.searchsorted(classifier.classes_, y)]
    assert np.allclose(np.exp(classifier.log_predictive_density(x, y)), of_labels)


def test_uncertainty(fitted):
    classifier, x, _ = fitted
    found = classifier.predict_uncertainty(x)
    assert np.allclose(found.entropy, -np.sum(found.probabilities * np.log(found.probabilities), axis=1))
    assert np.all((found.mutual_information >= 0) & (found.mutual_information < found.entropy))


def test_draws_have_the_probabilities(fitted):
    classifier, x, _ = fitted
    draws = classifier.sample_y(x[:5], n_samples=3000)
    shares = (draws[:, :, np.newaxis] == classifier.classes_).mean(axis=1)
    assert np.allclose(shares, classifier.predict_proba(x[:5]), atol=0.05)


@pytest.mark.parametrize(
    "labels", [[0, 1], [-1, 1], [False, True], [2.0, 7.0], ["a", "b"], np.array(["x", "y"], dtype=object)]
)
def test_labels_of_any_type(blobs, labels):
    x, colours = blobs
    y = np.asarray(labels)[(colours == "red").astype(int)]
    classifier = bdl.BayesianMLPClassifier(hidden=(5,), epochs=40).fit(x, y)
    assert classifier.model_.likelihood == "bernoulli"
    assert classifier.predict(x).dtype == y.dtype and classifier.score(x, y) > 0.9
    assert classifier.predict_proba(x).shape == (150, 2)
    assert classifier.predict_uncertainty(x).probabilities.shape == (150, 2)
    assert set(classifier.sample_y(x, 2).ravel()) <= set(y)


def test_labels_that_are_unknown(fitted):
    classifier, x, y = fitted
    with pytest.raises(ValueError, match="'mauve'"):
        classifier.log_predictive_density(x[:2], ["blue", "mauve"])
    with pytest.raises(ValueError, match="one class"):
        bdl.BayesianMLPClassifier().fit(x, np.zeros(150))


def test_many_rows_are_encoded_in_parts():
    from bdl.estimators import targets

    y = np.random.default_rng(0).integers(5, size=200_001) * 3
    classes = targets.classes_of(y)
    assert np.array_equal(classes, [0, 3, 6, 9, 12])
    assert np.array_equal(classes[targets.numbers_of_labels(y, classes)[:, 0]], y)


def test_laplace_predicts_by_the_linearised_model():
    """Draws of its Gaussian are far from the mode in the network itself."""
    x, y = load_breast_cancer(return_X_y=True)
    classifier = bdl.BayesianMLPClassifier(method="laplace", epochs=30).fit(x[:400], y[:400])
    usual = log_loss(y[400:], classifier.predict_proba(x[400:]))
    assert classifier.sample_y(x[:5], 3).shape == (5, 3)
    assert usual < 0.3
    classifier.set_params(prediction="monte_carlo")
    assert log_loss(y[400:], classifier.predict_proba(x[400:])) > 1.5 * usual


def test_map_with_three_classes_predicts_at_the_point(blobs):
    x, y = blobs
    classifier = bdl.BayesianMLPClassifier(method="map", epochs=10).fit(x, y)
    usual = classifier.predict_proba(x)
    assert np.array_equal(usual, classifier.set_params(prediction="plug_in").predict_proba(x))
    assert classifier.set_params(prediction="auto").sample_y(x, 2).shape == (150, 2)


def test_laplace_with_three_classes(blobs):
    x, y = blobs
    classifier = bdl.BayesianMLPClassifier(method="laplace", epochs=10).fit(x, y)
    assert classifier.score(x, y) > 0.9
    assert classifier.predict_uncertainty(x).mutual_information is None
    assert classifier.sample_y(x, 2).shape == (150, 2)


@pytest.mark.parametrize("make", [bdl.BayesianMLPClassifier, lambda: bdl.BayesianGLM("categorical"), lambda: bdl.BayesianGLM("bernoulli"),
                                  lambda: bdl.DeepEnsembleClassifier(n_estimators=1)])
def test_numbers_to_regress_on_are_no_classes(make, curve):
    x, y = curve
    with pytest.raises(ValueError, match="continuous"):
        make().fit(x, y)
    for text in (y.astype(str), y.astype(str).astype(object)):
        with pytest.raises(ValueError, match="240 different values in 240 rows.*astype"):
            make().fit(x, text)


def test_a_class_for_nearly_every_row_is_worth_a_warning(curve):
    x, _ = curve
    for labels in ([f"row {i}" for i in range(240)], np.arange(240)):
        with pytest.warns(UserWarning, match="a class for nearly every row"):
            bdl.BayesianMLPClassifier(hidden=2, epochs=1).fit(x, labels)


@pytest.mark.filterwarnings("error::UserWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
def test_text_of_few_numbers_is_classes(curve):
    x, y = curve
    labels = np.round(y).astype(int).astype(str)
    assert set(bdl.BayesianMLPClassifier(hidden=2, epochs=1).fit(x, labels).predict(x)) <= set(labels)
