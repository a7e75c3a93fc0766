#!/usr/bin/python3
"""Figures of Tomczak et al. (2020): plot.py RESULTS FOLDER writes FOLDER/elrg-*.svg, of what there is.

Needs matplotlib: sh tests/packages.sh plot.
"""
import math
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import figures  # noqa: E402
from figures import plt  # noqa: E402
from report import gains  # noqa: E402
from results import grouped, mean_and_error, read  # noqa: E402

COLOURS = {"elrg K=0": "#cf4a56", "elrg K=1": "#9cc4ef", "elrg K=2": "#2f81d8", "elrg K=5": "#174a86"}


def averages(groups):
    """K or epochs, mean and standard error over seeds (0 of one)."""
    x, mean, error = zip(*((x, *mean_and_error(values)) for x, values in sorted(groups.items())))
    return x, mean, [0 if math.isnan(e) else e for e in error]


def toy(folder, output):
    """Figure 1: each factor's worth, and what it does to predictions."""
    groups = grouped(read(folder, "figure1"), "method", "rank")
    if not groups:
        return
    figure, (bound, test) = plt.subplots(1, 2, figsize=(7, 2.8), layout="constrained")
    for method, without, colour in (("elrg", "elrg", "#174a86"), ("elrg-d", "mf-vi", "#d9822b")):
        start = groups[without, "0"]
        of_rank = {0: start, **{int(rank): rows for (name, rank), rows in groups.items() if name == method}}
        for axes, values in ((bound, {k: gains(rows, start) for k, rows in of_rank.items()}),
                             (test, {k: [float(row["test_log_likelihood"]) for row in rows] for k, rows in of_rank.items()})):
            k, mean, error = averages(values)
            axes.errorbar(k, mean, error, color=colour, marker="o", ms=3, lw=1.2, label=method)
    bound.plot([0, 5], [0, 25], "--", color="#7b818a", lw=0.8, zorder=5, label="5.0 K")
    bound.set(xlabel="K", ylabel="ELBO above K = 0")
    test.set(xlabel="K", ylabel="test log likelihood")
    bound.legend(fontsize=7)
    figures.save(figure, output, "elrg-toy")


def draw(panels, rows, curves):
    """Log likelihood and error by epochs; curves: method, its name, colour, style."""
    groups = grouped(rows, "method", "epochs")
    for method, name, colour, style in curves:
        for axes, column in zip(panels, ("log_likelihood", "error")):
            values = {int(epochs): [float(row[column]) for row in of_epochs]
                      for (found, epochs), of_epochs in groups.items() if found == method}
            if values:
                epochs, mean, _ = averages(values)
                axes.plot(epochs, mean, style, color=colour, marker="o", ms=2.5, lw=1.2, label=name)
    for axes, title in zip(panels, ("test log likelihood", "test error, %")):
        axes.set(xlabel="epochs", ylabel=title)
        axes.legend(fontsize=7)


def ranks(rows, output):
    """Figure 2: more factors."""
    found = [row for row in rows if row["experiment"] == "figure2"]
    if not found:
        return
    figure, panels = plt.subplots(1, 2, figsize=(7, 2.8), layout="constrained")
    draw(panels, found, [(method, method.removeprefix("elrg "), colour, "-") for method, colour in COLOURS.items()])
    figures.save(figure, output, "elrg-ranks")


def noise(rows, output):
    """Figure 3: each example's own noise against one draw for the minibatch."""
    pairs = {"figure2": [("elrg K=2", "elrg K=2 shared")], "table2": [("elrg K=1", "naive K=1"), ("elrg K=2", "naive K=2")]}
    of_networks = [(name, [row for row in rows if row["experiment"] == name]) for name in pairs]
    complete = [(name, found) for name, found in of_networks
                if all(method in {row["method"] for row in found} for pair in pairs[name] for method in pair)]
    if not complete:
        return
    name, found = complete[0]
    curves = []
    for own, shared in pairs[name]:
        label = own.removeprefix("elrg ")
        curves += [(own, f"{label}, own noise", COLOURS[own], "-"), (shared, f"{label}, shared", COLOURS[own], "--")]
    figure, panels = plt.subplots(1, 2, figsize=(7, 2.8), layout="constrained")
    draw(panels, found, curves)
    figures.save(figure, output, "elrg-noise")


if __name__ == "__main__":
    RESULTS, OUTPUT = sys.argv[1:3]
    toy(RESULTS, OUTPUT)
    ROWS = read(RESULTS, "elrg")
    ranks(ROWS, OUTPUT)
    noise(ROWS, OUTPUT)
