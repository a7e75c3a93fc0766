#!/usr/bin/python3
"""LeNet-5 beside PyTorch's packages, one thread and in turns: bench/vogn_peer.py [--quick] [BDL_BENCH].

A step of IVON beside ivon-opt's; Laplace's approximation with Kronecker factors of all layers, and the probabilities of
new images that its linearisation gives, beside laplace-torch's. Ours are those of bdl_bench vogn. The script leaves out what
is not installed, and says so.
"""
import argparse
import importlib.util
import subprocess
import sys
import time

EXAMPLES, LAPLACE_EXAMPLES, PREDICTED = 128, 1000, 100


def network(examples):
    import torch
    from torch import nn
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(256, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))
    return model, torch.rand(examples, 1, 28, 28) * 2 - 1, torch.arange(examples) ** 2 % 10


def least(call, quick):
    best, spent, calls = float("inf"), 0.0, 0
    while calls < 2 or (not quick and spent < 3):
        start = time.perf_counter()
        call()
        seconds = time.perf_counter() - start
        best, spent, calls = min(best, seconds), spent + seconds, calls + 1
    return 1e3 * best


def ivon_child(quick):
    import ivon
    from torch.nn.functional import cross_entropy
    model, x, y = network(EXAMPLES)
    optimizer = ivon.IVON(model.parameters(), lr=1e-4, ess=50000)

    def step():
        with optimizer.sampled_params(train=True):
            optimizer.zero_grad()
            cross_entropy(model(x), y).backward()
        optimizer.step()
    print(least(step, quick))


def laplace_child(quick):
    from laplace import Laplace
    from torch.utils.data import DataLoader, TensorDataset
    model, x, y = network(LAPLACE_EXAMPLES)
    loader = DataLoader(TensorDataset(x, y), batch_size=EXAMPLES)

    def fit():
        approximation = Laplace(model, "classification", subset_of_weights="all", hessian_structure="kron")
        approximation.fit(loader)
        return approximation
    print(least(fit, quick))
    approximation, start = fit(), time.perf_counter()  # one call: it takes most of a minute
    approximation(x[:PREDICTED // 10 if quick else PREDICTED])
    print(1e3 * (time.perf_counter() - start) * (10 if quick else 1))


def output(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def theirs(package, quick):
    return list(map(float, output([sys.executable, __file__, "--child", package] + ["--quick"] * quick).split()))


def ours(bench, quick, case, names):
    line = output([bench, "--child", f"case=vogn network=lenet5 {case} dtype=f32 threads=1" + " quick=1" * quick])
    fields = dict(word.split("=", 1) for word in line.split() if "=" in word)
    return [float(fields[name]) for name in names]


def compare(bench, quick):
    print("ms, LeNet-5, one thread; the ratio is ours over theirs")
    for package, case, names, what in (
            ("ivon", f"M={EXAMPLES} method=ivon", ["ms"], [f"ivon-opt: a step of IVON, {EXAMPLES} images"]),
            ("laplace", f"M={LAPLACE_EXAMPLES} method=laplace", ["ms", "ms_predict"],
             [f"laplace-torch: Kronecker factors of {LAPLACE_EXAMPLES} images", f"laplace-torch: predictions of {PREDICTED} images"])):
        if importlib.util.find_spec(package) is None:
            print(f"{package} is not installed: nothing to compare with")
            continue
        for text, peer, own in zip(what, theirs(package, quick), ours(bench, quick, case, names)):
            print(f"{text:50s}{peer:10.2f}{own:10.2f}{own / peer:9.4f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bench", nargs="?", default="build/release/bench/bdl_bench")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--child", choices=["ivon", "laplace"])
    arguments = parser.parse_args()
    if arguments.child:
        {"ivon": ivon_child, "laplace": laplace_child}[arguments.child](arguments.quick)
    elif importlib.util.find_spec("torch") is None:
        print("no PyTorch here: nothing to compare with")
    else:
        compare(arguments.bench, arguments.quick)


main()
