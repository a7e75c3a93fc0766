#!/usr/bin/python3
"""Tables of the scorecard.

report.py RESULTS.csv                             prints all tables
report.py RESULTS.csv PAGE                        rewrites them in a page, between <!-- table NAME --> and <!-- end -->
report.py RESULTS.csv [PAGE] --before BEFORE.csv  adds the tables that compare two libraries
report.py RESULTS.csv --mark METHODS.def          writes what intervals held into the rows of baselines in src/methods/methods.def,
                                                  and prints which methods this scorecard would mark otherwise
"""
import argparse
import math
import re

from bar import Case, Scorecard, Verdict, mean_of
from results import grouped, mean_and_error, publish, table  # bar.py knows where it is

DEFAULT = "default"


def number(value, digits=3, sign=True):
    if value is None or not math.isfinite(value):
        return "-"
    return f"{value:{'+' if sign else ''}.{digits}f}" if abs(value) < 1000 else f"{value:.1e}"


def percent(value):
    return f"{100 * value:.1f}" if math.isfinite(value) else "-"


def with_error(values, digits=3):
    mean, error = mean_and_error(values)
    return number(mean, digits) + (f" ± {error:.{digits}f}" if math.isfinite(error) and error < 1000 else "")


def worst(values):
    """The smallest value and its case."""
    case = min(values, key=values.get, default=None)
    return "-" if case is None else (values[case], case)


def worst_gain(verdict):
    found = worst({case: gain for case, (gain, _) in verdict.gain.items()})
    return found if found == "-" else f"{number(found[0])} {found[1]}"


def worst_coverage(verdict):
    found = worst({case: verdict.coverage[case] for case in verdict.large_coverage()})
    return found if found == "-" else f"{percent(found[0])} {found[1]}"


def changes(values):
    """Mean change and the worst set's."""
    return f"{number(mean_of(values.values()))} ({number(min(values.values()))})" if values else "-"


def curve(card, method, column):
    return percent(mean_of(card.mean(method, Case(name, 1, 1), column) for name in card.sets))


def relative_seconds(card, method):
    """Seconds of fits over the default's, in the mean of logarithms over cases that both have run."""
    ratios = []
    for case in card.cases(method):
        own, default = card.mean(method, case, "seconds"), card.mean(DEFAULT, case, "seconds")
        if own > 0 and default > 0:
            ratios.append(math.log(own / default))
    return number(math.exp(mean_of(ratios)), 2, False) if ratios else "-"


def methods(card):
    """One line a method: the bar, and what it reaches."""
    lines = []
    for verdict in (Verdict(card, method) for method in card.methods):
        if not verdict.cases:
            continue
        reasons = verdict.reasons()
        lines.append([verdict.method, "no" if reasons else "yes", number(verdict.mean_gain()), worst_gain(verdict),
                      percent(verdict.mean_coverage()), worst_coverage(verdict), changes(verdict.longer),
                      changes(verdict.deeper[2]), changes(verdict.deeper[3]), curve(card, verdict.method, "gap"),
                      curve(card, verdict.method, "far"), relative_seconds(card, verdict.method)])
    return table(["method", "passes", "gain", "worst gain", "95 % hold", "worst 95 %", "10 x epochs", "2 layers", "3 layers",
                  "gap", "far", "seconds"], lines)


def reasons(*cards):
    lines = [[method, "; ".join(said)] for card in cards for method in card.methods
             if card.cases(method) and (said := Verdict(card, method).reasons())]
    return table(["method", "fails the bar by"], lines)


def streams(card):
    lines = [[v.method, "no" if v.reasons() else "yes", number(v.mean_gain()), worst_gain(v), percent(v.mean_coverage()),
              worst_coverage(v), relative_seconds(card, v.method)]
             for v in (Verdict(card, method) for method in card.methods) if v.cases]
    return table(["method", "passes", "gain", "worst gain", "95 % hold", "worst 95 %", "seconds"], lines)


def best_other(card, case):
    """The method with the largest mean gain on a set."""
    means = {m: mean_of(card.gains(m, case).values()) for m in card.methods if m != DEFAULT}
    means = {m: gain for m, gain in means.items() if math.isfinite(gain)}
    best = max(means, key=means.get, default=None)
    return "-" if best is None else f"{best} {number(means[best])}"


