#!/usr/bin/python3
"""Steps of ELRG-VI beside PyTorch's, on one thread and in turns: bench/elrg_peer.py [--quick] [BDL_BENCH].

PyTorch's steps are those of published code: for each dense layer the product with the mean, K products with the columns of
V, a product of squared inputs with the variances and a root for the noise of the outputs, the KL divergence by a K x K
Gram matrix and its Cholesky factor, derivatives by autograd, Adam. Ours are those of bdl_bench noise. Without PyTorch
there is nothing to compare with, and the script says so.
"""
import argparse
import importlib.util
import math
import subprocess
import sys
import time

DATA_SIZE, PRIOR_PRECISION, LOG_VARIANCE = 60000, 0.01, -10.0


def layer(torch, inputs, outputs, rank):
    class LowRankLinear(torch.nn.Module):
        def __init__(self):
            super().__init__()
            bound = 1 / math.sqrt(inputs)
            self.mean = torch.nn.Parameter(torch.empty(inputs, outputs).uniform_(-bound, bound))
            self.bias = torch.nn.Parameter(torch.empty(outputs).uniform_(-bound, bound))
            scale = 0.5 * bound / math.sqrt(3 * rank)
            self.v = torch.nn.Parameter(scale * torch.randn(rank, inputs, outputs))
            self.v_bias = torch.nn.Parameter(0.01 * torch.randn(rank, outputs))
            self.register_buffer("log_variance", torch.full((inputs, outputs), LOG_VARIANCE))
            self.register_buffer("bias_log_variance", torch.full((outputs,), LOG_VARIANCE))
            self.precision = PRIOR_PRECISION * outputs

        def forward(self, x):
            mean = x @ self.mean + self.bias
            columns = torch.einsum("bi,kio->kbo", x, self.v) + self.v_bias[:, None]
            factors = torch.randn(rank, len(x), 1) / math.sqrt(rank)
            variance = (x * x) @ self.log_variance.exp() + self.bias_log_variance.exp()
            return mean + (factors * columns).sum(0) + variance.sqrt() * torch.randn_like(variance)

        def divergence(self):
            mean = torch.cat([self.mean.flatten(), self.bias])
            v = torch.cat([self.v.flatten(1), self.v_bias], 1) / math.sqrt(rank)
            log_variance = torch.cat([self.log_variance.flatten(), self.bias_log_variance])
            variance = log_variance.exp()
            core = torch.eye(rank) + (v / variance) @ v.t()
            log_det = log_variance.sum() + 2 * torch.linalg.cholesky(core).diagonal().log().sum()
            squares = variance.sum() + (v * v).sum() + (mean * mean).sum()
            count = len(mean)
            return 0.5 * (self.precision * squares - count * math.log(self.precision) - count - log_det)
    return LowRankLinear()


def child(sizes, examples, rank, quick):
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(0)
    layers = torch.nn.ModuleList(layer(torch, i, o, rank) for i, o in zip(sizes, sizes[1:]))
    optimizer = torch.optim.Adam(layers.parameters(), 1e-3)
    x, y = torch.rand(examples, sizes[0]) * 2 - 1, torch.arange(examples) ** 2 % 10
    best, spent, steps = math.inf, 0.0, 0
    while steps < 2 or (not quick and spent < 2):
        start = time.perf_counter()
        optimizer.zero_grad()
        f = layers[0](x)
        for each in layers[1:]:
            f = each(torch.relu(f))
        loss = torch.nn.functional.cross_entropy(f, y) + sum(each.divergence() for each in layers) / DATA_SIZE
        loss.backward()
        optimizer.step()
        seconds = time.perf_counter() - start
        best, spent, steps = min(best, seconds), spent + seconds, steps + 1
    print(1e3 * best)


def output(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def torch_step(shape, examples, rank, quick):
    return float(output([sys.executable, __file__, "--child", shape, str(examples), str(rank)] + ["--quick"] * quick))


def our_step(bench, shape, examples, rank, quick):
    case = f"case=noise network={shape} M={examples} method=elrg K={rank} dtype=f32 threads=1"
    fields = dict(word.split("=", 1) for word in output([bench, "--child", case + " quick=1" * quick]).split() if "=" in word)
    return float(fields["ms"])


def compare(bench, quick):
    shape, examples = ("784-100-10", 64) if quick else ("784-400-400-10", 256)
    print(f"ms a step of elrg, {shape}, {examples} examples, one thread; the ratio is ours over PyTorch's, target at most 0.5")
    print(f"{'K':>2s}{'PyTorch':>10s}{'libbdl':>10s}{'ratio':>8s}")
    for rank in (1, 2, 5):
        theirs = ours = math.inf
        for _ in range(1 if quick else 3):
            theirs = min(theirs, torch_step(shape, examples, rank, quick))
            ours = min(ours, our_step(bench, shape, examples, rank, quick))
        print(f"{rank:2d}{theirs:10.1f}{ours:10.1f}{ours / theirs:8.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bench", nargs="?", default="build/release/bench/bdl_bench")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--child", nargs=3, metavar=("SHAPE", "EXAMPLES", "RANK"))
    arguments = parser.parse_args()
    if importlib.util.find_spec("torch") is None:
        print("no PyTorch here: nothing to compare with")
    elif arguments.child:
        shape, examples, rank = arguments.child
        child([int(size) for size in shape.split("-")], int(examples), int(rank), arguments.quick)
    else:
        compare(arguments.bench, arguments.quick)


main()
