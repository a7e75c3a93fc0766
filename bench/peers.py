#!/usr/bin/python3
"""Steps of convolutional networks beside PyTorch's, on one thread and in turns: bench/peers.py [--quick] [BDL_BENCH].

PyTorch's steps are SGD's and, as published code has VOGN's, SGD's with sums of squares of single examples' gradients: each
layer's patches unfolded, multiplied by its sensitivities example by example, squared and added up in a backward hook. Ours
are those of bdl_bench conv. Without PyTorch there is nothing to compare with, and the script says so.
"""
import argparse
import importlib.util
import resource
import subprocess
import sys
import time

NETWORKS = [("lenet5", 128), ("alexnet", 128), ("resnet18", 128), ("resnet18-cifar", 32)]


def block(nn, width, out, stride):
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.main = nn.Sequential(
                nn.Conv2d(width, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU(),
                nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out))
            self.shortcut = nn.Identity() if stride == 1 else nn.Sequential(
                nn.Conv2d(width, out, 1, stride, bias=False), nn.BatchNorm2d(out))
            self.relu = nn.ReLU()

        def forward(self, x):
            return self.relu(self.main(x) + self.shortcut(x))
    return Block()


def network(nn, name):
    if name == "lenet5":
        return nn.Sequential(
            nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
            nn.Linear(256, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))
    if name == "alexnet":
        return nn.Sequential(
            nn.Conv2d(3, 64, 11, 4, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(64, 192, 5, 1, 2), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(192, 384, 3, 1, 1), nn.ReLU(), nn.Conv2d(384, 256, 3, 1, 1), nn.ReLU(),
            nn.Conv2d(256, 256, 3, 1, 1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(256, 10))
    stem = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    if name == "resnet18-cifar":
        stem = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    blocks, width = [], 64
    for out in (64, 128, 256, 512):
        blocks += [block(nn, width, out, 1 if out == 64 else 2), block(nn, out, out, 1)]
        width = out
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


def add_hooks(torch, model, squares):
    nn = torch.nn

    def keep(layer, inputs, _):
        layer.input = inputs[0].detach()

    def square(layer, _, sensitivities):
        d, a = sensitivities[0], layer.input
        if isinstance(layer, nn.Linear):
            squares[layer] = (d ** 2).t() @ (a ** 2)
            return
        patches = nn.functional.unfold(a, layer.kernel_size, padding=layer.padding, stride=layer.stride)
        squares[layer] = (torch.bmm(d.flatten(2), patches.transpose(1, 2)) ** 2).sum(0)

    for layer in model.modules():
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            layer.register_forward_hook(keep)
            layer.register_full_backward_hook(square)


def child(name, examples, kind, quick):
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = network(torch.nn, name)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    squares = {}
    if kind == "squares":
        add_hooks(torch, model, squares)
    x = torch.randn(examples, *((1, 28, 28) if name == "lenet5" else (3, 32, 32)))
    y = torch.arange(examples) % 10
    best, spent, steps = float("inf"), 0.0, 0
    while steps < 2 or (not quick and spent < 3):
        start = time.perf_counter()
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        seconds = time.perf_counter() - start
        best, spent, steps = min(best, seconds), spent + seconds, steps + 1
    print(1e3 * best, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)


def torch_step(name, examples, kind, quick):
    command = [sys.executable, __file__, "--child", name, str(examples), kind] + ["--quick"] * quick
    return tuple(map(float, subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()))


def our_step(bench, name, examples, method, quick):
    case = f"case=conv network={name} M={examples} method={method} S=1 L=0 dtype=f32 threads=1"
    line = subprocess.run([bench, "--child", case + " quick=1" * quick], check=True, capture_output=True, text=True).stdout
    fields = dict(word.split("=", 1) for word in line.split() if "=" in word)
    return float(fields["ms"]), float(fields["peak_mb"])


def compare(bench, quick):
    print("ms a step and MB at most, one thread; the ratio is ours over PyTorch's")
    print(f"{'':16s}{'SGD':>18s}{'map':>18s}{'ratio':>8s}{'SGD, squares':>20s}{'vogn':>18s}{'ratio':>8s}")
    for name, examples in NETWORKS[:1] if quick else NETWORKS:
        sgd, squares = (torch_step(name, examples, kind, quick) for kind in ("sgd", "squares"))
        plain, vogn = (our_step(bench, name, examples, method, quick) for method in ("map", "vogn"))

        def both(step):
            return f"{step[0]:8.1f} {step[1]:6.0f} MB"
        print(f"{name:16s}{both(sgd):>18s}{both(plain):>18s}{plain[0] / sgd[0]:8.2f}{both(squares):>20s}{both(vogn):>18s}"
              f"{vogn[0] / squares[0]:8.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bench", nargs="?", default="build/release/bench/bdl_bench")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--child", nargs=3, metavar=("NETWORK", "EXAMPLES", "KIND"))
    arguments = parser.parse_args()
    if importlib.util.find_spec("torch") is None:
        print("no PyTorch here: nothing to compare with")
    elif arguments.child:
        child(arguments.child[0], int(arguments.child[1]), arguments.child[2], arguments.quick)
    else:
        compare(arguments.bench, arguments.quick)


main()
