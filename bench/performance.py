#!/usr/bin/python3
"""Runs bdl_bench and writes experiments/results/performance.md and experiments/results/scaling.svg.

bench/performance.py [--bench PROGRAM] [--output DIR] [--quick]
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

import svg

ROOT = pathlib.Path(__file__).resolve().parent.parent
STAGES = ["sample", "forward", "backward", "gram", "project", "eig", "combine", "sums", "solve", "guard", "rest"]


class Runs:
    """The records of all commands."""

    def __init__(self, program, quick):
        self.program, self.quick = program, quick
        self.commands, self.records = [], []
        self.run("--profile")
        self.threads = self.all("predict")[0]["threads"]
        if self.threads > 1:
            self.run("sample solve predict gemm stream --threads 1")
        self.run("scaling endurance")

    def run(self, arguments):
        self.commands.append(f"{self.program} {arguments}" + (" --quick" if self.quick else ""))
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            subprocess.run([*self.commands[-1].split(), "--json", file.name], check=True, cwd=ROOT)
            result = json.load(file)
        self.machine = result["machine"]
        self.records += result["records"]

    def all(self, case, profile=False, **values):
        return [r for r in self.records if r["case"] == case and ("profile" in r) == profile
                and all(r.get(key) == value for key, value in values.items())]

    def large(self, threads, profile=False):
        """The classification network at its three ranks."""
        return [r for r in self.all("slang", profile, threads=threads) if r["shape"].startswith("784")]

    def tiny(self, shape):
        return self.all("slang", shape=shape)


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def figures(values, form="{:.2f}"):
    return " / ".join(form.format(v) for v in values)


def at_most(limits, values):
    return all(v <= limit for v, limit in zip(values, limits))


def targets(runs):
    """Rows: what, target, measured, whether met. Medians."""
    rows, threads = [], runs.threads

    def add(what, target, measured, met):
        rows.append([what, target, measured, "met" if met else "**missed**"])

    large = runs.large(threads)
    name = f"{large[0]['shape']}, M={large[0]['M']}, S={large[0]['S']}, f32, L={figures([r['L'] for r in large], '{}')}"
    ratios, peaks = [r["time_over_bound"] for r in large], [r["peak_mb"] for r in large]
    add(f"{name}: time over bound", "<= 1.8 / 1.6 / 1.5", figures(ratios), at_most([1.8, 1.6, 1.5], ratios))
    add("the same: peak resident memory", "<= 80 / 130 / 320 MB", figures(peaks, "{:.0f}") + " MB",
        at_most([80, 130, 320], peaks))
    for shape, what, limit in [("13-50-1", "13-50-1, M=10, S=4, L=1, one thread", 30),
                               ("256-1", "logistic regression, D=257, M=64, S=12, L=10, one thread", 150)]:
        for r in runs.tiny(shape):
            microseconds = 1e3 * r["ms_median"]
            add(f"{what}, {r['dtype']}", f"<= {limit} us a step", f"{microseconds:.1f} us", microseconds <= limit)
    for case, what in [("sample", "sampling"), ("solve", "solving")]:
        lines = runs.all(case, threads=threads)
        for number in sorted({vectors(r) for r in lines}):
            both = [r for r in lines if vectors(r) == number]
            fractions = [r["bandwidth_fraction"] for r in both]
            add(f"{what}, D={svg.number(both[0]['D'])}, L=10, {number} at once, {figures([r['dtype'] for r in both], '{}')}",
                ">= 70 % of triad", figures([100 * f for f in fractions], "{:.0f}") + " %", min(fractions) >= 0.7)
    speedups = [r["speedup"] for r in runs.all("threads")]
    if speedups:
        add(f"{threads} threads against one, {large[0]['shape']}, L=1 / 8 / 32", ">= 1.7 x", figures(speedups) + " x",
            min(speedups) >= 1.7)
    most = max(runs.all("scaling", sweep="D"), key=lambda r: r["D"])
    add(f"D={svg.number(most['D'])}, L=10, caller's rows, n=32: peak resident memory", "< 3 GB",
        f"{most['peak_mb'] / 1024:.2f} GB", most["peak_mb"] < 3 * 1024)
    predict = runs.all("predict", threads=threads)[0]
    add(f"predictions, {predict['shape']}, {predict['examples']} examples x {predict['S']} samples",
        ">= 60 % of sgemm peak", f"{100 * predict['peak_fraction']:.0f} %", predict["peak_fraction"] >= 0.6)
    return table(["case", "target", "measured", ""], rows)


def vectors(record):
    return record.get("S", record.get("vectors"))


def steps(runs):
    rows = []
    for count in dict.fromkeys([runs.threads, 1]):
        for r in runs.large(count):
            rows.append(step_row(r))
    for shape in ["13-50-1", "256-1"]:
        rows += [step_row(r) for r in runs.tiny(shape)]
    return table(["shape", "M", "S", "L", "dtype", "threads", "ms: median", "min", "max", "bound", "time over bound",
                  "GFLOP/s", "of gemm peak", "of triad", "peak MB"], rows)


def step_row(r):
    return [r["shape"], r["M"], r["S"], r["L"], r["dtype"], r["threads"], f"{r['ms_median']:.4g}",
            f"{r['ms_min']:.4g}", f"{r['ms_max']:.4g}", f"{r['bound_ms']:.3g}", f"{r['time_over_bound']:.2f}",
            f"{r['gflops']:.3g}", f"{100 * r['peak_fraction']:.0f} %", f"{100 * r['bandwidth_fraction']:.0f} %",
            f"{r['peak_mb']:.0f}"]


def profiles(runs):
    rows = []
    for count in dict.fromkeys([runs.threads, 1]):
        for r in runs.large(count, profile=True):
            rows.append([f"{r['shape']}, L={r['L']}, {count} threads" if count > 1 else
                         f"{r['shape']}, L={r['L']}, one thread", f"{r['ms']:.1f}",
                         *(f"{r[s + '_ms']:.2f} ({r[s + '_percent']:.0f} %)" for s in STAGES)])
    return table(["", "ms", *STAGES], rows)


def tiny_profiles(runs):
    rows = []
    for shape in ["13-50-1", "256-1"]:
        for r in runs.all("slang", profile=True, shape=shape):
            rows.append([f"{shape}, {r['dtype']}", f"{1e3 * r['ms']:.1f}",
                         *(f"{1e3 * r[s + '_ms']:.1f} ({r[s + '_percent']:.0f} %)" for s in STAGES)])
    return table(["", "us", *STAGES], rows)


def posterior(runs):
    rows = []
    for case in ["sample", "solve"]:
        for r in runs.all(case):
            rows.append([case, svg.number(r["D"]), r["L"], vectors(r), r["dtype"], r["threads"], f"{r['ms_median']:.3g}",
                         f"{r['ms_min']:.3g}", f"{r['gbytes'] / r['ms_median'] * 1e3:.1f}", f"{r['triad_gbs']:.1f}",
                         f"{100 * r['bandwidth_fraction']:.0f} %", f"{r['time_over_bound']:.2f}"])
    return table(["", "D", "L", "at once", "dtype", "threads", "ms: median", "min", "GB/s", "triad GB/s", "of triad",
                  "time over bound"], rows)


def predictions(runs):
    return table(["shape", "examples", "samples", "threads", "s: median", "GFLOP/s", "sgemm peak", "of peak", "peak MB"],
                 [[r["shape"], r["examples"], r["S"], r["threads"], f"{r['ms_median'] / 1e3:.3g}", f"{r['gflops']:.0f}",
                   f"{r['sgemm_peak']:.0f}", f"{100 * r['peak_fraction']:.0f} %", f"{r['peak_mb']:.0f}"]
                  for r in runs.all("predict")])


def single_predictions(runs):
    return table(["shape", "activation", "samples", "by a predictor, us", "by bdl_predict(), us", "ratio"],
                 [[r["shape"], r["activation"], r["S"], f"{r['us_predictor']:.3g}", f"{r['us_predict']:.3g}",
                   f"{r['ratio']:.1f}"] for r in runs.all("predictor")[:2]])


def streams(runs):
    return table(["dtype", "C", "rank", "D", "us an observation", "ns a parameter", "with score, us", "factor MB",
                  "time over reading the factor", "over reading and writing it", "peak MB"],
                 [[r["dtype"], r["C"], r["L"] or "diagonal", svg.number(r["parameters"]), f"{r['us_per_observation']:.4g}",
                   f"{r['ns_per_parameter']:.3g}", f"{r['us_with_score']:.4g}", f"{r['factor_mb']:.3g}",
                   f"{r['time_over_read']:.1f}", f"{r['time_over_read_and_write']:.1f}", f"{r['peak_mb']:.0f}"]
                  for r in runs.all("online")])


def endurance(runs):
    return table(["dtype", "observations", "us an observation", "mean log density", "peak MB", "d: least", "most",
                  "log det Sigma", "its error"],
                 [[r["dtype"], svg.number(r["observations"]), f"{r['us_per_observation']:.4g}", f"{r['log_density']:.3f}",
                   f"{r['peak_mb']:.1f}", f"{r['least_d']:.4g}", f"{r['most_d']:.4g}", f"{r['log_det']:.1f}",
                   f"{r['log_det_error']:.1e}"] for r in runs.all("endurance")])


def noise(runs):
    def figure(r, key):
        return f"{r[key]:.2f}" if key in r else ""

    return table(["network", "M", "method", "K", "estimator", "ms a step", "over map", "target", "over K = 1", "if linear",
                  "optimizer MB", "at 2 M", "growth over M D"],
                 [[r["network"], r["M"], r["method"], r["K"], r.get("estimator", "shared" if r["method"] == "low-rank-vi" else "local"), f"{r['ms']:.3g}", figure(r, "over_map"),
                   figure(r, "target"), figure(r, "over_rank_1"), figure(r, "linear"), f"{r['memory_mb']:.1f}",
                   f"{r['memory_mb_2M']:.1f}", f"{r['growth_over_MD']:.3f}"] for r in runs.all("noise")])


def conv_layers(runs):
    def share(r, key):
        return f"{r[key + '_gflops']:.0f} ({100 * r[key + '_of_peak']:.0f} %)" if key + "_gflops" in r else ""

    return table(["layer", "M", "forward", "backward", "weights", "nominal: forward", "weights", "sums and squares over sums"],
                 [[f"{r['C']} -> {r['O']}, {r['k']} x {r['k']}" + (f" / {r['s']}" if r["s"] > 1 else "") + f", at {r['H']}",
                   r["M"], share(r, "forward"), share(r, "backward"), share(r, "weights"), f"{r['forward_nominal']:.0f}",
                   f"{r['weights_nominal']:.0f}", f"{r['with_squares']:.2f}"]
                  for r in runs.all("conv", threads=1) if "network" not in r])


def conv_steps(runs):
    """A step on one thread beside that of map, and on all threads."""
    rows = []
    steps = [r for r in runs.all("conv") if "network" in r]
    for r in steps:
        if r["threads"] > 1:
            continue
        same = [other for other in steps if all(other.get(key) == r.get(key) for key in CONV_STEP)]
        plain = next(p for p in steps if p["threads"] == 1 and p["network"] == r["network"] and p["method"] == "map")
        all_threads = [other for other in same if other["threads"] > 1]
        name = "map" if r["method"] == "map" else "slang" + ("" if r.get("guard", 1) else ", no guard")
        rows.append([r["network"], r["M"], name, r["S"], r["L"], f"{r['ms']:.3g}", f"{r['ms'] / plain['ms']:.2f}",
                     f"{r['ms'] / all_threads[0]['ms']:.2f}" if all_threads else "", f"{r['peak_mb']:.0f}"])
    return table(["network", "M", "method", "S", "L", "ms a step", "over map", "one thread over all", "peak MB"], rows)


CONV_STEP = ["network", "method", "M", "S", "L", "guard"]


def deep(runs):
    """Steps beside those of map; then Laplace's approximation, which has no steps."""
    steps = [[r["network"], r["M"], r["method"] + (f", {r['fisher']} factors every {r['refresh']} steps" if "refresh" in r else ""),
              f"{r['ms']:.3g}", f"{r['ms_map']:.3g}", f"{r['over_map']:.2f}", r.get("target", "")]
             for r in runs.all("vogn") if "over_map" in r]
    ends = [[r["network"], r["M"], f"{r['ms']:.3g}", f"{r['ms_predict']:.3g}"] for r in runs.all("vogn", method="laplace")]
    return (table(["network", "M", "method", "ms a step", "of map", "over map", "target"], steps) + "\n"
            + table(["network", "images", "Kronecker factors by `laplace`, ms", "linearised predictions of 100, ms"], ends))


