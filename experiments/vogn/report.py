#!/usr/bin/python3
"""Tables of Osawa et al. (2019): report.py RESULTS prints them, report.py RESULTS PAGE rewrites them in a page.

Errors are standard deviations over bootstrap samples of the test images, of which all methods have the same; differences
are paired by image. Of several seeds, an image's scores are averaged first.
"""
import math
import pathlib
import random
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from results import grouped, mean_and_error, publish, read, table  # noqa: E402

BASELINE, BINS, SAMPLES = "adam", 20, 200
HEAD = ["method", "epochs", "seeds", "accuracy", "NLL", "minus adam's", "ECE", "AUROC", "train accuracy", "train NLL", "gap of NLL", "s of one core an epoch"]
TUNING_HEAD = ["network", "method", "trial", "epochs", "options", "decay", "dropout", "NLL", "accuracy"]
EFFECT_HEAD = ["what", "value", "epochs", "accuracy", "NLL", "ECE", "AUROC", "train accuracy", "train NLL", "s of one core an epoch"]
OUTSIDE_HEAD = ["method", "epochs", "seeds", "accuracy", "NLL", "AUROC", "AUPR", "FPR95", "detection error", "entropy inside", "outside"]
CONTINUAL_HEAD = ["method", "epochs a task", "seeds", "1", "2", "4", "6", "8", "10", "of the first task", "of the last", "s of one core"]
DEFAULT_HEAD = ["set", "network", "epochs", "map", "vogn", "ivon", "vogn over map", "ivon over map", "ECE of map", "of vogn", "of ivon"]
UCI_HEAD = ["set", "splits", "map", "vogn", "ivon", "vogn over map", "ivon over map"]


def mean(rows, column, digits):
    """Over seeds, with the standard error of several."""
    value, error = mean_and_error([float(row[column]) for row in rows])
    return f"{value:.{digits}f}" + ("" if math.isnan(error) else f" ± {error:.{digits}f}")


def most_epochs(rows, *keys):
    """Of each group, the runs that went furthest."""
    for key, group in grouped(rows, *keys).items():
        epochs = max(int(row["epochs"]) for row in group)
        yield key, epochs, [row for row in group if int(row["epochs"]) == epochs]


class Images:
    """What a method says of the test images, one list a seed."""

    def __init__(self, rows):
        self.log_probabilities = [list(map(float, row["log_probabilities"].split())) for row in rows]
        self.confidences = [list(map(float, row["confidences"].split())) for row in rows]

    def nll(self, chosen):
        return -sum(seed[i] for seed in self.log_probabilities for i in chosen) / len(chosen) / len(self.log_probabilities)

    def accuracy(self, chosen):
        return 100 * sum(seed[i] > 0 for seed in self.confidences for i in chosen) / len(chosen) / len(self.confidences)

    def ece(self, chosen):
        return sum(calibration_error([seed[i] for i in chosen]) for seed in self.confidences) / len(self.confidences)

    def auroc(self, chosen):
        return sum(auroc([seed[i] for i in chosen]) for seed in self.confidences) / len(self.confidences)


def calibration_error(confidences):
    """Of confidences that are negative where the class is wrong."""
    sums = [0.0] * BINS
    for confidence in confidences:
        sums[min(BINS - 1, max(0, math.ceil(abs(confidence) * BINS) - 1))] += (confidence > 0) - abs(confidence)
    return sum(map(abs, sums)) / len(confidences)


def auroc(confidences):
    """Right against wrong, by ranks."""
    ranked, total, at = sorted(confidences, key=abs), 0.0, 0
    right = sum(c > 0 for c in ranked)
    while at < len(ranked):
        end = at
        while end < len(ranked) and abs(ranked[end]) == abs(ranked[at]):
            end += 1
        total += sum(c > 0 for c in ranked[at:end]) * (at + 1 + end) / 2
        at = end
    wrong = len(ranked) - right
    return (total - right * (right + 1) / 2) / (right * wrong) if right and wrong else math.nan


def deviation(values):
    return math.sqrt(sum((v - sum(values) / len(values)) ** 2 for v in values) / (len(values) - 1))


def bootstrap(count):
    generator = random.Random(1)
    return [generator.choices(range(count), k=count) for _ in range(SAMPLES)]


def network_lines(rows, predictions):
    images, samples = {}, None
    for (method,), epochs, _ in most_epochs(rows, "method"):
        found = [row for row in predictions if row["method"] == method and int(row["epochs"]) == epochs]
        images[method] = Images(list({row["seed"]: row for row in found}.values()))
    for (method,), epochs, seeds in most_epochs(rows, "method"):
        own, base = images[method], images.get(BASELINE)
        samples = samples or bootstrap(len(own.confidences[0]))
        everything = range(len(own.confidences[0]))

        def shown(score, digits, own=own, everything=everything):
            return f"{score(own, everything):.{digits}f} ± {deviation([score(own, chosen) for chosen in samples]):.{digits}f}"

        difference = ""
        if base and method != BASELINE:
            differences = [own.nll(chosen) - base.nll(chosen) for chosen in samples]
            difference = f"{own.nll(everything) - base.nll(everything):+.3f} ± {deviation(differences):.3f}"
        gap = mean_and_error([float(row["nll"]) - float(row["train_nll"]) for row in seeds])[0]
        yield [method, epochs, len(seeds), shown(Images.accuracy, 1), shown(Images.nll, 3), difference, shown(Images.ece, 3),
               shown(Images.auroc, 3), mean(seeds, "train_accuracy", 1), mean(seeds, "train_nll", 3), f"{gap:.3f}",
               mean(seeds[:1], "seconds_per_epoch", 2)]


