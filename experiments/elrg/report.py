#!/usr/bin/python3
"""Tables of Tomczak et al. (2020): report.py RESULTS prints them, report.py RESULTS PAGE rewrites them in a page."""
import math
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from results import by_seed, grouped, mean_and_error, publish, read, table  # noqa: E402

HEAD = ["method", "epochs", "seeds", "test error", "log likelihood", "ECE", "s an epoch", "published error", "published log likelihood"]
TOY_HEAD = ["method", "K", "seeds", "ELBO", "more than K = 0", "a factor", "E log likelihood", "KL", "test log likelihood"]
BOUND_HEAD = ["posterior", "estimator", "E log likelihood", "KL", "ELBO", "s of one core an epoch"]
IMAGES, MEASURED = 60000, 10000  # of MNIST; those that the estimators saw
PREDICTION_HEAD = ["posterior", "predictions by", "test log likelihood", "mean difference of probabilities"]

# After 500 epochs: test error in per cent, log likelihood.
PUBLISHED = {
    "table2": {"elrg K=1": (1.82, -0.071), "elrg K=2": (1.69, -0.057), "elrg K=5": (1.54, -0.053), "naive K=1": (3.00, -0.130),
               "naive K=2": (2.82, -0.112), "k-tied 2": (2.67, -0.105), "k-tied 3": (2.69, -0.106), "mf-vi": (2.51, -0.0964),
               "slang L=1": (2.00, None)},
    "table3-mnist": {"elrg K=1": (0.90, -0.0274), "elrg K=2": (0.89, -0.0272), "elrg K=5": (0.80, -0.0257), "mf-vi": (1.09, -0.0462),
                     "map": (0.81, -0.0268)},
}


def mean(rows, column, digits):
    """Over seeds, with the standard error of several."""
    value, error = mean_and_error([float(row[column]) for row in rows])
    return f"{value:.{digits}f}" + ("" if math.isnan(error) else f" ± {error:.{digits}f}")


def compared_epochs(methods):
    """The most epochs that all methods have, or as many of them as can be."""
    counts = {}
    for of_method in methods.values():
        for epochs in of_method:
            counts[epochs] = counts.get(epochs, 0) + 1
    return max(counts, key=lambda epochs: (counts[epochs], epochs))


def shown_epochs(of_method, compared):
    """Those compared, and the last ones of a method that went further; what there is of one that did not get so far."""
    return sorted({compared if compared in of_method else max(of_method), max(of_method)})


def lines(experiment, rows):
    methods = {method: {int(epochs): group for (epochs,), group in grouped(of_method, "epochs").items()}
               for (method,), of_method in grouped(rows, "method").items()}
    compared = compared_epochs(methods)
    for method, of_method in methods.items():
        error, likelihood = PUBLISHED.get(experiment, {}).get(method, (None, None))
        for epochs in shown_epochs(of_method, compared):
            seeds = of_method[epochs]
            yield [method, epochs, len(seeds), f"{mean(seeds, 'error', 2)} %", mean(seeds, "log_likelihood", 4), mean(seeds, "ece", 4),
                   mean(seeds[:1], "seconds_per_epoch", 1), f"{error:.2f} %" if error else "", f"{likelihood:.3f}" if likelihood else ""]


def gains(rows, without):
    """ELBOs above those without factors, data set by data set."""
    start = by_seed(without, "elbo")
    return [elbo - start[seed] for seed, elbo in by_seed(rows, "elbo").items()]


def toy_lines(rows):
    groups = grouped(rows, "method", "rank")
    for (method, rank), group in groups.items():
        gain = ["", ""]
        if int(rank) > 0:
            more, error = mean_and_error(gains(group, groups["elrg" if method == "elrg" else "mf-vi", "0"]))
            gain = [f"{more:.2f} ± {error:.2f}", f"{more / int(rank):.2f}"]
        yield [method, rank, len(group), mean(group, "elbo", 1), *gain, mean(group, "expected_log_likelihood", 1), mean(group, "kl", 1),
               mean(group, "test_log_likelihood", 3)]


def bound_lines(rows):
    for row in rows:
        kl = float(row["kl"])
        expected, error = (IMAGES / MEASURED * float(row[column]) for column in ("expected_log_likelihood", "error"))
        yield [row["posterior"], row["estimator"], f"{expected:.0f} ± {error:.0f}", f"{kl:.0f}", f"{expected - kl:.0f} ± {error:.0f}",
               f"{IMAGES * float(row['seconds_per_image']):.1f}"]


def prediction_lines(rows):
    for row in rows:
        yield [row["posterior"], row["estimator"], f"{float(row['log_likelihood']):.5f}", f"{float(row['difference']):.6f}" if float(row["difference"]) else ""]


if __name__ == "__main__":
    FOLDER = sys.argv[1]
    TABLES = {name: table(HEAD, lines(name, rows)) for (name,), rows in grouped(read(FOLDER, "elrg"), "experiment").items()}
    for name, head, made in (("figure1", TOY_HEAD, toy_lines), ("bounds", BOUND_HEAD, bound_lines), ("predictions", PREDICTION_HEAD, prediction_lines)):
        if ROWS := read(FOLDER, {"bounds": "estimators"}.get(name, name)):
            TABLES[name] = table(head, made(ROWS))
    publish(TABLES, *sys.argv[2:3])
