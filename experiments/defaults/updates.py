"""What each way of learning new rows loses against a fit of all rows (docs/how-to/update-a-fit.md): prints the page's table.
Two fifths of the rows are old, two fifths new, and one fifth is for the test. --quick: two splits and two epochs."""

import argparse
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes

import bdl

sets = {
    "yacht": (bdl.BayesianMLPRegressor, *bdl.datasets.load_yacht(return_X_y=True)),
    "diabetes": (bdl.BayesianMLPRegressor, *load_diabetes(return_X_y=True)),
    "breast cancer (classes)": (bdl.BayesianMLPClassifier, *load_breast_cancer(return_X_y=True)),
}
ways = {
    "earlier fit, no update": lambda fit, X, y, old, new: fit(old),
    "fit of the new rows alone": lambda fit, X, y, old, new: fit(new),
    "`prior=` the earlier fit": lambda fit, X, y, old, new: fit(new, prior=fit(old).optimizer_),
    "`partial_fit` after `fit`": lambda fit, X, y, old, new: fit(old).partial_fit(X[new], y[new]),
    "`warm_start`, new rows alone": lambda fit, X, y, old, new: fit(old, warm_start=True).fit(X[new], y[new]),
    "`warm_start`, all rows": lambda fit, X, y, old, new: fit(old, warm_start=True).fit(X[old | new], y[old | new]),
}


def losses(name, split, settings):
    """Returns for each way the mean log predictive density of the test rows minus that of a fit of all rows."""
    estimator, X, y = sets[name]
    part = np.random.default_rng(split).permutation(len(y)) % 5
    old, new, test = part < 2, (part == 2) | (part == 3), part == 4

    def fit(rows, **more):
        return estimator(random_state=split + 1, **settings, **more).fit(X[rows], y[rows])

    def density(model):
        return model.log_predictive_density(X[test], y[test]).mean()

    best = density(fit(old | new))
    return [density(way(fit, X, y, old, new)) - best for way in ways.values()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    splits, settings = (2, {"epochs": 2}) if quick else (6, {})
    columns = []
    for name in sets:
        found = np.array([losses(name, split, settings) for split in range(splits)])
        error = found.std(axis=0, ddof=1) / splits**0.5
        columns.append([f"{mean:.3f} ± {of:.3f}" for mean, of in zip(found.mean(axis=0), error)])
    print("| way |", " | ".join(sets), "|")
    print("| --- |", " | ".join("---" for _ in sets), "|")
    for way, *cells in zip(ways, *columns):
        print(f"| {way} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