def sets(*cards):
    """One line a set for the default."""
    lines = []
    for card in cards:
        for case in card.cases(DEFAULT):
            gains = list(card.gains(DEFAULT, case).values())
            mean = {c: card.mean(DEFAULT, case, c) for c in
                    ("log_likelihood", "coverage50", "coverage90", "coverage95", "accuracy", "ece", "seconds")}
            held = " / ".join(percent(mean[f"coverage{level}"]) for level in (50, 90, 95))
            right = f"{percent(mean['accuracy'])}, {number(mean['ece'], 3, False)}"
            lines.append([case, card.rows_of(case), number(mean["log_likelihood"]), with_error(gains) if gains else "failed",
                          held if math.isfinite(mean["coverage95"]) else right, best_other(card, case),
                          number(mean["seconds"], 2, False)])
    return table(["set", "rows", "log density", "gain", "50 / 90 / 95 % hold, or right and ECE", "largest gain of others",
                  "seconds"], lines)


def notes(*cards):
    """What fits said or why they were refused or failed, and on how many runs."""
    found = grouped([r for card in cards for r in card.rows if r["note"]], "method", "status", "note")
    lines = [[method, status, note.replace("|", "\\|")[:150], len(rows), ", ".join(dict.fromkeys(r["set"] for r in rows))]
             for (method, status, note), rows in sorted(found.items())]
    return table(["method", "status", "said", "runs", "sets"], lines)


def compared_methods(before, after):
    """Each method of both scorecards, over the cases that both have."""
    lines = []
    for method in after.methods:
        both = set(before.cases(method)) & set(after.cases(method))
        if not both:
            continue
        old, new = (Verdict(card, method, both) for card in (before, after))
        pairs = [[number(v.mean_gain()), percent(v.mean_coverage()), worst_coverage(v), changes(v.longer),
                  curve(v.card, method, "gap"), "no" if v.reasons() else "yes"] for v in (old, new)]
        lines.append([method, *(f"{a} → {b}" for a, b in zip(*pairs))])
    return table(["method", "gain", "95 % hold", "worst 95 %", "10 x epochs", "gap", "passes"], lines)


def compared_sets(before, after):
    """The default on each set: difference of log density, paired by seed, and the shares in 95 % intervals."""
    lines = []
    for case in after.cases(DEFAULT):
        old, new = (card.values(DEFAULT, case, "log_likelihood") for card in (before, after))
        if both := [new[seed] - old[seed] for seed in new if seed in old]:
            held = [percent(card.mean(DEFAULT, case, "coverage95")) for card in (before, after)]
            seconds = [number(card.mean(DEFAULT, case, "seconds"), 2, False) for card in (before, after)]
            lines.append([case, with_error(both), " → ".join(held), " → ".join(seconds)])
    return table(["set", "log density, after less before", "95 % hold", "seconds"], lines)


MARK = re.compile(r'^(BDL_METHOD\("([^"]+)",.*, )(advised|baseline\(.*\)),$', re.MULTILINE)


def mark(path, *cards):
    """A row is made a baseline by writing baseline(0, 0) by hand: not every method that fails some case is one."""
    verdicts = {v.method: v for v in (Verdict(card, method) for card in cards for method in card.methods) if v.cases}

    def marked(row):
        verdict, is_baseline = verdicts.get(row[2]), row[3] != "advised"
        if verdict is None or not verdict.large_coverage():
            print(f"{row[2]}: its intervals are not measured")
            return row[0]
        if bool(reasons := verdict.reasons()) != is_baseline:
            print(f"{row[2]}: {'fails' if reasons else 'passes'}, but is marked {row[3]}" + "".join(f"; {r}" for r in reasons))
        held = (verdict.mean_coverage(), min(verdict.coverage[case] for case in verdict.large_coverage()))
        return f"{row[1]}baseline({', '.join(str(round(100 * share)) for share in held)})," if is_baseline else row[0]

    with open(path, encoding="utf-8") as file:
        rows = MARK.sub(marked, file.read())
    with open(path, "w", encoding="utf-8") as file:
        file.write(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results")
    parser.add_argument("page", nargs="?")
    parser.add_argument("--before")
    parser.add_argument("--mark", metavar="METHODS.def")
    given = parser.parse_args()
    fit, stream = (Scorecard(given.results, part) for part in ("fit", "stream"))
    if given.mark:
        mark(given.mark, fit, stream)
        return
    tables = {"methods": methods(fit), "streams": streams(stream), "reasons": reasons(fit, stream),
              "sets": sets(fit, stream), "notes": notes(fit, stream)}
    if given.before:
        old_fit, old_stream = (Scorecard(given.before, part) for part in ("fit", "stream"))
        tables["compared methods"] = compared_methods(old_fit, fit)
        tables["compared streams"] = compared_methods(old_stream, stream)
        tables["compared sets"] = compared_sets(old_fit, fit) + compared_sets(old_stream, stream).split("\n", 2)[2]
    publish(tables, *([given.page] if given.page else []))


if __name__ == "__main__":
    main()
