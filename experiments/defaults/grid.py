"""Do fits diverge? A grid of rates, depths and methods, with the guard and without.

    python3 experiments/defaults/grid.py RESULTS.csv [--datasets yacht,iris] [--epochs 20] [--budget SECONDS]
    python3 experiments/defaults/grid.py RESULTS.csv --report experiments/results/defaults.md

It needs the Python package, scikit-learn and BDL_DATA. Rows that RESULTS has are not computed again.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os
import sys
import time
import warnings
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
warnings.simplefilter("ignore")

import numpy as np

import bdl

sys.path.insert(0, str(Path(__file__).parent))
from datasets import Sets

FIELDS = ["dataset", "method", "learning_rate", "curvature_rate", "depth", "guard", "status", "log_likelihood"]
GUARDS = (0.0, 1.5)
METHODS = ["slang", "slang-ggn"]
LEARNING_RATES, CURVATURE_RATES, DEPTHS = [0.01, 0.03, 0.1, 0.3], [0.0005, 0.005, 0.02, 0.1], [1, 2, 3]


def fit(split, cell, epochs):
    """Status and test log likelihood of one fit; a mean beyond 1,000 has diverged, whatever the status says."""
    dataset, method, learning_rate, curvature_rate, depth, guard = cell
    kind = bdl.BayesianMLPClassifier if split.classifies else bdl.BayesianMLPRegressor
    options = {"learning_rate": learning_rate, "curvature_rate": curvature_rate, "start_share": 0, "guard": guard}
    model = kind(hidden=(50,) * depth, method=method, epochs=epochs, samples=100, options=options)
    try:
        model.fit(split.x, split.y)
        score = float(np.mean(model.log_predictive_density(split.x_test, split.y_test)))
        ran_away = not np.isfinite(score) or np.abs(model.posterior_.mean).max() > 1000
    except bdl.DivergedError:
        return "diverged", float("nan")
    return ("ran away" if ran_away else "fine"), score


def cells(names):
    return itertools.product(names, METHODS, LEARNING_RATES, CURVATURE_RATES, DEPTHS, GUARDS)


def run(path, names, epochs, budget):
    known = {tuple(row[:6]) for row in csv.reader(path.open())} if path.exists() else set()
    start, sets = time.monotonic(), Sets(os.environ.get("BDL_DATA", "../shared/data"))
    with path.open("a", newline="") as file:
        out = csv.writer(file)
        if not known:
            out.writerow(FIELDS)
        for cell in cells(names):
            key = tuple(map(str, cell))
            if key in known:
                continue
            if time.monotonic() - start > budget:
                return
            status, score = fit(sets.split(cell[0], 0), cell, epochs)
            out.writerow([*key, status, f"{score:.6g}"])
            file.flush()


def report(path):
    rows = list(csv.DictReader(path.open()))
    table = {tuple(row[field] for field in FIELDS[:6]): row for row in rows}
    lines = ["| set | method | fits | diverged without the guard | with it | log likelihood: with less without, median and mean ± standard error of the fits that are fine both times |",
             "| --- | --- | --- | --- | --- | --- |"]
    for dataset, method in dict.fromkeys((row["dataset"], row["method"]) for row in rows):
        pairs = [(row, table.get((*key[:5], str(GUARDS[1])))) for key, row in table.items() if key[:2] == (dataset, method) and key[5] == str(GUARDS[0])]
        pairs = [(off, on) for off, on in pairs if on]
        if not pairs:
            continue
        bad = [sum(pair[k]["status"] != "fine" for pair in pairs) for k in (0, 1)]
        gains = [float(on["log_likelihood"]) - float(off["log_likelihood"])
                 for off, on in pairs if off["status"] == on["status"] == "fine"]
        text = f"{np.median(gains):+.3f}, {np.mean(gains):+.3f} ± {np.std(gains) / len(gains) ** 0.5:.3f}" if gains else ""
        lines.append(f"| {dataset} | {method} | {len(pairs)} | {bad[0]} | {bad[1]} | {text} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("results", type=Path)
    parser.add_argument("--datasets", default="yacht,boston,energy,concrete,wine-red,iris,wine,breast-cancer,digits,australian,a1a")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--budget", type=float, default=1e9)
    parser.add_argument("--report", type=Path)
    arguments = parser.parse_args()
    if not arguments.report:
        run(arguments.results, arguments.datasets.split(","), arguments.epochs, arguments.budget)
        return print(report(arguments.results))
    page = arguments.report.read_text()
    head, rest = page.split("<!-- table grid -->\n", 1)
    arguments.report.write_text(head + "<!-- table grid -->\n" + report(arguments.results) + "\n" + rest[rest.index("<!-- end -->"):])


if __name__ == "__main__":
    main()
