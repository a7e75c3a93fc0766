#!/usr/bin/python3
"""Tables of the defaults, from the CSV file that main.py fills.

report.py RESULTS.csv            prints all tables
report.py RESULTS.csv PAGE       rewrites them in a page, between <!-- table NAME --> and <!-- end -->
"""
import csv
import math
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from results import grouped, mean_and_error, publish, table  # noqa: E402

OURS = "bdl"
LINEAR = ("bdl-glm", "sklearn-linear")
NEURAL = (OURS, "bdl-map", "bdl-bbb", "sklearn-mlp", "ivon", "laplace-torch")
METHODS = (*NEURAL, *LINEAR, "sklearn-gp", "sklearn-boosting")


class Results:
    """Scores by set, method and split; a failed run has none."""

    def __init__(self, path):
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.rows = {(r["set"], r["method"], r["split"]): r for r in rows}.values()  # of runs again, the last
        self.sets = list(dict.fromkeys(r["set"] for r in self.rows))
        self.methods = [m for m in METHODS if any(r["method"] == m for r in self.rows)]
        self._groups = grouped(self.rows, "set", "method")

    def values(self, name, method, column):
        return {r["split"]: float(r[column]) for r in self._groups.get((name, method), []) if r[column]}

    def failures(self, name, method):
        return sum(r["note"].startswith("failed") for r in self._groups.get((name, method), []))

    def sets_with(self, column):
        return [name for name in self.sets if any(self.values(name, m, column) for m in self.methods)]

    def difference(self, name, method, other, column="log_likelihood"):
        """Mean and standard error over the splits that both have."""
        first, second = self.values(name, method, column), self.values(name, other, column)
        pairs = [first[split] - second[split] for split in first if split in second]
        return mean_and_error(pairs) if pairs else None


def shown(found, digits):
    if found is None:
        return "-"
    mean, error = found
    return f"{mean:.{digits}f}" + (f" ± {error:.{digits}f}" if math.isfinite(error) else "")


def cell(results, name, method, column, digits):
    values = list(results.values(name, method, column).values())
    failed = results.failures(name, method)
    return " ".join([shown(mean_and_error(values) if values else None, digits), f"({failed} failed)" if failed else ""])


def means(column, sets_by, digits):
    def make(results):
        lines = [[name, *(cell(results, name, m, column, digits(results, name)).strip() for m in results.methods)]
                 for name in results.sets_with(sets_by)]
        return table(["set", *results.methods], lines)
    return make


def fixed(digits):
    return lambda results, name: digits


def leading(column):
    """Digits after the point, so that three say something: of RMSE, whose units differ."""
    def digits(results, name):
        values = [v for m in results.methods for v in results.values(name, m, column).values()]
        return max(0, 2 - math.floor(math.log10(min(values)))) if values and min(values) > 0 else 3
    return digits


def coverage(results):
    """Shares, in percent, of test targets within the 50, 90 and 95 % intervals."""
    def shares(name, method):
        parts = [results.values(name, method, f"coverage{level}").values() for level in (50, 90, 95)]
        return " / ".join(f"{100 * sum(p) / len(p):.0f}" for p in parts) if all(parts) else "-"
    lines = [[name, *(shares(name, m) for m in results.methods)] for name in results.sets_with("rmse")]
    return table(["set", *results.methods], lines)


def differences(results):
    others = [m for m in results.methods if m != OURS]
    lines = [[name, *(shown(results.difference(name, OURS, m), 3) for m in others)]
             for name in results.sets_with("log_likelihood")]
    return table([f"{OURS} minus", *others], lines)


def verdict(found):
    """Of a difference to the best rival."""
    mean, error = found
    if mean >= 0:
        return f"best (+{mean:.3f})"
    within = math.isfinite(error) and -mean <= error
    return f"{'within one error' if within else 'behind'} ({shown(found, 3)})"


def against(results, name, rivals):
    """Whether ours is the best, or how far behind the best rival in log likelihood, and who that is."""
    found = [(results.difference(name, OURS, m), m) for m in rivals if m != OURS]
    found = [f for f in found if f[0]]
    if not found or results.failures(name, OURS):
        return "failed" if found else "-"
    worst, rival = min(found, key=lambda f: f[0][0])
    return f"{verdict(worst)}, {rival}"


def wide_interval(results, name):
    shares = results.values(name, OURS, "coverage95").values()
    if not shares:
        return ""
    percent = 100 * sum(shares) / len(shares)
    return f"{percent:.1f} %" + ("" if 92 <= percent <= 98 else " (outside 92 to 98)")


def cost(results, name):
    """Mean processor seconds of training, times those of scikit-learn's network."""
    ours, theirs = (results.values(name, m, "fit_seconds") for m in (OURS, "sklearn-mlp"))
    both = [split for split in ours if split in theirs]
    return f"{sum(ours[s] for s in both) / sum(theirs[s] for s in both):.1f}" if both else "-"


def aims(results):
    lines = [[name, len(results.values(name, OURS, "log_likelihood")), against(results, name, NEURAL),
              against(results, name, LINEAR), wide_interval(results, name), cost(results, name)]
             for name in results.sets]
    return table(["set", "runs", "against neural methods", "against linear models", "in 95 % intervals",
                  "times sklearn-mlp's CPU"], lines)


def notes(results):
    """What fits said, and on how many runs."""
    found = grouped([r for r in results.rows if r["note"]], "method", "note")
    lines = [[method, note.replace("|", "\\|"), len(rows), ", ".join(dict.fromkeys(r["set"] for r in rows))]
             for (method, note), rows in sorted(found.items())]
    return table(["method", "said", "runs", "sets"], lines)


TABLES = {"aims": aims, "differences": differences,
          "regression-log-likelihood": means("log_likelihood", "rmse", fixed(3)),
          "rmse": means("rmse", "rmse", leading("rmse")), "coverage": coverage,
          "classification-log-likelihood": means("log_likelihood", "accuracy", fixed(3)),
          "accuracy": means("accuracy", "accuracy", fixed(3)), "ece": means("ece", "accuracy", fixed(3)),
          "seconds": means("fit_seconds", "log_likelihood", fixed(2)),
          "prediction-seconds": means("predict_seconds", "log_likelihood", fixed(3)), "notes": notes}

if __name__ == "__main__":
    RESULTS = Results(sys.argv[1])
    publish({name: make(RESULTS) for name, make in TABLES.items()}, *sys.argv[2:3])
