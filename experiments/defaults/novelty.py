#!/usr/bin/python3
"""How many rows with one wrong feature the novelty of the default regressor names.

novelty.py [PAGE]   prints a table of UCI sets; with PAGE also rewrites it there, between <!-- table novelty --> and
<!-- end -->. It needs the Python package, scikit-learn and BDL_DATA. In the test rows of published splits one feature after the other is
replaced: by its mean of the training rows, by 0, or by values two standard deviations outside of its range.
"""
import argparse
import os
import pathlib
import sys

import bdl
import numpy as np

from datasets import Sets

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from results import publish, table  # noqa: E402

SETS, SPLITS = ["yacht", "energy", "boston", "concrete"], 10
REPLACED = {
    "mean": lambda column: np.mean(column),
    "0": lambda column: 0.0,
    "below": lambda column: np.min(column) - 2 * np.std(column),
    "above": lambda column: np.max(column) + 2 * np.std(column),
}


def replaced(split, by):
    """The test rows once for each feature, with another value of it."""
    for j in range(split.x.shape[1]):
        x = split.x_test.copy()
        x[:, j] = REPLACED[by](split.x[:, j])
        yield x


def shares(split):
    """False alarms and named rows by the training rows' limit; then named rows by the limit that 5 % of the test rows exceed."""
    regressor = bdl.BayesianMLPRegressor().fit(split.x, split.y)
    scores = regressor.novelty(split.x_test)
    named = {by: np.concatenate([regressor.novelty(x) for x in replaced(split, by)]) for by in REPLACED}
    limits = regressor.novelty_limit(), np.quantile(scores, 0.95)
    return [np.mean(scores > limits[0]), *(np.mean(found > limit) for limit in limits for found in named.values())]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", nargs="?")
    page, sets = parser.parse_args().page, Sets(os.environ.get("BDL_DATA", "../shared/data"))
    found = {name: np.mean([shares(sets.split(name, number)) for number in range(SPLITS)], axis=0) for name in SETS}
    found["mean of the sets"] = np.mean(list(found.values()), axis=0)
    heads = ["set", "false alarms", *REPLACED, *(f"{by}, at 5 %" for by in REPLACED)]
    tables = {"novelty": table(heads, [[name, *(f"{100 * share:.0f}" for share in row)] for name, row in found.items()])}
    publish(tables)
    if page:
        publish(tables, page)


if __name__ == "__main__":
    main()
