"""Plots of estimators and of class probabilities, by Matplotlib.

Each function draws into ``ax``, or into the axes of a new figure, and returns the axes.
"""

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
    """Plots the ELBO and its parts by epoch.

    With early stopping, it also plots the log density of the validation data, on an axis at the right.

    Parameters
    ----------
    estimator : estimator
        Fitted network or generalised linear model.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw into. None: those of a new figure.

    Examples
    --------
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
    """Plots how often predictions are right against their stated probability.

    For a regressor, it plots the share of y inside central intervals against the probability of the
    intervals; for a classifier, a reliability diagram. Calibrated predictions lie on the diagonal.

    Parameters
    ----------
    estimator : estimator
        Fitted regressor or classifier.
    X : array of shape (n, features)
        Inputs.
    y : array of shape (n,)
        Targets or labels.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw into. None: those of a new figure.
    bins : int, default=10
        Number of intervals, or of bins of confidence.

    Examples
    --------
    >>> import bdl, numpy as np
    >>> X = np.linspace(-1, 1, 30)[:, np.newaxis]
    >>> glm = bdl.BayesianGLM().fit(X, X[:, 0])
    >>> bdl.plots.plot_calibration(glm, X, X[:, 0]).get_ylabel()
    'share of the data inside'
    """
    if is_classifier(estimator):
        numbers = numbers_of_labels(labels(y), estimator.classes_)
        return plot_reliability(estimator.predict_proba(X), numbers, ax, bins)
    ax = _unit_square(_axes(ax), "perfect calibration")
    _coverage(estimator, X, y, ax, bins)
    ax.legend()
    return ax


def plot_reliability(probabilities: Any, y: Any, ax: Any = None, bins: int = 10) -> Any:
    """Plots a reliability diagram of class probabilities.

    The size of a point is its share of the data.

    Parameters
    ----------
    probabilities : array of shape (n, K) or (n,)
        Class probabilities, or P(y = 1).
    y : array of shape (n,)
        Class numbers.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw into. None: those of a new figure.
    bins : int, default=10
        Number of bins of confidence.

    Examples
    --------
    >>> import bdl
    >>> probabilities, y = [[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]], [0, 1, 1]
    >>> bdl.plots.plot_reliability(probabilities, y).get_ylabel()
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
    """Plots histograms of the entropy of class probabilities, one for each group.

    Parameters
    ----------
    groups : dict of str to array of shape (n, K)
        Class probabilities by the name of the group.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw into. None: those of a new figure.
    bins : int, default=15
        Number of bins from 0 to log K.

    Examples
    --------
    >>> import bdl
    >>> groups = {"digits": [[0.9, 0.1]], "letters": [[0.5, 0.5], [0.6, 0.4]]}
    >>> bdl.plots.plot_entropies(groups).get_xlabel()
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
    """Plots the ROC curve of scores, and states its area.

    Parameters
    ----------
    positive, negative : array of shape (n,), (m,)
        Scores of the positives and of the negatives; a higher score should mean positive.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw into. None: those of a new figure.

    Examples
    --------
    >>> import bdl
    >>> bdl.plots.plot_roc([3, 1, 2], [2, 0]).get_xlabel()
    'false positive rate'
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
    """Plots predictions along one input: mean and intervals, or class probabilities.

    Parameters
    ----------
    estimator : estimator
        Fitted regressor with one target, or classifier.
    X : array of shape (n, features)
        Inputs, in any order.
    y : array of shape (n,), default=None
        Targets to draw as points.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw into. None: those of a new figure.
    bands : sequence of float, default=(0.5, 0.9)
        Probabilities of the central intervals.
    feature : int, default=0
        Number of the column of X for the horizontal axis.

    Examples
    --------
    >>> import bdl, numpy as np
    >>> X = np.linspace(-1, 1, 30)[:, np.newaxis]
    >>> glm = bdl.BayesianGLM().fit(X, X[:, 0])
    >>> bdl.plots.plot_predictive(glm, X, X[:, 0], bands=[0.9]).get_xlabel()
    'x0'
    """
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
        raise ValueError(f"the estimator has {mean.shape[1]} outputs, expected one: fit it to one target")
    for band in sorted(bands, reverse=True):
        lower, upper = estimator.predict(X, interval=band)
        style = {"color": "C0", "alpha": 0.25, "linewidth": 0, "label": f"{band:.0%}"}
        ax.fill_between(along[order], lower[order], upper[order], **style)
    ax.plot(along[order], mean[order], color="C0", label="mean")


def plot_posterior(estimator: Any, indices: Sequence[int] | None = None, ax: Any = None) -> Any:
    """Plots the marginal densities of parameters.

    Parameters
    ----------
    estimator : estimator
        Fitted estimator whose posterior has a covariance.
    indices : sequence of int, default=None
        Numbers of the parameters. None: the first ten.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw into. None: those of a new figure.

    Examples
    --------
    >>> import bdl, numpy as np
    >>> X = np.linspace(-1, 1, 30)[:, np.newaxis]
    >>> glm = bdl.BayesianGLM().fit(X, X[:, 0])
    >>> bdl.plots.plot_posterior(glm, [0]).get_ylabel()
    'density'
    """
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
    """Returns a parameter's block and its place there.

    >>> import bdl
    >>> _name(bdl.Model.mlp([2, 1]), 1)
    'layer0.weight[0, 1]'
    """
    index = range(model.parameters)[index]
    block = [block for block in model.blocks if block.offset <= index][-1]
    row, col = divmod(index - block.offset, block.cols)
    return f"{block.name}[{row}, {col}]" if block.cols > 1 else f"{block.name}[{row}]"
