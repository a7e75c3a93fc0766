#!/usr/bin/python3
"""Figures of the experiments on streams: plot.py RESULTS FOLDER writes FOLDER/bong-*.svg.

Needs matplotlib: sh tests/packages.sh plot.
"""
import math
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import figures  # noqa: E402
from figures import plt  # noqa: E402
from report import CURVATURES, FAMILIES, RULES  # noqa: E402
from results import grouped, mean_and_error, read  # noqa: E402

COLOURS = {"bong": "#2f81d8", "blr": "#2da44e", "bog": "#d9822b", "bbb": "#cf4a56"}


def save(figure, folder, name):
    figure.tight_layout()
    figures.save(figure, folder, f"bong-{name}")


def curve(axes, rows, x, y, **style):
    """Mean over seeds, with standard errors where there are several; what diverged is left out."""
    points = []
    for (at,), group in grouped(rows, x).items():
        values = [float(r[y]) for r in group]
        if all(map(math.isfinite, values)):
            points.append((float(at), *mean_and_error(values)))
    if points:
        xs, means, errors = zip(*sorted(points))
        axes.errorbar(xs, means, [0 if math.isnan(e) else e for e in errors], capsize=2, marker="o", ms=3, **style)


def streams(folder, output):
    rows = read(folder, "stream")
    for (data,), part in grouped(rows, "data").items():
        figure, panels = plt.subplots(1, 4, figsize=(11, 3.2), sharey=True)
        for axes, (family, curvature) in zip(panels, ((f, c) for f in FAMILIES for c in CURVATURES)):
            for rule in RULES:
                runs = [r for r in part if (r["rule"], r["curvature"], r["family"]) == (rule, curvature, family)]
                curve(axes, runs, "n", "nlpd_plug_in", color=COLOURS[rule], label=rule)
            axes.set(title=f"{data}, {family}, {curvature}", xscale="log", xlabel="examples")
        if data == "sarcos":
            panels[0].set_ylim(-0.5, 5)
        panels[0].set_ylabel("test NLPD, plug-in")
        panels[-1].legend()
        save(figure, output, data)


def sensitivity(folder, output):
    rows = read(folder, "sensitivity")
    figure, panels = plt.subplots(1, 2, figsize=(8, 3.4), sharey=True)
    for axes, curvature in zip(panels, CURVATURES):
        for (rule, iterations), runs in grouped([r for r in rows if r["curvature"] == curvature],
                                                "rule", "iterations").items():
            if rule == "bong":
                values = [float(r["nlpd_plug_in"]) for r in runs]
                axes.axhline(sum(values) / len(values), color=COLOURS[rule], label="bong")
            else:
                curve(axes, runs, "rate", "nlpd_plug_in", color=COLOURS[rule],
                      ls="-" if iterations == "10" else "--", label=f"{rule}, I = {iterations}")
        axes.set(title=f"SARCOS, {curvature}", xscale="log", xlabel="learning rate", ylim=(0, 6))
    panels[0].set_ylabel("test NLPD, plug-in")
    panels[0].legend()
    save(figure, output, "sensitivity")


def cost(folder, output):
    rows = read(folder, "cost")
    families = ["diagonal", "low-rank-10", "full"]
    figure, panels = plt.subplots(1, 3, figsize=(10, 3.4), sharey=True)
    for axes, family in zip(panels, families):
        for (rule, curvature), runs in grouped([r for r in rows if r["family"] == family], "rule", "curvature").items():
            axes.plot([int(r["parameters"]) for r in runs], [float(r["seconds"]) for r in runs], marker="o", ms=3,
                      color=COLOURS[rule], ls="-" if curvature == "lin-hess" else "--", label=f"{rule}, {curvature}")
        axes.set(title=family, xscale="log", yscale="log", xlabel="parameters")
    panels[0].set_ylabel("seconds per observation")
    panels[0].legend(fontsize=7)
    save(figure, output, "cost")


def drift(folder, output):
    shades = {"none": "#cf4a56", "forgetting": "#d9822b", "process_noise": "#2f81d8"}
    rows = [r for r in read(folder, "drift") if r["seed"] != "100" and int(r["n"]) > 50]
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.4))
    for axes, stream in zip(panels, ("regression", "classification")):
        for (method, dynamics), runs in grouped([r for r in rows if r["stream"] == stream], "method", "dynamics").items():
            style = {"lo-fi": {"color": shades.get(dynamics), "label": f"lo-fi, {dynamics.replace('_', ' ')}"},
                     "batch": {"color": "#8a63d2", "ls": "-" if dynamics == "all" else "--",
                               "label": f"batch, {dynamics}"},
                     "truth": {"color": "#7b818a", "ls": ":", "label": "truth"}}.get(method)
            if not style:
                continue
            points = [(int(n), sum(float(r["nlpd"]) for r in group) / len(group))
                      for (n,), group in grouped(runs, "n").items()]
            axes.plot(*zip(*sorted(points)), lw=1.2, **style)
        axes.set(title=stream, xlabel="observations")
    panels[0].set_yscale("log")
    panels[1].set_ylim(0, 1.6)
    panels[0].set_ylabel("one-step-ahead NLPD")
    panels[1].legend(fontsize=7, ncols=2, loc="upper right")
    save(figure, output, "drift")


if __name__ == "__main__":
    for draw in (streams, sensitivity, cost, drift):
        draw(*sys.argv[1:3])
