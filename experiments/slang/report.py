#!/usr/bin/python3
"""Tables of the SLANG experiments, ours beside the published ones.

report.py RESULTS PUBLISHED          prints all tables
report.py RESULTS PUBLISHED PAGE     rewrites them in a page, between <!-- table NAME --> and <!-- end -->

PUBLISHED is slang_table1/published.csv of the data, or empty.
"""
import csv
import math
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from results import grouped, mean_and_error, publish, read, table  # noqa: E402

NAMES = {"australian_scale": "Australian", "breast_cancer_scale": "Breast cancer", "a1a": "a1a",
         "usps_3vs5": "USPS 3 vs 5"}
METRICS = [("minus_elbo_paper", "negative_elbo_per_example", "-ELBO / N", 4),
           ("test_nll", "test_nll_nats", "test NLL", 4), ("half_symmetric_kl", "kl_to_exact", "KL", None)]
ORDER = ["mf-EF", "mf-Hessian", "mf-exact", "SLANG", "OnlineEig", "SLANG-exact", "SLANG-lin", "ELBO-low-rank", "EF",
         "Hessian", "Laplace", "exact"]
# Table 4 of the paper: data, rank -> -ELBO / N, NLL, KL.
ONLINE_EIG = {("australian_scale", "1"): (0.580, 0.344, 570), ("australian_scale", "2"): (0.578, 0.343, 320),
              ("australian_scale", "5"): (0.652, 0.347, 120), ("breast_cancer_scale", "1"): (0.114, 0.092, 1.544),
              ("breast_cancer_scale", "2"): (0.116, 0.093, 2.128), ("breast_cancer_scale", "5"): (0.123, 0.093, 4.402),
              ("a1a", "1"): (0.380, 0.339, 35.1), ("a1a", "2"): (0.380, 0.339, 29.3), ("a1a", "5"): (0.383, 0.339, 25.3),
              ("usps_3vs5", "1"): (0.210, 0.133, 14.97), ("usps_3vs5", "2"): (0.208, 0.132, 13.53),
              ("usps_3vs5", "5"): (0.210, 0.133, 14.32)}


def shown(values, digits=None):
    """Mean +- standard error."""
    if not values:
        return "-"
    mean, error = mean_and_error(values)
    if digits is None:
        digits = max(0, min(4, 2 - math.floor(math.log10(max(abs(mean), 1e-4)))))
    mean = round(mean, digits) + 0.0  # no minus before 0
    return f"{mean:.{digits}f}" + (f" ± {error:.{digits}f}" if math.isfinite(error) else "")


def by_split(rows, column):
    return {row["split"]: float(row[column]) for row in rows if math.isfinite(float(row[column]))}


def label(method, rank):
    return f"{method}, L = {rank}" if rank != "0" else method


def method_order(key):
    return ORDER.index(key[0]) if key[0] in ORDER else len(ORDER), int(key[1])


def remark(ours, published):
    """The paired difference where it exceeds two standard errors."""
    pairs = [ours[split] - published[split] for split in ours if split in published]
    if len(pairs) < 2:
        return None
    mean, error = mean_and_error(pairs)
    return f"{mean:+.2g} ± {error:.1g}" if abs(mean) > 2 * error else None


def comparison(folder, published):
    """Tables 1, 6 and 7."""
    seconds = {key: mean_and_error([float(r["cpu_seconds"]) for r in rows])[0]
               for key, rows in grouped(read(folder, "train"), "data", "method", "rank").items()}
    text = ""
    for (data,), part in grouped(read(folder, "metrics"), "data").items():
        lines = []
        groups = grouped(part, "method", "rank")
        for key in sorted(groups, key=method_order):
            theirs = [r for r in published if (r["data_set"], r["method"], r["rank"]) == (data, *key)]
            line, remarks = [label(*key), len(groups[key])], []
            for column, other, name, digits in METRICS:
                mine, old = by_split(groups[key], column), by_split(theirs, other)
                line += [shown(list(mine.values()), digits), shown([old[s] for s in old if s in mine], digits)]
                difference = remark(mine, old)
                if difference:
                    remarks.append(f"{name} {difference}")
            lines.append([*line, f"{seconds.get((data, *key), math.nan):.1f}", "; ".join(remarks)])
        head = ["method", "splits", *(f"{name}{whose}" for _, _, name, _ in METRICS for whose in ("", ", published")),
                "CPU s", "differs by more than 2 standard errors"]
        text += f"{NAMES[data]}:\n\n{table(head, lines)}\n"
    return text


