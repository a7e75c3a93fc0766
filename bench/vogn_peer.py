#!/usr/bin/python3
"""Steps of IVON beside those of the package ivon-opt, LeNet-5, one thread and in turns: bench/vogn_peer.py [--quick] [BDL_BENCH].

Ours are those of bdl_bench vogn. Where PyTorch or ivon-opt is not installed there is nothing to compare with, and the
script says so.
"""
import argparse
import importlib.util
import subprocess
import sys
import time

EXAMPLES = 128


def child(quick):
    import ivon
    import torch
    from torch import nn
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(256, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))
    optimizer = ivon.IVON(model.parameters(), lr=1e-4, ess=50000)
    x, y = torch.rand(EXAMPLES, 1, 28, 28) * 2 - 1, torch.arange(EXAMPLES) ** 2 % 10
    best, spent, steps = float("inf"), 0.0, 0
    while steps < 2 or (not quick and spent < 3):
        start = time.perf_counter()
        with optimizer.sampled_params(train=True):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        seconds = time.perf_counter() - start
        best, spent, steps = min(best, seconds), spent + seconds, steps + 1
    print(1e3 * best)


def output(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def compare(bench, quick):
    theirs = float(output([sys.executable, __file__, "--child"] + ["--quick"] * quick))
    case = f"case=vogn network=lenet5 M={EXAMPLES} method=ivon dtype=f32 threads=1" + " quick=1" * quick
    fields = dict(word.split("=", 1) for word in output([bench, "--child", case]).split() if "=" in word)
    ours = float(fields["ms"])
    print(f"ms a step of IVON, LeNet-5, {EXAMPLES} examples, one thread: ivon-opt {theirs:.2f}, libbdl {ours:.2f}, ratio {ours / theirs:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bench", nargs="?", default="build/release/bench/bdl_bench")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--child", action="store_true")
    arguments = parser.parse_args()
    if any(importlib.util.find_spec(name) is None for name in ("torch", "ivon")):
        print("no PyTorch or no ivon-opt here: nothing to compare with")
    elif arguments.child:
        child(arguments.quick)
    else:
        compare(arguments.bench, arguments.quick)


main()
