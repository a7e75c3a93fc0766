#!/usr/bin/python3
"""Tables of the experiments on streams, and whether the paper's ordering holds.

report.py RESULTS            prints all tables
report.py RESULTS PAGE       rewrites them in a page, between <!-- table NAME --> and <!-- end -->
"""
import math
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from results import by_seed, grouped, mean_and_error, publish, read, table  # noqa: E402

RULES = ["bong", "blr", "bog", "bbb"]
CURVATURES = ["lin-hess", "mc-ef"]
FAMILIES = ["diagonal", "low-rank-10"]
WARM_UP = 100  # observations of the drifting streams that are not judged


def shown(values, digits=2):
    """Mean +- standard error; what diverged says so."""
    if not values:
        return "-"
    if not all(map(math.isfinite, values)):
        lost = sum(not math.isfinite(v) for v in values)
        return "diverged" if lost == len(values) else f"{lost} of {len(values)} diverged"
    mean, error = mean_and_error(values)
    if abs(mean) >= 1e4:
        return f"{mean:.1e}"
    return f"{mean:.{digits}f}" + (f" ± {error:.{digits}f}" if math.isfinite(error) else "")


def values(rows, column):
    return list(by_seed(rows, column).values())


def streams(folder, data):
    rows = [r for r in read(folder, "stream") if r["data"] == data]
    after = sorted({int(r["n"]) for r in rows})
    end = str(after[-1])
    head = ["algorithm", "prior", "rate", "I", *(f"plug-in, {n:,}" for n in after), "linearised", "Monte Carlo",
            "error" if data == "mnist" else "RMSE", "prequential", "ms"]
    lines = []
    groups = grouped(rows, "rule", "curvature", "family")
    for family in FAMILIES:
        for curvature in CURVATURES:
            for rule in RULES:
                runs = groups[rule, curvature, family]
                if not runs:
                    continue
                at = grouped(runs, "n")
                last = at[end,]
                ms = [1000 * float(r["seconds"]) / int(r["n"]) for r in last]
                lines.append([f"{rule} {curvature} {family}", runs[0]["prior"], runs[0]["rate"],
                              runs[0]["iterations"], *(shown(values(at[str(n),], "nlpd_plug_in")) for n in after),
                              shown(values(last, "nlpd_linearized")), shown(values(last, "nlpd_mc")),
                              shown(values(last, "error_plug_in"), 3), shown(values(last, "prequential")),
                              f"{sum(ms) / len(ms):.2f}"])
    return table(head, lines)


def claims():
    """The paper's ordering: name, then (better, worse) triples rule, curvature, family."""
    linear = [((r, "lin-hess", f), (r, "mc-ef", f)) for r in RULES for f in FAMILIES]
    natural = [((n, c, f), (p, c, f)) for n in ("bong", "blr") for p in ("bog", "bbb") for c in CURVATURES
               for f in FAMILIES]
    rank = [((r, c, "low-rank-10"), (r, c, "diagonal")) for r in RULES for c in CURVATURES]
    single = [(("bong", c, f), ("blr", c, f)) for c in CURVATURES for f in FAMILIES]
    return [("lin-hess beats mc-ef", linear), ("natural (bong, blr) beats plain (bog, bbb)", natural),
            ("low-rank beats diagonal", rank), ("bong beats blr", single)]


def difference(better, worse, column):
    """Mean and standard error of the paired difference; diverged runs count as infinitely bad."""
    good, bad = by_seed(better, column), by_seed(worse, column)
    pairs = [(good[s], bad[s]) for s in good if s in bad]
    lost = [not math.isfinite(g) for g, _ in pairs], [not math.isfinite(b) for _, b in pairs]
    if any(lost[0]) or any(lost[1]):
        return math.copysign(math.inf, sum(lost[0]) - sum(lost[1])), 0
    return mean_and_error([g - b for g, b in pairs])