def limits(runs):
    rows = []
    for count in sorted({r["threads"] for r in runs.all("gemm")}):
        by = {(r["case"], r["dtype"]): r for r in runs.all("gemm", threads=count) + runs.all("stream", threads=count)}
        rows.append([count] + [f"{by['gemm', t][key]:.0f}" for key in ("gflops", "gflops_100")
                               for t in ("f32", "f64")]
                    + [f"{by['stream', t]['gbs']:.1f}" for t in ("f32", "f64")])
    return table(["threads", "sgemm GFLOP/s", "dgemm", "sgemm, size 100", "dgemm", "triad GB/s, float", "triad GB/s, double"], rows)


def scaling(runs):
    by_d, by_n, by_l = (runs.all("scaling", sweep=s) for s in ("D", "n", "L"))
    return "\n".join([
        "Against D: caller's rows, L=10, n=32, f32.\n",
        table(["D", "ms a step", "ns a parameter", "peak MB", "bytes for each of D L"],
              [[svg.number(r["D"]), f"{r['ms_median']:.4g}", f"{r['ns_per_parameter']:.4g}", f"{r['peak_mb']:.0f}",
                f"{r['bytes_per_DL']:.4g}"] for r in by_d]),
        f"Against n = M S: {by_n[0]['shape']}, L={by_n[0]['L']}, S={by_n[0]['S']}, f32.\n",
        table(["n", "ms a step", "us a row", "time over bound", "peak MB"],
              [[r["n"], f"{r['ms_median']:.4g}", f"{1e3 * r['ms_median'] / r['n']:.4g}", f"{r['time_over_bound']:.2f}",
                f"{r['peak_mb']:.0f}"] for r in by_n]),
        f"Against L: {by_l[0]['shape']}, M={by_l[0]['M']}, S={by_l[0]['S']}, f32.\n",
        table(["L", "ms a step", "ms a column of U", "time over bound", "peak MB"],
              [[r["L"], f"{r['ms_median']:.4g}", f"{r['ms_median'] / r['L']:.4g}", f"{r['time_over_bound']:.2f}",
                f"{r['peak_mb']:.0f}"] for r in by_l]),
    ])


