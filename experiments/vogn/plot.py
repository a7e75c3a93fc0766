#!/usr/bin/python3
"""Figures of Osawa et al. (2019): plot.py RESULTS FOLDER writes FOLDER/vogn-*.svg, of what there is.

Needs matplotlib: sh tests/packages.sh plot.
"""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import figures  # noqa: E402
from figures import plt  # noqa: E402
from report import most_epochs  # noqa: E402
from results import grouped, mean_and_error, read  # noqa: E402

COLOURS = ["#cf4a56", "#174a86", "#2f81d8", "#9cc4ef", "#d9822b", "#7b818a", "#3c9a5f", "#8e5bb5", "#b89c2f"]
NAMES = {"tau": "temperature tau", "decay": "prior precision per example, delta / N", "K": "draws a step, K"}


def average(rows, column):
    return mean_and_error([float(row[column]) for row in rows])[0]


def effects(rows, output):
    """NLL of training and test images, and calibration."""
    found = grouped(rows, "what")
    if not found:
        return
    figure, panels = plt.subplots(2, len(found), figsize=(2.4 * len(found), 4), layout="constrained", squeeze=False)
    for column, ((what,), group) in zip(panels.T, found.items()):
        curves = sorted((float(value), seeds) for (value,), _, seeds in most_epochs(group, "value"))
        values = [value for value, _ in curves]
        for axes, names in zip(column, (("nll", "train_nll"), ("ece",))):
            for name, colour in zip(names, COLOURS[1::2]):
                label = {"nll": "test", "train_nll": "training", "ece": "ECE"}[name]
                axes.plot(values, [average(seeds, name) for _, seeds in curves], color=colour, marker="o", ms=3, lw=1.2, label=label)
            axes.set(xscale="log", xlabel=NAMES[what], ylabel="NLL" if "nll" in names else "ECE")
            if what == "K":
                axes.set_xticks(values, [f"{value:g}" for value in values])
                axes.minorticks_off()
        column[0].legend(fontsize=7)
    figures.save(figure, output, "vogn-effects")


def histograms(rows, output):
    """Entropies of predictions, inside and outside of what was trained on."""
    pairs = grouped(rows, "pair")
    if not pairs:
        return
    methods = [method for (method,) in grouped(rows, "method")][:5]
    figure, panels = plt.subplots(len(pairs), len(methods), figsize=(1.7 * len(methods), 1.5 * len(pairs)), layout="constrained", sharex="row", squeeze=False)
    for axes, method in zip(panels[0], methods):
        axes.set_title(method, fontsize=8)
    for line, ((pair,), of_pair) in zip(panels, pairs.items()):
        for axes, method in zip(line, methods):
            of_method = [row for row in of_pair if row["method"] == method]
            for _, _, group in most_epochs(of_method, "method"):
                for (side,), seeds in grouped(group, "side").items():
                    shares = [average(seeds, f"bin{b}") for b in range(20)]
                    axes.stairs(shares, [b / 20 for b in range(21)], fill=True, alpha=0.6, color=COLOURS[1 if side == "inside" else 4], label=side)
            axes.set(yticks=[])
            axes.grid(False)
        line[0].set_ylabel(pair, fontsize=7)
    panels[0][0].legend(fontsize=6)
    figure.supxlabel("entropy over that of all classes alike", fontsize=8)
    figures.save(figure, output, "vogn-outside")


def continual(rows, output):
    """Mean accuracy of the tasks so far: networks of 100-100 units, and the small one."""
    if not rows:
        return
    figure, panels = plt.subplots(1, 2, figsize=(7, 2.8), layout="constrained")
    curves = [(method, runs) for (method,), _, runs in most_epochs(rows, "method")]
    for axes, is_small in zip(panels, (False, True)):
        shown = [(method, runs) for method, runs in curves if method.startswith("small ") == is_small]
        for (method, runs), colour in zip(shown, COLOURS):
            points = sorted((int(tasks), average(group, "accuracy")) for (tasks,), group in grouped(runs, "tasks").items())
            axes.plot(*zip(*points), color=colour, marker="o", ms=2.5, lw=1.2, label=method.removeprefix("small "))
    for axes, title in zip(panels, ("784-100-100-10", "49-20-10, images of 7 x 7")):
        axes.set(xlabel="tasks", ylabel="mean accuracy, %", title=title)
        axes.legend(fontsize=6)
    figures.save(figure, output, "vogn-continual")


def calibration(rows, predictions, output):
    """Reliability: accuracy by confidence, ten bins."""
    networks = grouped(rows, "network")
    if not networks:
        return
    figure, panels = plt.subplots(1, len(networks), figsize=(2.8 * len(networks), 2.8), layout="constrained", squeeze=False)
    for axes, ((network,), group) in zip(panels[0], networks.items()):
        axes.plot([0, 1], [0, 1], "--", color="#7b818a", lw=0.8)
        shown = [curve for curve in most_epochs(group, "method") if curve[0][0] in ("adam", "dropout", "bbb", "vogn", "ivon", "ensemble", "noisy-kfac")]
        for ((method,), epochs, _), colour in zip(shown, COLOURS):
            confidences = [float(c) for row in predictions if row["network"] == network and row["method"] == method and int(row["epochs"]) == epochs
                           for c in row["confidences"].split()]
            bins = [[c for c in confidences if b / 10 < abs(c) <= (b + 1) / 10] for b in range(10)]
            points = [(sum(map(abs, found)) / len(found), sum(c > 0 for c in found) / len(found)) for found in bins if len(found) >= 10]
            axes.plot(*zip(*points), color=colour, marker="o", ms=2.5, lw=1.2, label=method)
        axes.set(xlabel="confidence", ylabel="accuracy", title=network)
        axes.legend(fontsize=6)
    figures.save(figure, output, "vogn-calibration")


if __name__ == "__main__":
    RESULTS, OUTPUT = sys.argv[1:3]
    effects(read(RESULTS, "effects"), OUTPUT)
    histograms(read(RESULTS, "histogram"), OUTPUT)
    continual(read(RESULTS, "continual"), OUTPUT)
    calibration(read(RESULTS, "networks"), read(RESULTS, "predictions"), OUTPUT)
