"""Draws README's picture: the default network's prediction beside the true curve, with a band for the mean and one for new data.
Prints which share of the true curve the band of the mean holds.

    python3 examples/uncertainty.py docs/images/uncertainty.svg     # needs the Python package and matplotlib
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
    """A sine whose noise grows to the right, with a gap where nothing was measured."""
    rng = np.random.default_rng(seed)
    x = np.concatenate([rng.uniform(-END, GAP[0], count // 2), rng.uniform(GAP[1], END, count // 2)])
    return x[:, np.newaxis], truth(x) + (0.05 + 0.06 * (x + 3)) * rng.normal(size=len(x))


def main(path: str) -> None:
    x, y = data()
    regressor = bdl.BayesianMLPRegressor().fit(x, y)
    grid = np.linspace(-4, 4, 300)[:, np.newaxis]
    mean, epistemic, noise = (np.ravel(part) for part in regressor.predict_uncertainty(grid))
    known, whole = 1.96 * np.sqrt(epistemic), 1.96 * np.sqrt(epistemic + noise)
    held, where = np.abs(truth(grid[:, 0]) - mean) < known, np.abs(grid[:, 0])
    in_gap = (GAP[0] < grid[:, 0]) & (grid[:, 0] < GAP[1])
    for name, part in ("at the data", (where < END) & ~in_gap), ("in the gap", in_gap), ("beyond", where > END):
        print(f"the 95 % band of the mean holds {100 * np.mean(held[part]):.0f} % of the true curve {name}")
    matplotlib.rcParams.update({"svg.hashsalt": "bdl", "font.size": 9})
    figure, axes = plt.subplots(figsize=(7, 2.6), layout="constrained")
    axes.fill_between(grid[:, 0], mean - whole, mean + whole, color="#cfe2f3", label="95 % band of new data")
    axes.fill_between(grid[:, 0], mean - known, mean + known, color="#7fb3d9", label="95 % band of the mean")
    axes.plot(grid[:, 0], mean, color="#0b3d66", label="predicted mean")
    axes.plot(grid[:, 0], truth(grid[:, 0]), "--", color="#d35400", label="true curve")
    axes.plot(x[:, 0], y, ".", color="#333333", markersize=3, label="data")
    axes.set(xlim=(-4, 4), ylim=(-3, 3), xlabel="x", ylabel="y")
    axes.legend(loc="upper left", fontsize=7, ncols=2, frameon=False)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main(sys.argv[1])