def plot(runs):
    def panel(sweep, title, guide):
        lines = runs.all("scaling", sweep=sweep)
        points = [(r[sweep], r["ms_median"]) for r in lines]
        return [title.format(**lines[0]), sweep, "ms a step", points, guide]

    return svg.figure([panel("D", "parameters D (L={L}, n={n})", (1, "dashed: linear")),
                       panel("n", "rows n = M S ({shape}, L={L})", (1, "dashed: linear")),
                       panel("L", "rank L ({shape}, n={n})", (2, "dashed: quadratic"))])


CONVOLUTIONS = """## Convolutions

Layers of LeNet-5, AlexNet and ResNet-18 (7 x 7 and 3 x 3 first layer), float, one thread: GFLOP/s on the products that lie within
the image, and as a share of the rate of sgemm in the same run; "nominal" counts the padding too, which is skipped.
Targets: 80 % of sgemm, 70 % for LeNet-5, maps of one position and stride 2; sums and squares of one layer over its sums is what VOGN's curvature costs.
"""

CONVOLUTION_STEPS = """Steps of whole networks, the least of some turns. `slang` of rank 0 without guard is a step with squares of the examples'
gradients: the targets are 1.4 / 1.7 / 1.6 / 1.25 times `map` for LeNet-5, AlexNet and ResNet-18 with a first layer of 7 x 7 and of 3 x 3; two threads
1.7 times as fast as one; peak memory with 4 samples 40 / 250 / 700 / 900 MB. `build/release/bench/bdl_bench conv` prints the same, `bench/peers.py` compares
with PyTorch.
"""

