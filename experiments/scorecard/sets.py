"""The data sets of the scorecard by name, and what is run on each: depths, numbers of epochs, seeds."""
import pathlib
import sys
import zlib
from typing import Any, Callable, NamedTuple

import numpy as np
from sklearn.datasets import load_diabetes

import generators as make

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "defaults"))
import datasets  # noqa: E402
from datasets import Split  # noqa: E402, F401

TEST_ROWS = 300


class Task(NamedTuple):
    """Rows to train on and to test on. ``blocks``: where blocks of a stream begin; ``curve``: inputs and true values in a
    gap and beyond the data, of regressions with one input."""

    x: np.ndarray
    y: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    blocks: tuple[int, ...] = ()
    curve: Any = None

    @property
    def classifies(self):
        return self.y.dtype.kind == "i"


class Set(NamedTuple):
    """How a set is made from (name, seed), and what is run: the cost class decides the order of runs."""

    kind: str  # regression, classes, images, stream, stream-classes
    read: Callable[[str, int], Task]
    seeds: int = 3
    depths: tuple[int, ...] = (1,)
    times: tuple[int, ...] = (1,)  # the default number of epochs
    cost: int = 0

    @property
    def is_stream(self):
        return self.kind.startswith("stream")


def random_of(name, seed):
    return np.random.default_rng([zlib.crc32(name.encode()), seed])


def synthetic(function, rows, *rest):
    """Training rows and other rows to test on, new for each seed."""
    def read(name, seed):
        random = random_of(name, seed)
        return Task(*function(random, rows, *rest), *function(random, TEST_ROWS, *rest))
    return read


def with_outlier(read, value):
    """The first training target becomes ``value``."""
    def changed(name, seed):
        task = read(name, seed)
        task.y[0] = value
        return task
    return changed


def with_gap(truth, rows, noise):
    def read(name, seed):
        random = random_of(name, seed)
        x, y, inside, far = make.gap(random, rows, truth, noise)
        x_test, y_test, *_ = make.gap(random, TEST_ROWS, truth, noise)
        curve = {where: (points[:, np.newaxis], truth(points)) for where, points in (("gap", inside), ("far", far))}
        return Task(x, y, x_test, y_test, curve=curve)
    return read


FOLDER, READER = None, None  # the folder BDL_DATA and what reads it, set by use_folder()


def use_folder(folder):
    global FOLDER, READER
    FOLDER, READER = pathlib.Path(folder), datasets.Sets(folder)


def real(name, seed):
    """A published split of a set of the folder, or a random fifth of one of scikit-learn."""
    return Task(*READER.split(name, seed))


def held_fifth(x, y, seed):
    test = datasets.random_fifth(y, seed)
    train = np.setdiff1d(np.arange(len(y)), test)
    return Task(x[train], y[train], x[test], y[test])


def diabetes(name, seed):
    return held_fifth(*load_diabetes(return_X_y=True), seed)


def digits(rows):
    """So many images of 8 x 8 to train on, and TEST_ROWS others."""
    def read(name, seed):
        x, y, *_ = datasets.Sets(".").split("digits", 0)
        order = random_of(name, seed).permutation(len(y))
        train, test = order[:rows], order[rows : rows + TEST_ROWS]
        return Task(x[train], y[train], x[test], y[test])
    return read


def blocks_of(rows, size, first=None):
    return (0, *range(first or size, rows, size))


def stream(function, rows, size, first=None):
    """Rows in blocks of one size, the first perhaps of another."""
    def read(name, seed):
        return synthetic(function, rows)(name, seed)._replace(blocks=blocks_of(rows, size, first))
    return read


def drifting(function, rows, size):
    """The test rows are those of the stream's end."""
    def read(name, seed):
        random = random_of(name, seed)
        train, test = function(random, rows, False), function(random, TEST_ROWS, True)
        return Task(*train, *test, blocks=blocks_of(rows, size))
    return read


