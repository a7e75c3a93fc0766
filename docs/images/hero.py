"""Draws the picture of README and of the site's first page: a network's prediction beside the true curve.
Fails if the 95 % band of the mean does not contain the true curve on 90 % of the axis.

usage: hero.py docs/images/hero.svg      needs the Python package and matplotlib
"""

import sys

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import bdl

GAP, END = (-0.3, 1.2), 3.0


def truth(x: np.ndarray) -> np.ndarray:
    return np.sin(2 * x)


def data(count: int = 400, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Returns a sine whose noise grows to the right, with a gap where nothing was measured."""
    rng = np.random.default_rng(seed)
    x = np.concatenate([rng.uniform(-END, GAP[0], count // 2), rng.uniform(GAP[1], END, count // 2)])
    return x[:, np.newaxis], truth(x) + (0.05 + 0.06 * (x + 3)) * rng.normal(size=len(x))


def main(path: str) -> None:
    x, y = data()
    model = bdl.BayesianMLPRegressor(activation="tanh").fit(x, y)
    grid = np.linspace(-4, 4, 300)
    mean, epistemic, noise = (np.ravel(part) for part in model.predict_uncertainty(grid[:, np.newaxis]))
    known, whole = 1.96 * np.sqrt(epistemic), 1.96 * np.sqrt(epistemic + noise)
    inside = np.abs(truth(grid) - mean) < known
    in_gap, beyond = (GAP[0] < grid) & (grid < GAP[1]), np.abs(grid) > END
    for name, part in ("at the data", ~in_gap & ~beyond), ("in the gap", in_gap), ("beyond the data", beyond):
        print(f"the 95 % band of the mean contains {100 * np.mean(inside[part]):.0f} % of the true curve {name}")

    matplotlib.rcParams.update({"svg.hashsalt": "bdl", "font.size": 9})
    figure, axes = plt.subplots(figsize=(7.2, 3), layout="constrained")
    axes.fill_between(grid, mean - whole, mean + whole, color="#cfe2f3", label="95 % of new data")
    axes.fill_between(grid, mean - known, mean + known, color="#7fb3d9", label="95 % for the mean")
    axes.plot(grid, mean, color="#0b3d66", label="predicted mean")
    axes.plot(grid, truth(grid), "--", color="#d35400", label="true curve")
    axes.plot(x[:, 0], y, ".", color="#333333", markersize=3, label="data")
    for where, text in (0.45, "no data:\nthe model is unsure"), (2.1, "noisy data:\nthe mean is still known"), (-2.2, "good data"):
        axes.annotate(text, (where, -2.85), ha="center", va="bottom", fontsize=8, color="#444444")
    axes.set(xlim=(-4, 4), ylim=(-3, 3.4), xlabel="x", ylabel="y")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper center", fontsize=8, ncols=5, frameon=False, handlelength=1.4, columnspacing=1.2)
    figure.savefig(path, metadata={"Date": None})
    if np.mean(inside) < 0.9:
        sys.exit(f"the band contains {100 * np.mean(inside):.0f} % of the true curve")


if __name__ == "__main__":
    main(sys.argv[1])
