#!/usr/bin/python3
"""Figures of the SLANG experiments: plot.py RESULTS FOLDER writes FOLDER/slang-*.svg.

Needs matplotlib: sh tests/packages.sh plot.
"""
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import figures  # noqa: E402
from figures import plt  # noqa: E402
from report import NAMES, label  # noqa: E402
from results import grouped, mean_and_error, read  # noqa: E402

COLOURS = {("mf-EF", "0"): "#d9822b", ("mf-Hessian", "0"): "#cf4a56", ("BBB", "0"): "#cf4a56",
           ("SLANG", "1"): "#9cc4ef", ("SLANG", "5"): "#2f81d8", ("SLANG", "10"): "#174a86",
           ("SLANG", "8"): "#9cc4ef", ("SLANG", "16"): "#2f81d8", ("SLANG", "32"): "#174a86",
           ("EF", "0"): "#8a63d2", ("Hessian", "0"): "#2da44e"}


def convergence(folder, output):
    """Figures 4 and 6."""
    groups = grouped(read(folder, "trace"), "model", "data")
    figure, panels = plt.subplots(2, 3, figsize=(11, 6), squeeze=False, layout="constrained")
    for row, model in enumerate(("logistic", "network")):
        for axes, data in zip(panels[row], [d for d in NAMES if d != "a1a"]):
            for key, runs in grouped(groups.get((model, data), []), "method", "rank").items():
                if key not in COLOURS:
                    continue
                points = [(int(e), mean_and_error([float(r["minus_elbo"]) for r in group])[0])
                          for (e,), group in grouped(runs, "epoch").items()]
                axes.plot(*zip(*sorted(points)), color=COLOURS[key], lw=1.2, label=label(*key))
            axes.set(title=f"{NAMES[data]}, {model}", xscale="log", yscale="log", xlabel="epochs")
        panels[row][0].set_ylabel("-ELBO / N")
        panels[row][0].legend(fontsize=7)
    figures.save(figure, output, "slang-convergence")


def load(folder, data, name):
    path = pathlib.Path(folder) / "covariance" / f"{data}-{name}.csv"
    return np.loadtxt(path, delimiter=",") if path.exists() else None


def covariance(folder, output, data):
    """Figures 1 and 7: off-diagonal covariances, means and variances, all without the bias."""
    names = {"mf-exact-0": "MF exact", "SLANG-1": "SLANG, L = 1", "SLANG-5": "SLANG, L = 5",
             "SLANG-10": "SLANG, L = 10", "exact-0": "exact"}
    found = {title: q for name, title in names.items() if (q := load(folder, data, name)) is not None}
    if "exact" not in found:
        return
    blocks = {title: q[2:, 1:] for title, q in found.items()}
    off = blocks["exact"] - np.diag(np.diag(blocks["exact"]))
    limit = np.quantile(np.abs(off), 0.99)
    figure, panels = plt.subplots(1, len(found) + 2, figsize=(2.2 * (len(found) + 2), 2.5), layout="constrained")
    for axes, (title, block) in zip(panels, blocks.items()):
        axes.imshow(block - np.diag(np.diag(block)), vmin=-limit, vmax=limit, cmap="RdBu_r", interpolation="nearest")
        axes.set(title=title, xticks=[], yticks=[])
    for axes, part in zip(panels[-2:], ("mean", "variance")):
        for title, colour in (("MF exact", "#cf4a56"), ("SLANG, L = 1", "#9cc4ef"), ("SLANG, L = 10", "#174a86")):
            if title not in found:
                continue
            values = [q[0, 1:] if part == "mean" else np.diag(q[2:, 1:]) for q in (found["exact"], found[title])]
            axes.plot(*values, ".", ms=3, color=colour, label=title)
        axes.axline((0, 0) if part == "mean" else (1e-3, 1e-3), slope=1, color="#7b818a", lw=0.7)
        axes.set(title=part, xlabel="exact")
    panels[-1].set(xscale="log", yscale="log")
    panels[-1].legend(fontsize=6)
    figures.save(figure, output, f"slang-covariance-{data.replace('_', '-')}")


def curve(folder, output):
    """Figure 8."""
    rows, data, elbo = (read(folder, f"curve{part}") for part in ("", "-data", "-elbo"))
    if not rows:
        return
    groups = grouped(rows, "method", "rank")
    figure, panels = plt.subplots(1, len(groups) + 1, figsize=(3 * (len(groups) + 1), 3), layout="constrained")
    for axes, (key, points) in zip(panels, groups.items()):
        x, mean, function, sd = (np.array([float(p[c]) for p in points]) for c in ("x", "mean", "sd_function", "sd"))
        axes.fill_between(x, mean - 2 * sd, mean + 2 * sd, color="#2f81d8", alpha=0.2, lw=0)
        axes.fill_between(x, mean - 2 * function, mean + 2 * function, color="#2f81d8", alpha=0.3, lw=0)
        axes.plot(x, mean, color="#174a86")
        axes.plot([float(p["x"]) for p in data], [float(p["y"]) for p in data], ".", color="#d9822b", ms=4)
        axes.set(title=label(*key), xlabel="x", ylim=(-200, 200))
    for key, points in grouped(elbo, "method", "rank").items():
        panels[-1].plot([int(p["step"]) for p in points], [float(p["minus_elbo"]) for p in points], lw=0.8,
                        label=label(*key))
    panels[-1].set(title="-ELBO / N, last steps", xlabel="step", yscale="log")
    panels[-1].legend(fontsize=7)
    figures.save(figure, output, "slang-curve")


if __name__ == "__main__":
    RESULTS, OUTPUT = sys.argv[1:3]
    convergence(RESULTS, OUTPUT)
    curve(RESULTS, OUTPUT)
    for name in NAMES:
        covariance(RESULTS, OUTPUT, name)
