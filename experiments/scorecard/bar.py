"""What a method must reach by default, and whether it does."""
import csv
import math
import pathlib
import sys
from typing import NamedTuple

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from results import grouped, mean_and_error  # noqa: E402

NOTHING_TO_LEARN = ("noise-50", "noise-100", "noise-200", "noisy-labels")
NOISE_ALLOWANCE = 0.1  # nats below the constant predictor on these sets
LONGER_ALLOWANCE = 0.02  # nats lost by ten times the epochs, in the mean over sets
COVERAGE = (0.90, 0.99)  # of 95 % intervals, in the mean over sets
SMALLEST_COVERAGE = 0.85  # on each set of at least 100 rows
LARGEST_LOSS = -10.0  # gains count no less in means, so that one set does not hide the others


class Case(NamedTuple):
    """One set with a depth and a number of epochs."""

    set: str
    depth: int
    times: int

    def __str__(self):
        changed = [f"{self.depth} layers" if self.depth != 1 else "", f"{self.times} x epochs" if self.times != 1 else ""]
        return " ".join([self.set, *(f"({text})" for text in changed if text)])


class Scorecard:
    """Rows of a results file. ``part``: "fit", of sets that are fitted, or "stream"."""

    def __init__(self, path, part="fit"):
        with open(path, newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["kind"].startswith("stream") == (part == "stream")]
        latest = {(r["method"], r["set"], r["depth"], r["times"], r["seed"]): r for r in rows}  # of runs again, the last
        self.rows = list(latest.values())
        self.methods = list(dict.fromkeys(row["method"] for row in self.rows))
        self.sets = list(dict.fromkeys(row["set"] for row in self.rows))
        self._groups = grouped(self.rows, "method", "set", "depth", "times")

    def cases(self, method):
        """The cases that a method has run on; refusals do not count."""
        return [Case(name, int(depth), int(times)) for (m, name, depth, times), rows in self._groups.items()
                if m == method and any(row["status"] in ("fine", "failed") for row in rows)]

    def group(self, method, case):
        return self._groups.get((method, case.set, str(case.depth), str(case.times)), [])

    def values(self, method, case, column):
        """Values by seed; of failed runs there are none."""
        return {row["seed"]: float(row[column]) for row in self.group(method, case) if row["status"] == "fine" and row[column]}

    def gains(self, method, case):
        """Log density less the constant predictor's, by seed."""
        own, constant = (self.values(method, case, column) for column in ("log_likelihood", "constant"))
        return {seed: value - constant[seed] for seed, value in own.items()}

    def mean(self, method, case, column):
        values = list(self.values(method, case, column).values())
        return sum(values) / len(values) if values else math.nan

    def rows_of(self, case):
        return next(int(row["rows"]) for row in self.rows if row["set"] == case.set and row["rows"])

    def failures(self, method):
        return [row for row in self.rows if row["method"] == method and row["status"] == "failed"]

    def change(self, method, case, base):
        """Mean difference of the gains of two cases over the seeds that both have; nan if there are none."""
        first, second = self.gains(method, case), self.gains(method, base)
        return mean_of(limited(first[seed]) - limited(second[seed]) for seed in first if seed in second)


def limited(gain):
    return max(gain, LARGEST_LOSS)


def mean_of(values):
    values = [value for value in values if math.isfinite(value)]
    return sum(values) / len(values) if values else math.nan


class Verdict:
    """What a method reaches on a scorecard."""

    def __init__(self, card, method, cases=None):
        """``cases``: the ones to judge by, if not all."""
        self.card, self.method = card, method
        self.cases = [case for case in card.cases(method) if cases is None or case in cases]
        self.gain = {case: mean_and_error(list(gains.values())) for case in self.cases if (gains := card.gains(method, case))}
        self.coverage = {case: share for case in self.cases
                         if math.isfinite(share := card.mean(method, case, "coverage95"))}
        # The constant model, to which long training may go, is right where there is nothing to learn.
        self.longer = self._changes(lambda case: case.times > 1 and case.set not in NOTHING_TO_LEARN,
                                    lambda case: case._replace(times=1))
        self.deeper = {depth: self._changes(lambda case, depth=depth: case.depth == depth, lambda case: case._replace(depth=1))
                       for depth in (2, 3)}

    def _changes(self, chosen, base):
        changes = {case: self.card.change(self.method, case, base(case)) for case in self.cases if chosen(case)}
        return {case: change for case, change in changes.items() if math.isfinite(change)}

    def mean_gain(self):
        return mean_of(limited(gain) for gain, _ in self.gain.values())

    def below_constant(self):
        """Cases whose log density is below the constant's by more than its standard error, worst first."""
        def allowed(case, error):
            return max(error if math.isfinite(error) else 0.0, NOISE_ALLOWANCE if case.set in NOTHING_TO_LEARN else 0.0)
        bad = [case for case, (gain, error) in self.gain.items() if not gain >= -allowed(case, error)]
        return sorted(bad, key=lambda case: self.gain[case][0])

    def below_coverage(self):
        """Cases of at least 100 rows whose 95 % intervals hold less than 85 %, worst first."""
        bad = [case for case in self.large_coverage() if self.coverage[case] < SMALLEST_COVERAGE]
        return sorted(bad, key=self.coverage.get)

    def large_coverage(self):
        return [case for case in self.coverage if self.card.rows_of(case) >= 100]

    def mean_coverage(self):
        return mean_of(self.coverage.values())

    def reasons(self):
        """Why a method does not pass, each in a few words; nothing if it passes."""
        found = []
        if failed := self.card.failures(self.method):
            found.append(f"{len(failed)} fits failed")
        if bad := self.below_constant():
            loss = -self.gain[bad[0]][0]
            found.append(f"below the constant in {len(bad)} of {len(self.gain)} cases, by {loss:.3g} on {bad[0]}")
        share = self.mean_coverage()
        if share < COVERAGE[0] or share > COVERAGE[1]:
            found.append(f"95 % intervals hold {100 * share:.1f} %")
        if bad := self.below_coverage():
            share = 100 * self.coverage[bad[0]]
            found.append(f"below 85 % in {len(bad)} of {len(self.large_coverage())} cases, {share:.0f} % on {bad[0]}")
        if (change := mean_of(self.longer.values())) < -LONGER_ALLOWANCE:
            found.append(f"10 x epochs: {change:+.3f}")
        return found
