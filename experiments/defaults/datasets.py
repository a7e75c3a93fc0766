"""The data sets of the table of defaults and their splits into training and test rows."""
import gzip
import pathlib
import sys
from typing import NamedTuple

import numpy as np
from sklearn import datasets as bundled

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from images import read_idx  # noqa: E402

UCI = {"yacht": "yacht", "boston": "bostonHousing", "energy": "energy", "concrete": "concrete",
       "wine-red": "wine-quality-red", "power-plant": "power-plant", "kin8nm": "kin8nm",
       "naval": "naval-propulsion-plant"}
BUNDLED = {"iris": bundled.load_iris, "wine": bundled.load_wine, "breast-cancer": bundled.load_breast_cancer,
           "digits": bundled.load_digits}
# Sets of one tier are run together, split by split, so that a run cut short has every set: cheap tiers first.
TIERS = [["yacht", "iris", "wine", "boston", "breast-cancer", "energy", "concrete", "wine-red", "australian", "a1a",
          "digits"],
         ["usps", "fashion"], ["power-plant", "kin8nm", "naval"], ["mnist"]]
NAMES = [name for tier in TIERS for name in tier]
# Published splits; 20 % test rows drawn by the split's number; seeds of training on one published split.
SPLITS = {**{name: 20 for name in UCI}, "iris": 20, "wine": 20, "breast-cancer": 20, "australian": 20, "digits": 5,
          "a1a": 5, "usps": 3, "fashion": 2, "mnist": 1}


class Split(NamedTuple):
    """Inputs and targets, apart. Classes are numbered from 0."""

    x: np.ndarray
    y: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray

    @property
    def classifies(self):
        return self.y.dtype.kind == "i"


class Sets:
    """Reads sets of a folder (BDL_DATA) when they are asked for, and keeps the last one."""

    def __init__(self, folder):
        self._folder, self._name, self._rows = pathlib.Path(folder), None, None

    def split(self, name, number):
        if self._name != name:
            self._name, self._rows = name, self._read(name)
        if isinstance(self._rows, Split):
            return self._rows
        x, y, tests = self._rows
        test = tests[number] if tests else random_fifth(y, number)
        train = np.setdiff1d(np.arange(len(y)), test)
        return Split(x[train], y[train], x[test], y[test])

    def _read(self, name):
        if name in UCI:
            return read_uci(self._folder / "uci" / UCI[name])
        if name in BUNDLED:
            x, y = BUNDLED[name](return_X_y=True)
            return x, y.astype(int), None
        if name == "australian":
            return *read_libsvm(self._folder / "libsvm" / "australian_scale.gz", 14), None
        if name == "a1a":
            return Split(*(part for file in ("a1a.gz", "a1a.t.gz")
                           for part in read_libsvm(self._folder / "libsvm" / file, 123)))
        if name == "usps":
            return Split(*(part for file in ("zip.train.gz", "zip.test.gz")
                           for part in read_digits(self._folder / "usps" / file)))
        folder, train = {"fashion": ("fashion-mnist", "train-first10000"), "mnist": ("mnist", "train")}[name]
        return Split(*(part for kind in (train, "t10k") for part in read_images(self._folder / folder, kind)))


def random_fifth(y, number):
    """Test rows: a fifth, drawn by the split's number."""
    return np.random.RandomState(number).permutation(len(y))[: round(len(y) / 5)]


def lines_of(path):
    with gzip.open(path, "rt", encoding="ascii") as file:
        return file.read().splitlines()


def read_uci(folder):
    rows = np.loadtxt(lines_of(folder / "data.csv.gz"), delimiter=",", ndmin=2)
    tests = [np.array(line.split(","), dtype=int) for line in lines_of(folder / "test_rows.csv.gz")]
    return rows[:, :-1], rows[:, -1], tests


def read_libsvm(path, columns):
    lines = [line.split() for line in lines_of(path)]
    x, y = np.zeros((len(lines), columns)), np.array([int(float(line[0]) > 0) for line in lines])
    for row, line in enumerate(lines):
        for entry in line[1:]:
            column, value = entry.split(":")
            x[row, int(column) - 1] = float(value)
    return x, y


def read_digits(path):
    rows = np.loadtxt(lines_of(path))
    return rows[:, 1:], rows[:, 0].astype(int)


def read_images(folder, kind):
    """IDX files: images as rows of grey values in [0, 1], and labels."""
    images, labels = (read_idx(folder / f"{kind}-{what}-ubyte.gz") for what in ("images-idx3", "labels-idx1"))
    return images.reshape(len(labels), -1) / 255.0, labels.astype(int)