NOISE = """## Noisy layers

Steps of ELRG-VI and its baselines, one draw, float, one thread, by turns with steps of `map` in the same run; the least of
twelve turns. A step of `elrg` makes K + 1 products where `map` makes one: the target is 1.15 (K + 1). "Growth over M D" is
what an optimizer holds more at a minibatch of 2 M, as a part of M D numbers: nothing grows with M D. `build/release/bench/bdl_bench
noise` prints the same, `bench/elrg_peer.py` compares with PyTorch.
"""


def page(runs):
    machine = runs.machine
    core_type = machine["openblas_coretype"]
    commands = "\n".join("    " + command for command in runs.commands)
    return f"""# Performance

Written by `bench/performance.py{' --quick' if runs.quick else ''}` on {machine['date']}, which ran

{commands}

on {machine['processors']} processors {machine['processor']}; {machine['build']}\
{f', OPENBLAS_CORETYPE={core_type}' if core_type else ''}.

Every measurement runs in a process of its own; times are medians after a warm-up. The bound is
max(flops / gemm peak, bytes / triad bandwidth), flops and bytes counted by the formulas of
[bench/work.cpp](../../bench/work.cpp), both limits measured in the same run on the same number of threads. The gemm
peak is that of BLAS as it answered (OPENBLAS_CORETYPE can halve it). The eigenproblem is not counted in any bound.

## Targets

{targets(runs)}
## Training steps

{steps(runs)}
Where a step's time goes, in ms and percent:

{profiles(runs)}
The same for tiny models on one thread, in microseconds:

{tiny_profiles(runs)}
## Sampling and solving

{posterior(runs)}
## Predictions

{predictions(runs)}
Of one row, double precision, one thread:

{single_predictions(runs)}
## Streams

One observation after the other through a network with 100 inputs and one hidden layer: `bong` with `lin-hess`, low rank
(LO-FI) or diagonal, without and with the linearised one-step-ahead score.

{streams(runs)}
A long stream through `lo-fi`, a line for each tenth; the error of log det Sigma is that against a posterior set anew to
the same U and d:

{endurance(runs)}
{CONVOLUTIONS}
{conv_layers(runs)}
{CONVOLUTION_STEPS}
{conv_steps(runs)}
{NOISE}
{noise(runs)}
## VOGN, IVON and K-FAC

Steps with one draw, of K-FAC at the mean, float, one thread, by turns with steps of `map`; the least of twelve turns. `build/release/bench/bdl_bench
vogn` prints the same, `bench/peers.py` and `bench/vogn_peer.py` compare with PyTorch.

{deep(runs)}
## Scaling

![time of a step against D, n and L](scaling.svg)

{scaling(runs)}
## The machine's limits

{limits(runs)}"""


def main():
    parser = argparse.ArgumentParser(description="Runs bdl_bench and writes performance.md and scaling.svg.")
    parser.add_argument("--bench", default="build/release/bench/bdl_bench", help="program, from the repository's root")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "experiments" / "results", help="folder to write to")
    parser.add_argument("--quick", action="store_true", help="small cases: a test of this script")
    arguments = parser.parse_args()
    runs = Runs(arguments.bench, arguments.quick)
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / "performance.md").write_text(page(runs))
    (arguments.output / "scaling.svg").write_text(plot(runs))


if __name__ == "__main__":
    main()
