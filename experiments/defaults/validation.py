"""What the defaults of classifiers are worth: the same fits with one option changed, scored on a fifth of the training rows.

    python3 experiments/defaults/validation.py RESULTS.csv [--datasets iris,wine] [--folds 3] [--epochs 120]
    python3 experiments/defaults/validation.py RESULTS.csv --report experiments/results/defaults.md

It needs the Python package, scikit-learn and BDL_DATA. Rows that RESULTS has are not computed again. No test row is used.
"""

from __future__ import annotations

import argparse
import csv
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
from datasets import Sets, random_fifth

FIELDS = ["dataset", "setting", "fold", "log_likelihood", "seconds"]
SETTINGS = {
    "default": {},
    "guard = 0": {"guard": 0},
    "guard = 1": {"guard": 1},
    "start_share = 0.0025": {"start_share": 0.0025},
    "minibatches = 200": {"minibatches": 200},
    "learn_prior = 1": {"learn_prior": 1},
    "learning_rate = 0.02": {"learning_rate": 0.02},
}


def fit(x, y, fold, options, epochs):
    """Mean log likelihood of the rows held out, and CPU seconds."""
    held = random_fifth(y, 1000 + fold)
    kept = np.setdiff1d(np.arange(len(y)), held)
    model = bdl.BayesianMLPClassifier(epochs=epochs, options=options)
    start = time.process_time()
    model.fit(x[kept], y[kept])
    seconds = time.process_time() - start
    return float(np.mean(model.log_predictive_density(x[held], y[held]))), seconds


def run(path, names, folds, epochs):
    known = {tuple(row[:3]) for row in csv.reader(path.open())} if path.exists() else set()
    sets = Sets(os.environ.get("BDL_DATA", "../shared/data"))
    with path.open("a", newline="") as file:
        out = csv.writer(file)
        if not known:
            out.writerow(FIELDS)
        for name in names:
            split = sets.split(name, 0)
            for setting, options in SETTINGS.items():
                for fold in range(folds):
                    if (name, setting, str(fold)) not in known:
                        score, seconds = fit(split.x, split.y, fold, options, epochs)
                        out.writerow([name, setting, fold, f"{score:.6g}", f"{seconds:.3g}"])
                        file.flush()


def report(path):
    """Differences from the default, paired by fold, and the time in units of the default's."""
    rows = {}
    for row in csv.DictReader(path.open()):
        rows.setdefault((row["setting"], row["dataset"]), []).append((float(row["log_likelihood"]), float(row["seconds"])))
    names = list(dict.fromkeys(name for _, name in rows))
    lines = ["| option | " + " | ".join(names) + " | CPU time |", "| --- |" + " --- |" * (len(names) + 1)]
    scores = {key: np.array(values) for key, values in rows.items()}
    cells = [f"{scores['default', name][:, 0].mean():.3f}" for name in names]
    lines.append("| default: log likelihood | " + " | ".join(cells) + " | 1 |")
    for setting in list(SETTINGS)[1:]:
        cells, times = [], []
        for name in names:
            change = scores[setting, name] - scores["default", name]
            error = change[:, 0].std(ddof=1) / len(change) ** 0.5 if len(change) > 1 else 0
            cells.append(f"{change[:, 0].mean():+.3f} ± {error:.3f}")
            times.append(scores[setting, name][:, 1].sum() / scores["default", name][:, 1].sum())
        lines.append(f"| {setting} | " + " | ".join(cells) + f" | {np.exp(np.mean(np.log(times))):.1f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("results", type=Path)
    parser.add_argument("--datasets", default="iris,wine,breast-cancer,australian,a1a,digits,usps")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=120)
    parser.add_argument("--report", type=Path)
    arguments = parser.parse_args()
    if not arguments.report:
        run(arguments.results, arguments.datasets.split(","), arguments.folds, arguments.epochs)
        return print(report(arguments.results))
    page = arguments.report.read_text()
    mark = "<!-- table validation -->\n"
    head, rest = page.split(mark, 1)
    arguments.report.write_text(head + mark + report(arguments.results) + "\n" + rest[rest.index("<!-- end -->"):])


if __name__ == "__main__":
    main()
