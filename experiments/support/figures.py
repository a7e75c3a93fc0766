"""One look for all figures: text as text, legible on light and dark backgrounds, the same file from the same numbers.

Needs matplotlib: sh tests/packages.sh plot.
"""
import pathlib

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

plt.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "bdl", "font.size": 9, "figure.facecolor": "none",
    "axes.facecolor": "none", "savefig.facecolor": "none", "text.color": "#7b818a", "axes.labelcolor": "#7b818a",
    "axes.edgecolor": "#7b818a", "xtick.color": "#7b818a", "ytick.color": "#7b818a", "grid.color": "#7b818a",
    "grid.alpha": 0.25, "axes.grid": True, "legend.framealpha": 0.0})


def save(figure, folder, name):
    figure.savefig(pathlib.Path(folder) / f"{name}.svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
