"""Scores of classification and of out-of-distribution detection, against NumPy's arithmetic and scikit-learn's."""

import numpy as np
import pytest
from matplotlib import pyplot
from sklearn import metrics as reference

import bdl
from bdl import metrics, plots


@pytest.fixture
def probabilities(rng):
    return rng.dirichlet([0.5] * 4, size=200)


@pytest.fixture
def others(rng):
    return rng.dirichlet([2.0] * 4, size=70)


@pytest.fixture
def labels(rng, probabilities):
    drawn = (rng.random(200)[:, np.newaxis] > probabilities.cumsum(axis=1)).sum(axis=1)
    return np.minimum(drawn, 3)


@pytest.fixture
def scores(rng):
    """With ties within and between."""
    return rng.integers(12, size=50) / 4, rng.integers(8, size=90) / 4


def against(positive, negative):
    return np.r_[np.ones(len(positive)), np.zeros(len(negative))], np.r_[positive, negative]


def test_ranks(scores):
    truth, all_scores = against(*scores)
    assert np.isclose(metrics.auroc(*scores), reference.roc_auc_score(truth, all_scores))
    assert np.isclose(metrics.aupr(*scores), reference.average_precision_score(truth, all_scores))
    false, true, thresholds = reference.roc_curve(truth, all_scores, drop_intermediate=False)
    curve = metrics.roc_curve(*scores)
    assert np.allclose(curve.fpr, false) and np.allclose(curve.tpr, true)
    assert np.array_equal(curve.threshold[1:], thresholds[1:])
    assert np.isclose(metrics.detection_error(*scores), np.min(1 - true + false) / 2)
    enough = np.flatnonzero(true >= 0.95)[0]
    assert metrics.fpr(*scores) == (false[enough], thresholds[enough])


def test_calibration(probabilities, labels):
    confidence, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == labels
    bin_of = np.ceil(confidence * 20).astype(int) - 1
    curve = metrics.calibration_curve(probabilities, labels, bins=20)
    assert np.array_equal(curve.counts, np.bincount(bin_of, minlength=20))
    used = curve.counts > 0
    assert np.allclose(curve.accuracy[used], [right[bin_of == b].mean() for b in np.flatnonzero(used)])
    assert np.allclose(curve.confidence[used], [confidence[bin_of == b].mean() for b in np.flatnonzero(used)])
    assert np.isnan(curve.accuracy[~used]).all() and np.isnan(curve.confidence[~used]).all()
    error = np.nansum(curve.counts / 200 * np.abs(curve.accuracy - curve.confidence))
    assert np.isclose(metrics.ece(probabilities, labels, bins=20), error)
    assert np.isclose(metrics.nll(probabilities, labels), reference.log_loss(labels, probabilities, labels=range(4)))


def test_entropies(probabilities):
    entropy = -np.sum(probabilities * np.log(probabilities), axis=1)
    assert np.allclose(metrics.entropy(probabilities), entropy)
    counts, edges = metrics.entropy_histogram(probabilities, bins=10)
    assert np.array_equal(counts, np.histogram(entropy, edges)[0])
    assert edges[0] == 0 and np.isclose(edges[-1], np.log(4))
    assert np.isclose(metrics.entropy_histogram([0.5, 0.1])[1][-1], np.log(2))


@pytest.mark.parametrize("score", ["confidence", "entropy"])
def test_certainty(probabilities, others, labels, score):
    measure = (lambda p: p.max(axis=1)) if score == "confidence" else (lambda p: -metrics.entropy(p))
    certainty, right = measure(probabilities), probabilities.argmax(axis=1) == labels
    assert np.isclose(metrics.auroc_correct(probabilities, labels, score), metrics.auroc(certainty[right], certainty[~right]))
    report = metrics.out_of_distribution(probabilities, others, score)
    outside = measure(others)
    assert np.isclose(report.auroc, metrics.auroc(certainty, outside))
    assert np.isclose(report.aupr, metrics.aupr(certainty, outside))
    assert np.isclose(report.aupr_out, metrics.aupr(-outside, -certainty))
    assert np.allclose((report.fpr95, report.threshold), metrics.fpr(certainty, outside))
    assert np.isclose(report.detection_error, metrics.detection_error(certainty, outside))
    assert np.isclose(report.entropy_inside, metrics.entropy(probabilities).mean())
    assert np.isclose(report.entropy_outside, metrics.entropy(others).mean())


def test_temperature(rng):
    logits = 3 * rng.normal(size=(500, 5))
    labels = np.array([rng.choice(5, p=np.exp(row)) for row in metrics.apply_temperature(logits, 2.5)])
    temperature = metrics.fit_temperature(logits, labels)

    def loss(t):
        return metrics.nll(np.exp(metrics.apply_temperature(logits, t)), labels)

    assert abs(temperature - 2.5) < 0.5
    assert loss(temperature) < min(loss(0.999 * temperature), loss(1.001 * temperature))
    assert np.isclose(metrics.fit_temperature(np.asfortranarray(2 * logits + 1), labels), 2 * temperature)


def test_refused(probabilities, others, labels):
    refused = [
        (lambda: metrics.out_of_distribution(probabilities, others, "margin"), bdl.InvalidArgumentError, "score is 'margin'"),
        (lambda: metrics.out_of_distribution(probabilities, others[:, :1]), bdl.ShapeError, "outside has 1 columns, expected 4"),
        (lambda: metrics.auroc_correct([[0.5, 0.5]], [0]), bdl.InvalidArgumentError, "all of the labels"),
        (lambda: metrics.auroc([np.nan], [1.0]), bdl.NotFiniteError, "positive"),
        (lambda: metrics.auroc([], [1.0]), bdl.ShapeError, "positive is empty"),
        (lambda: metrics.fpr([1.0], [1.0], tpr=0), bdl.InvalidArgumentError, "tpr is 0"),
        (lambda: metrics.nll([[1.0, 0.0]], [1]), bdl.DivergedError, "probability 0"),
        (lambda: metrics.calibration_curve(probabilities, labels, bins=0), bdl.InvalidArgumentError, "bins is 0"),
        (lambda: metrics.entropy_histogram(probabilities, bins=-1), bdl.InvalidArgumentError, "bins is -1"),
        (lambda: metrics.fit_temperature([0.0, 1.0], [0, 1]), bdl.ShapeError, "logits has 1 column"),
        (lambda: metrics.fit_temperature(probabilities, labels + 1), bdl.LabelError, "y is 4"),
        (lambda: metrics.apply_temperature(probabilities, -1), bdl.InvalidArgumentError, "temperature is -1"),
    ]
    for call, error, message in refused:
        with pytest.raises(error, match=message):
            call()


def test_plots(probabilities, others, labels, scores):
    ax = plots.plot_reliability(probabilities, labels, bins=1)
    (confidence,), (right,) = ax.lines[1].get_data()
    assert np.isclose(confidence, probabilities.max(axis=1).mean())
    assert np.isclose(right, metrics.accuracy(probabilities, labels))
    ax = plots.plot_entropies({"inside": probabilities, "outside": others}, bins=8)
    heights, edges, _ = ax.patches[1].get_data()
    counts, expected = metrics.entropy_histogram(others, bins=8)
    assert np.allclose(heights, counts / 70) and np.allclose(edges, expected)
    ax = plots.plot_roc(*scores)
    assert np.allclose(ax.lines[1].get_data(), metrics.roc_curve(*scores)[:2])
    ax.figure.canvas.draw()
    pyplot.close("all")
