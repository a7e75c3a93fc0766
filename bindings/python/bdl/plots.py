"""Plots of estimators and of class probabilities, by Matplotlib: each draws into ``ax``, or new axes, and returns them."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from sklearn.base import is_classifier

from . import metrics
from .estimators.points import no_covariance
from .estimators.targets import labels, numbers_of_labels

_BANDS = (0.5, 0.9)


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("bdl.plots needs Matplotlib: python -m pip install matplotlib") from error
    return pyplot.figure(layout="constrained").add_subplot()


def plot_training(estimator: Any, ax: Any = None) -> Any:
    """The ELBO and its parts by epoch, and the validation's log density per example, on an axis of its own.

    >>> import bdl, numpy as np
    >>> X = np.linspace(-1, 1, 30)[:, np.newaxis]
    >>> regressor = bdl.BayesianMLPRegressor(epochs=5).fit(X, X[:, 0])
    >>> bdl.plots.plot_training(regressor).get_xlabel()
    'epoch'
    """
    history, ax = estimator.history_, _axes(ax)
    titles = {"elbo": "ELBO", "expected_log_likelihood": "expected log likelihood", "kl": "KL divergence"}
    for name, title in titles.items():
        ax.plot(history["epoch"], history[name], label=title)
    ax.set(xlabel="epoch", ylabel="nats")
    lines = list(ax.lines)
    if "validation_log_density" in history:
        right = ax.twinx()
        right.set_ylabel("nats per example")
        label = "log density of validation data"
        lines += right.plot(history["validation_epoch"], history["validation_log_density"], "k:", label=label)
    ax.legend(handles=lines)
    return ax


def plot_calibration(estimator: Any, X: Any, y: Any, ax: Any = None, bins: int = 10) -> Any:
    """Whether stated probabilities are true: of classifiers, how often the predicted class is right by its probability;
    of regressors, how often y is inside of central intervals by theirs. Honest ones are on the diagonal."""
    if is_classifier(estimator):
        numbers = numbers_of_labels(labels(y), estimator.classes_)
        return plot_reliability(estimator.predict_proba(X), numbers, ax, bins)
    ax = _unit_square(_axes(ax), "perfect calibration")
    _coverage(estimator, X, y, ax, bins)
    ax.legend()
    return ax


def plot_reliability(probabilities: Any, y: Any, ax: Any = None, bins: int = 10) -> Any:
    """How often the predicted class is right by its probability: ``metrics.calibration_curve`` with points as large as their
    share of the data. ``y`` are class numbers.

    >>> plot_reliability([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]], [0, 1, 1]).get_ylabel()
    'share of right predictions'
    """
    curve = metrics.calibration_curve(probabilities, y, bins)
    used = curve.counts > 0
    confidence, accuracy, shares = curve.confidence[used], curve.accuracy[used], curve.counts[used] / curve.counts.sum()
    ax = _unit_square(_axes(ax), "perfect calibration")
    ax.plot(confidence, accuracy, "-", color="C0")
    ax.scatter(confidence, accuracy, s=20 + 200 * shares, color="C0", label="observed (size: share of the data)")
    ax.set(xlabel="probability of the predicted class", ylabel="share of right predictions")
    ax.legend()
    return ax


def plot_entropies(groups: dict[str, Any], ax: Any = None, bins: int = 15) -> Any:
    """Histograms of the entropy of class probabilities, as shares of each group, from 0 to log K.

    >>> plot_entropies({"digits": [[0.9, 0.1]], "letters": [[0.5, 0.5], [0.6, 0.4]]}, bins=5).get_xlabel()
    'entropy (nats)'
    """
    ax = _axes(ax)
    for name, probabilities in groups.items():
        counts, edges = metrics.entropy_histogram(probabilities, bins)
        ax.stairs(counts / counts.sum(), edges, fill=True, alpha=0.5, label=name)
    ax.set(xlabel="entropy (nats)", ylabel="share")
    ax.legend()
    return ax


def plot_roc(positive: Any, negative: Any, ax: Any = None) -> Any:
    """The ROC curve of scores, and its area.

    >>> plot_roc([3, 1, 2], [2, 0]).get_legend().get_texts()[1].get_text()
    'AUROC 0.750'
    """
    ax = _unit_square(_axes(ax), "no better than chance")
    curve = metrics.roc_curve(positive, negative)
    ax.plot(curve.fpr, curve.tpr, color="C0", label=f"AUROC {metrics.auroc(positive, negative):.3f}")
    ax.set(xlabel="false positive rate", ylabel="true positive rate")
    ax.legend()
    return ax


def _unit_square(ax: Any, diagonal: str) -> Any:
    ax.plot([0, 1], [0, 1], "k:", label=diagonal)
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    return ax


def _coverage(estimator: Any, X: Any, y: Any, ax: Any, bins: int) -> None:
    levels = np.linspace(0, 1, 2 * bins + 1)[1:-1]
    quantiles, y = estimator.predict(X, quantiles=levels), np.asarray(y)
    pairs = [(i, len(levels) - 1 - i) for i in reversed(range(len(levels) // 2))]
    inside = [np.mean((quantiles[..., low] <= y) & (y <= quantiles[..., high])) for low, high in pairs]
    probabilities = [levels[high] - levels[low] for low, high in pairs]
    ax.plot([0, *probabilities, 1], [0, *inside, 1], "o-", label="observed")
    ax.set(xlabel="probability of the interval", ylabel="share of the data inside")


def plot_predictive(
    estimator: Any, X: Any, y: Any = None, ax: Any = None, bands: Sequence[float] = _BANDS, feature: int = 0
) -> Any:
    """Mean and central intervals of a regressor's predictions along one input, or a classifier's probabilities.

    ``X`` has the points in any order, of which column ``feature`` is the axis; numbers ``y`` are drawn with them."""
    ax, along = _axes(ax), np.asarray(X, dtype=float)[:, feature]
    order = np.argsort(along)
    if is_classifier(estimator):
        for label, probability in zip(estimator.classes_, estimator.predict_proba(X).T):
            ax.plot(along[order], probability[order], label=f"P({label})")
        ax.set(ylim=(-0.02, 1.02))
    else:
        _bands(estimator, X, ax, along, order, bands)
        if y is not None:
            ax.plot(along, np.asarray(y), "k.", markersize=3, label="data")
    names = getattr(estimator, "feature_names_in_", None)
    ax.set(xlabel=f"x{feature}" if names is None else names[feature])
    ax.legend()
    return ax


def _bands(estimator: Any, X: Any, ax: Any, along: np.ndarray, order: np.ndarray, bands: Sequence[float]) -> None:
    mean = estimator.predict(X)
    if mean.ndim > 1:
        raise ValueError(f"the estimator has {mean.shape[1]} outputs, expected one")
    for band in sorted(bands, reverse=True):
        lower, upper = estimator.predict(X, interval=band)
        style = {"color": "C0", "alpha": 0.25, "linewidth": 0, "label": f"{band:.0%}"}
        ax.fill_between(along[order], lower[order], upper[order], **style)
    ax.plot(along[order], mean[order], color="C0", label="mean")


def plot_posterior(estimator: Any, indices: Sequence[int] | None = None, ax: Any = None) -> Any:
    """Marginal densities of parameters; without ``indices``, of the first ten."""
    if not estimator.posterior_.has_covariance:
        raise ValueError(f"there are no marginals: {no_covariance(estimator.optimizer_)}")
    posterior, model, ax = estimator.posterior_, estimator.model_, _axes(ax)
    indices = range(min(10, posterior.dimension)) if indices is None else indices
    mean, std = posterior.mean, np.sqrt(posterior.variance)
    for index in indices:
        values = mean[index] + std[index] * np.linspace(-4, 4, 201)
        density = np.exp(-0.5 * ((values - mean[index]) / std[index]) ** 2) / (std[index] * np.sqrt(2 * np.pi))
        ax.plot(values, density, label=_name(model, index))
    ax.set(xlabel="parameter, on the standardised scale" if estimator.standardize else "parameter", ylabel="density")
    ax.legend()
    return ax


def _name(model: Any, index: int) -> str:
    """A parameter's block and place in it.

    >>> import bdl
    >>> _name(bdl.Model.mlp([2, 1]), 1)
    'layer0.weight[0, 1]'
    """
    index = range(model.parameters)[index]
    block = [block for block in model.blocks if block.offset <= index][-1]
    row, col = divmod(index - block.offset, block.cols)
    return f"{block.name}[{row}, {col}]" if block.cols > 1 else f"{block.name}[{row}]"