def constant_first(read):
    """All rows of the first block are equal."""
    def changed(name, seed):
        task = read(name, seed)
        end = task.blocks[1]
        task.x[:end], task.y[:end] = task.x[0], task.y[0]
        return task
    return changed


DEEP, LONG, ALL = {"depths": (1, 2, 3)}, {"times": (1, 10)}, {"depths": (1, 2, 3), "times": (1, 10)}
SETS = {
    "small-20": Set("regression", synthetic(make.bend, 20)),
    "small-40": Set("regression", synthetic(make.bend, 40), **ALL),
    "small-100": Set("regression", synthetic(make.bend, 100), **LONG),
    "wide": Set("regression", synthetic(make.wide, 50), **LONG),
    "many-inputs": Set("regression", synthetic(make.many_inputs, 600), cost=1),
    "one-of-many": Set("regression", synthetic(make.one_of_many, 1200), cost=1, **DEEP),
    "correlated": Set("regression", synthetic(make.correlated, 150), **ALL),
    "heavy-tails": Set("regression", synthetic(make.heavy_tails, 200)),
    "outlier": Set("regression", with_outlier(synthetic(make.linear_small_noise, 200), 1e4)),
    "motorcycle": Set("regression", synthetic(make.motorcycle, 133), **ALL),
    "friedman1": Set("regression", synthetic(make.friedman1, 240), **ALL),
    "noise-50": Set("regression", synthetic(make.mostly_noise, 50), **LONG),
    "noise-100": Set("regression", synthetic(make.mostly_noise, 100), **ALL),
    "noise-200": Set("regression", synthetic(make.mostly_noise, 200)),
    "noisy-line": Set("regression", synthetic(make.noisy_line, 200), **LONG),
    "gap-sine": Set("regression", with_gap(make.sine, 100, 0.2), **ALL),
    "gap-wave": Set("regression", with_gap(make.wave, 60, 0.2)),
    "gap-step": Set("regression", with_gap(make.step, 60, 0.1)),
    "yacht": Set("regression", real, seeds=4, **ALL),
    "boston": Set("regression", real, **DEEP),
    "energy": Set("regression", real, cost=1),
    "concrete": Set("regression", real, cost=1),
    "wine-red": Set("regression", real, cost=1),
    "diabetes": Set("regression", diabetes, **ALL),
    "many-rows": Set("regression", synthetic(make.friedman1, 20_000), seeds=1, cost=3),
    "iris": Set("classes", real, **ALL),
    "wine": Set("classes", real, **ALL),
    "breast-cancer": Set("classes", real, cost=1),
    "digits-500": Set("classes", digits(500), seeds=2, cost=2),
    "noisy-labels": Set("classes", synthetic(make.noisy_labels, 150), **LONG),
    "imbalanced": Set("classes", synthetic(make.imbalanced, 200)),
    "differences": Set("classes", synthetic(make.differences, 150), **DEEP),
    "few-of-many": Set("classes", synthetic(make.few_of_many, 150), **DEEP),
    "moons": Set("classes", synthetic(make.moons, 150), **ALL),
    "images": Set("images", digits(300), seeds=1, cost=2),
    "stream": Set("stream", stream(make.friedman1, 1000, 50)),
    "stream-drift": Set("stream", drifting(make.drifting_line, 1000, 50)),
    "stream-first-row": Set("stream", stream(make.far_line, 500, 20, first=1)),
    "stream-rows": Set("stream", stream(make.far_line, 400, 1)),
    "stream-constant-first": Set("stream", constant_first(stream(make.bend, 500, 20))),
    "stream-classes": Set("stream-classes", stream(make.clusters, 1000, 50)),
    "stream-classes-drift": Set("stream-classes", drifting(make.drifting_clusters, 1000, 50)),
    "stream-classes-first-row": Set("stream-classes", stream(make.clusters, 500, 20, first=1)),
    "stream-classes-constant-first": Set("stream-classes", constant_first(stream(make.clusters, 500, 20))),
}