def ordering(folder):
    lines, exceptions = [], []
    for (data,), rows in grouped(read(folder, "stream"), "data").items():
        for n in sorted({int(r["n"]) for r in rows}):
            groups = grouped([r for r in rows if r["n"] == str(n)], "rule", "curvature", "family")
            for claim, pairs in claims():
                line = [data, f"{n:,}", claim]
                for column in ("nlpd_plug_in", "nlpd_linearized"):
                    found = [(p, *difference(groups[p[0]], groups[p[1]], column)) for p in pairs
                             if groups[p[0]] and groups[p[1]]]
                    clear = sum(d < -2 * e for _, d, e in found)  # never with one seed, whose e is nan
                    against = sum(d > 2 * e for _, d, e in found)
                    line.append(f"{sum(d < 0 for _, d, _ in found)} of {len(found)} ({clear}, {against})")
                    if column == "nlpd_plug_in" and n == max(int(r["n"]) for r in rows):
                        exceptions += [(data, claim, *f) for f in found if f[1] > 0]
                lines.append(line)
    text = table(["data", "after", "claim", "plug-in: holds (clearly, clearly not)", "linearised"], lines)
    text += "\nWhere it does not hold at the end of the stream (plug-in, difference in nats):\n\n"
    for data, claim, (good, bad), d, e in exceptions:
        gap = "it diverged" if math.isinf(d) else f"+{d:.3f}" + (f" ± {e:.3f}" if math.isfinite(e) else ", one seed")
        text += f"- {data}, {claim}: {' '.join(good)} against {' '.join(bad)}: {gap}\n"
    return text if exceptions else text + "- nowhere\n"


def sensitivity(folder):
    text = ""
    for (rule,), rows in grouped(read(folder, "sensitivity"), "rule").items():
        rates = sorted({r["rate"] for r in rows}, key=float)
        lines = [[f"{rule} {curvature}, I = {iterations}",
                  *(shown(values([r for r in group if r["rate"] == rate], "nlpd_plug_in")) for rate in rates)]
                 for (curvature, iterations), group in grouped(rows, "curvature", "iterations").items()]
        text += table(["plug-in NLPD at rate", *rates], sorted(lines)) + "\n"
    return text


def cost(folder):
    rows = read(folder, "cost")
    sizes = sorted({int(r["parameters"]) for r in rows})
    lines = []
    for (family, curvature, rule), group in grouped(rows, "family", "curvature", "rule").items():
        times = {int(r["parameters"]): 1e6 * float(r["seconds"]) for r in group}
        lines.append([f"{rule} {curvature} {family}", *(f"{times[s]:.3g}" if s in times else "-" for s in sizes)])
    return table(["microseconds per observation, D =", *(f"{s:,}" for s in sizes)], lines)


def drift(folder):
    rows = [r for r in read(folder, "drift") if int(r["n"]) > WARM_UP and r["seed"] != "100"]
    text = ""
    for (stream,), part in grouped(rows, "stream").items():
        groups, seeds = grouped(part, "method", "dynamics"), {}
        for key, group in groups.items():
            seeds[key] = {s: (sum(float(r["nlpd"]) for r in g) / len(g), sum(float(r["error"]) for r in g) / len(g))
                          for (s,), g in grouped(group, "seed").items()}
        lines = []
        for (method, dynamics), runs in seeds.items():
            errors = [math.sqrt(e) if stream == "regression" else e for _, e in runs.values()]
            static = seeds.get((method, "none"), {})
            gain = [static[s][0] - n for s, (n, _) in runs.items() if s in static]
            amount = groups[method, dynamics][0]["amount"]
            lines.append([method, dynamics + (f" {amount}" if amount != "0" else ""),
                          shown([n for n, _ in runs.values()], 3), shown(errors, 3),
                          shown(gain, 3) if dynamics in ("process_noise", "forgetting") else ""])
        error = "RMSE" if stream == "regression" else "error"
        text += f"{stream}:\n\n" + table(["method", "dynamics", "NLPD", error, "nats gained by dynamics"], lines)
        text += "\n"
    return text


if __name__ == "__main__":
    RESULTS = sys.argv[1]
    publish({"mnist": streams(RESULTS, "mnist"), "sarcos": streams(RESULTS, "sarcos"), "ordering": ordering(RESULTS),
             "sensitivity": sensitivity(RESULTS), "cost": cost(RESULTS), "drift": drift(RESULTS)}, *sys.argv[2:3])