def ranks(folder, published):
    """KL of each rank: the published one, ours, the best of ours, and the smallest that there can be."""
    lines, below, half, cells, reachable = [], 0, 0, 0, 0
    rows = [r for r in read(folder, "metrics") if r["rank"] != "0" and r["method"] != "OnlineEig"]
    smallest = {(r["data"], r["rank"]): r for r in read(folder, "bound")}
    methods = sorted({r["method"] for r in rows}, key=lambda m: method_order((m, "0")))
    for (data, rank), part in sorted(grouped(rows, "data", "rank").items(),
                                     key=lambda item: (list(NAMES).index(item[0][0]), int(item[0][1]))):
        old = by_split([r for r in published if (r["data_set"], r["method"], r["rank"]) == (data, "SLANG", rank)],
                       "kl_to_exact")
        ours = {m: by_split([r for r in part if r["method"] == m], "half_symmetric_kl") for m in methods}
        ours = {m: v for m, v in ours.items() if v}
        if not old or not ours:
            continue
        best, values = min(ours.items(), key=lambda item: mean_and_error(list(item[1].values()))[0])
        ratio = sum(values.values()) / sum(old[s] for s in values)
        cells, below, half = cells + 1, below + (ratio < 1), half + (ratio <= 0.5)
        line = [NAMES[data], rank, shown(list(old.values())),
                *(shown(list(ours.get(m, {}).values())) for m in methods), best, f"{round(ratio, 2) + 0.0:.2f}"]
        if (data, rank) in smallest:
            bound = smallest[data, rank]
            least = max(0, float(bound["smallest_kl"]))
            reachable += least <= old[bound["split"]] / 2
            line += [f"{least:.3g}", f"{least / old[bound['split']]:.2f}"]
        lines.append([*line, *["-"] * (len(methods) + 7 - len(line))])
    text = table(["data", "L", "SLANG, published", *methods, "best", "best / published", "smallest possible, split 1",
                  "smallest / published"], lines)
    text += f"\nBelow the published KL: {below} of {cells}. At most half of it: {half} of {cells}"
    return text + (f"; no posterior of that rank could in more than {reachable}.\n" if smallest else ".\n")


def online_eig(folder):
    """Table 4."""
    lines = []
    rows = read(folder, "metrics")
    for (data, rank), part in grouped([r for r in rows if r["method"] == "OnlineEig"], "data", "rank").items():
        slang = [r for r in rows if (r["data"], r["method"], r["rank"]) == (data, "SLANG", rank)]
        line = [NAMES[data], rank, len(part)]
        for (column, _, _, digits), old in zip(METRICS, ONLINE_EIG[data, rank]):
            values = list(by_split(part, column).values())
            line += [shown(values, digits), f"{old:g}", shown(list(by_split(slang, column).values()), digits)]
        lines.append(line)
    head = ["data", "L", "splits", *(f"{name}{whose}" for _, _, name, _ in METRICS
                                     for whose in ("", ", published", ", SLANG"))]
    return table(head, lines)


# Table 5 of the paper: RMSE and log likelihood of SLANG-OnlineEig, tuned.
ONLINE_EIG_UCI = {"bostonHousing": ("3.17 ± 0.17", "-2.61 ± 0.06"), "concrete": ("5.79 ± 0.13", "-3.19 ± 0.02"),
                  "energy": ("0.59 ± 0.01", "-1.05 ± 0.01"), "kin8nm": ("0.08 ± 0.00", "1.13 ± 0.00"),
                  "naval-propulsion-plant": ("0.00 ± 0.00", "5.09 ± 0.08"), "power-plant": ("4.09 ± 0.04", "-2.83 ± 0.01"),
                  "wine-quality-red": ("0.64 ± 0.01", "-0.98 ± 0.01"), "yacht": ("0.72 ± 0.04", "-1.41 ± 0.03")}


def online_eig_uci(folder):
    """Table 5, from the UCI program's own file."""
    lines = []
    for (data,), part in grouped(read(pathlib.Path(folder) / "online-eig", "uci"), "data").items():
        scores = [shown([float(r[column]) for r in part], 4 if data == "naval-propulsion-plant" else 2)
                  for column in ("rmse", "ll_joint")]
        lines.append([data, len(part), scores[0], ONLINE_EIG_UCI[data][0], scores[1], ONLINE_EIG_UCI[data][1]])
    return table(["data", "splits", "RMSE", "published", "log likelihood, joint form", "published"], lines)


def uci(folder):
    """Table 2: what the UCI program concluded."""
    path = pathlib.Path(folder) / "verdict.txt"
    return f"```\n{path.read_text(encoding='ascii').strip()}\n```\n" if path.exists() else ""


# Table 3 of the paper: test error of SLANG in per cent, by rank; Bayes by Backprop had 1.82.
MNIST = {"1": 2.00, "2": 1.95, "4": 1.81, "8": 1.92, "16": 1.77, "32": 1.73}


