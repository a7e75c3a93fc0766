"""Plots of estimators, by Matplotlib: each draws into ``ax``, or new axes, and returns them."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from sklearn.base import is_classifier

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
        lines += right.plot(history["epoch"], history["validation_log_density"], "k:", label=label)
    ax.legend(handles=lines)
    return ax


def plot_calibration(estimator: Any, X: Any, y: Any, ax: Any = None, bins: int = 10) -> Any:
    """Whether stated probabilities are true: of classifiers, how often the predicted class is right by its probability;
    of regressors, how often y is inside of central intervals by theirs. Honest ones are on the diagonal."""
    draw = _reliability if is_classifier(estimator) else _coverage
    ax = _axes(ax)
    ax.plot([0, 1], [0, 1], "k:", label="perfect calibration")
    draw(estimator, X, y, ax, bins)
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    ax.legend()
    return ax


def _reliability(estimator: Any, X: Any, y: Any, ax: Any, bins: int) -> None:
    probabilities = estimator.predict_proba(X)
    confidence = probabilities.max(axis=1)
    right = estimator.classes_[probabilities.argmax(axis=1)] == np.asarray(y)
    number = np.minimum((confidence * bins).astype(int), bins - 1)
    used = np.unique(number)
    means = np.array([(confidence[number == b].mean(), right[number == b].mean()) for b in used])
    sizes = np.array([np.mean(number == b) for b in used])
    ax.plot(means[:, 0], means[:, 1], "-", color="C0")
    ax.scatter(means[:, 0], means[:, 1], s=20 + 200 * sizes, color="C0", label="observed (size: share of the data)")
    ax.set(xlabel="probability of the predicted class", ylabel="share of right predictions")


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