def tuning_lines(rows):
    for (network, method), group in grouped(rows, "network", "method").items():
        best = min(group, key=lambda row: float(row["nll"]))
        for row in group:
            star = " *" if row is best else ""
            yield [network, method, row["trial"] + star, row["epochs"], row["options"] or "as by default", row["decay"],
                   row["dropout"] if float(row["dropout"]) else "", row["nll"], f"{float(row['accuracy']):.1f}"]


def effect_lines(rows):
    for (what, value), epochs, seeds in most_epochs(rows, "what", "value"):
        yield [what, value, epochs, mean(seeds, "accuracy", 1), mean(seeds, "nll", 3), mean(seeds, "ece", 3), mean(seeds, "auroc", 3),
               mean(seeds, "train_accuracy", 1), mean(seeds, "train_nll", 3), mean(seeds[:1], "seconds_per_epoch", 2)]


def outside_lines(rows):
    for (method,), epochs, seeds in most_epochs(rows, "method"):
        yield [method, epochs, len(seeds), mean(seeds, "accuracy", 2), mean(seeds, "nll", 3),
               *(mean(seeds, column, 3) for column in ("auroc", "aupr", "fpr95", "detection_error")),
               mean(seeds, "entropy_inside", 2), mean(seeds, "entropy_outside", 2)]


def continual_lines(rows):
    for (method,), epochs, runs in most_epochs(rows, "method"):
        by_tasks = {int(tasks): group for (tasks,), group in grouped(runs, "tasks").items()}
        last = by_tasks[max(by_tasks)]
        seconds = sum(float(row["seconds"]) for row in runs) / len(last)
        yield [method, epochs, len(last), *(mean(by_tasks[t], "accuracy", 1) if t in by_tasks else "" for t in (1, 2, 4, 6, 8, 10)),
               mean(last, "first_task", 1), mean(last, "last_task", 1), f"{seconds:.0f}"]


def relative(ours, theirs):
    return f"{100 * (ours / theirs - 1):+.1f} %"


def default_lines(rows):
    for (name, network), epochs, group in most_epochs(rows, "set", "network"):
        by_method = {method: of_method for (method,), of_method in grouped(group, "method").items()}
        if len(by_method) == 3:
            nll = {method: mean_and_error([float(row["nll"]) for row in found])[0] for method, found in by_method.items()}
            yield [name, network, epochs, *(f"{nll[m]:.4f}" for m in ("map", "vogn", "ivon")), relative(nll["vogn"], nll["map"]),
                   relative(nll["ivon"], nll["map"]), *(mean(by_method[m], "ece", 4) for m in ("map", "vogn", "ivon"))]


def uci_lines(rows):
    """Of splits that every method has; nats an example."""
    for (name,), group in grouped(rows, "data").items():
        values = {method: {row["split"]: float(row["ll"]) for row in found} for (method,), found in grouped(group, "method").items()}
        if len(values) < 3:
            continue
        splits = [split for split in values["map"] if split in values["vogn"] and split in values["ivon"]]
        lists = {method: [-of_method[split] for split in splits] for method, of_method in values.items()}

        def difference(method, lists=lists):
            value, error = mean_and_error([a - b for a, b in zip(lists[method], lists["map"])])
            return f"{value:+.3f} ± {error:.3f}"

        yield [name, len(splits), *(f"{mean_and_error(lists[m])[0]:.3f}" for m in ("map", "vogn", "ivon")), difference("vogn"), difference("ivon")]


def all_tables(folder):
    predictions = read(folder, "predictions")
    for (network,), rows in grouped(read(folder, "networks"), "network").items():
        yield network, HEAD, network_lines(rows, [row for row in predictions if row["network"] == network])
    for (pair,), rows in grouped(read(folder, "outside"), "pair").items():
        yield f"outside-{pair}", OUTSIDE_HEAD, outside_lines(rows)
    for name, head, lines in (("tuning", TUNING_HEAD, tuning_lines), ("effects", EFFECT_HEAD, effect_lines), ("continual", CONTINUAL_HEAD, continual_lines),
                              ("defaults", DEFAULT_HEAD, default_lines), ("uci", UCI_HEAD, uci_lines)):
        if rows := read(folder, name):
            yield name, head, lines(rows)


if __name__ == "__main__":
    publish({name: table(head, lines) for name, head, lines in all_tables(sys.argv[1])}, *sys.argv[2:3])