def mnist(folder):
    """Table 3."""
    lines = []
    for r in read(folder, "mnist"):
        lines.append([r["rank"], r["recipe"], r["epochs"], f"{100 * float(r['error']):.2f} %", f"{MNIST[r['rank']]:.2f} %",
                      f"{float(r['nll']):.4f}", f"{float(r['ece']):.4f}", f"{float(r['auroc']):.3f}", f"{float(r['elbo']):,.0f}",
                      f"{100 * float(r['learned']):.0f} %", f"{float(r['train_seconds']) / 60:.1f} min",
                      f"{float(r['peak_megabytes']):.0f} MB"])
    head = ["L", "recipe", "epochs", "test error", "published (400 epochs)", "test NLL", "ECE", "AUROC", "ELBO", "learned", "CPU time of training",
            "memory"]
    return table(head, lines)


def convergence(folder):
    """Figures 4 and 6 as numbers."""
    text, rows = "", read(folder, "convergence")
    for (model, data), part in grouped(rows, "model", "data").items():
        lines, epochs = [], {}
        for (method, rank), runs in grouped(part, "method", "rank").items():
            epochs[method, rank] = mean_and_error([float(r["epochs_to_1_percent"]) for r in runs])
            lines.append([label(method, rank), len(runs), runs[0]["rate"],
                          shown([float(r["epochs_to_1_percent"]) for r in runs], 1),
                          shown([float(r["final_minus_elbo"]) for r in runs], 4),
                          f"{sum(float(r['cpu_seconds']) for r in runs) / len(runs):.1f}"])
        text += f"{NAMES[data]}, {model}:\n\n"
        text += table(["method", "seeds", "rate", "epochs to 1 %", "-ELBO / N at the end", "CPU s"], lines)
        slower = [label(*key) for key, (mean, _) in epochs.items()
                  if key[0] == "SLANG" and ("mf-EF", "0") in epochs and mean > epochs["mf-EF", "0"][0]]
        text += "\nSLANG slower than mf-EF: " + (", ".join(slower) if slower else "never") + ".\n\n"
    return text


def biases(folder):
    """Table (d) of figure 7."""
    published = {"australian_scale": ("19.94, 0.04", "10.02, 1.26", "13.92, 2.82", "18.49, 6.98", "24.08, 56.93"),
                 "breast_cancer_scale": ("4.21, 0.12", "4.47, 1.17", "4.44, 1.72", "4.41, 1.75", "4.26, 1.54"),
                 "a1a": ("-2.13, 0.01", "-2.04, 0.16", "-2.13, 0.25", "-2.17, 0.37", "-2.11, 1.37"),
                 "usps_3vs5": ("2.28, 0.03", "2.17, 0.67", "2.06, 0.95", "1.98, 1.38", "1.80, 2.09")}
    columns = ["mf-exact-0", "SLANG-1", "SLANG-5", "SLANG-10", "exact-0"]
    lines = []
    for data, old in published.items():
        line = [NAMES[data]]
        for column, theirs in zip(columns, old):
            path = pathlib.Path(folder) / "covariance" / f"{data}-{column}.csv"
            ours = "-"
            if path.exists():
                with open(path, newline="", encoding="ascii") as file:
                    numbers = csv.reader(file)
                    ours = f"{float(next(numbers)[0]):.2f}, {float(next(numbers)[0]):.2f}"
            line.append(f"{ours} ({theirs})")
        lines.append(line)
    return table(["data", "MF exact", "SLANG, L = 1", "SLANG, L = 5", "SLANG, L = 10", "exact"], lines)


def time(folder):
    lines = []
    for name in ("train", "convergence"):
        rows = read(folder, name)
        if rows:
            seconds = sum(float(r["cpu_seconds"]) for r in rows)
            lines.append(["table1" if name == "train" else name, len(rows), f"{seconds / 60:.0f} min"])
    return table(["command", "runs", "processor time"], lines)


if __name__ == "__main__":
    RESULTS, PUBLISHED = sys.argv[1:3]
    OLD = []
    if PUBLISHED:
        with open(PUBLISHED, newline="", encoding="ascii") as FILE:
            OLD = list(csv.DictReader(FILE))
    publish({"table1": comparison(RESULTS, OLD), "ranks": ranks(RESULTS, OLD), "online-eig": online_eig(RESULTS),
             "online-eig-uci": online_eig_uci(RESULTS), "uci": uci(RESULTS), "mnist": mnist(RESULTS),
             "convergence": convergence(RESULTS), "biases": biases(RESULTS), "time": time(RESULTS)}, *sys.argv[3:4])
