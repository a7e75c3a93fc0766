"""Sets that nobody looks at while defaults are chosen: run.sh --held-back runs them, at the end. Some come from R's package
datasets, through Rscript; two from the folder BDL_DATA; the others are generators of other kinds than those of sets.py."""
import gzip
import subprocess

import numpy as np

import datasets
import sets
from sets import Set, synthetic


def of_r(frame, target):
    """Rows without missing values of a data frame of R; factors become numbers."""
    program = f"write.csv(data.matrix(na.omit(as.data.frame({frame}))), row.names = FALSE)"

    def read(name, seed):
        text = subprocess.run(["Rscript", "-e", program], capture_output=True, text=True, check=True).stdout
        head, *lines = text.replace('"', "").splitlines()
        rows = np.array([line.split(",") for line in lines], dtype=float)
        column = head.split(",").index(target)
        return sets.held_fifth(np.delete(rows, column, 1), as_target(rows[:, column], target), seed)
    return read


def as_target(values, name):
    """Numbers, or classes from 0 where the target is one of CLASSES."""
    return np.unique(values, return_inverse=True)[1] if name in CLASSES else values


CLASSES = {"case"}


def sarcos(name, seed):
    """A robot's inverse dynamics: of the 4,449 rows 1,000 to train on and 500 to test on."""
    with gzip.open(sets.FOLDER / "sarcos" / "sarcos_inv_test.csv.gz", "rt") as file:
        rows = np.loadtxt(file, delimiter=",")
    rows = rows[sets.random_of(name, seed).permutation(len(rows))]
    return sets.Task(rows[:1000, :21], rows[:1000, 21], rows[1000:1500, :21], rows[1000:1500, 21])


def threes_and_fives(name, seed):
    """Digits 3 and 5 of USPS, 16 x 16 grey values."""
    lines = [line.split() for line in datasets.lines_of(sets.FOLDER / "libsvm" / "usps_3vs5.gz")]
    y = np.array([int(float(line[0]) > 0) for line in lines])
    x, _ = datasets.read_libsvm(sets.FOLDER / "libsvm" / "usps_3vs5.gz", 256)
    order = sets.random_of(name, seed).permutation(len(y))
    train, test = order[:500], order[500:1000]
    return sets.Task(x[train], y[train], x[test], y[test])


def impedance(random, rows):
    """Impedance of a circuit, with inputs of very different scales (Friedman's second function)."""
    x = random.uniform([0, 40 * np.pi, 0, 1], [100, 560 * np.pi, 1, 11], size=(rows, 4))
    return x, np.hypot(x[:, 0], x[:, 1] * x[:, 2] - 1 / (x[:, 1] * x[:, 3])) + 60 * random.normal(size=rows)


def skewed(random, rows):
    """Noise that multiplies, so that targets are skewed."""
    x = random.normal(size=(rows, 4))
    return x, np.exp(0.5 * x[:, 0] + 0.3 * np.sin(3 * x[:, 1]) + 0.4 * random.normal(size=rows))


def plateaus(random, rows):
    """Steps in two inputs, with little noise."""
    x = random.uniform(-2, 2, size=(rows, 2))
    return x, np.floor(x[:, 0]) + 2 * (x[:, 1] > 0.5) + 0.1 * random.normal(size=rows)


def shells(random, rows):
    """Classes by the distance from the centre, in four inputs."""
    x = random.normal(size=(rows, 4))
    return x, np.digitize(np.sum(x**2, 1), [2.2, 4.4])


HELD_BACK = {
    "chick-weight": Set("regression", of_r("ChickWeight[, c('weight', 'Time', 'Diet')]", "weight")),
    "quakes": Set("regression", of_r("quakes", "mag")),
    "airquality": Set("regression", of_r("airquality[, c('Ozone', 'Solar.R', 'Wind', 'Temp', 'Month')]", "Ozone"),
                      times=(1, 10)),
    "swiss": Set("regression", of_r("swiss", "Fertility"), times=(1, 10)),
    "attenu": Set("regression", of_r("attenu[, c('mag', 'dist', 'accel')]", "accel"), times=(1, 10)),
    "infert": Set("classes", of_r("infert[, c('age', 'parity', 'induced', 'case', 'spontaneous')]", "case"), depths=(1, 2, 3)),
    "sarcos": Set("regression", sarcos, cost=1),
    "threes-and-fives": Set("classes", threes_and_fives, cost=1),
    "impedance": Set("regression", synthetic(impedance, 200), depths=(1, 2, 3)),
    "skewed": Set("regression", synthetic(skewed, 150), times=(1, 10)),
    "plateaus": Set("regression", synthetic(plateaus, 200), depths=(1, 2, 3)),
    "shells": Set("classes", synthetic(shells, 200), depths=(1, 2, 3), times=(1, 10)),
}
