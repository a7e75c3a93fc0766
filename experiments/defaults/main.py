"""Fills a CSV file with the table of defaults: a row for each data set, split and method, as soon as it is known. Rows
that are there are not computed again. main.py --help has the flags; run.sh sets it up."""
import argparse
import csv
import multiprocessing
import os
import pathlib
import sys
import time

for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # processes are what runs in parallel
    os.environ.setdefault(threads, "1")

import datasets  # noqa: E402
import methods  # noqa: E402

KEYS = ["set", "split", "method"]
COLUMNS = [*KEYS, "rows", "inputs", "log_likelihood", "rmse", "coverage50", "coverage90", "coverage95", "accuracy", "ece",
           "fit_seconds", "predict_seconds", "note"]


def listed(text):
    return text.split(",")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="the folder BDL_DATA")
    parser.add_argument("--results", required=True, type=pathlib.Path, help="the CSV file")
    parser.add_argument("--datasets", type=listed, default=datasets.NAMES, help=",".join(datasets.NAMES))
    parser.add_argument("--methods", type=listed, default=list(methods.METHODS), help=",".join(methods.METHODS))
    parser.add_argument("--splits", type=int, default=20, help="at most so many of each set")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds, after which nothing new begins")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--again", action="store_true", help="run failures again")
    parser.add_argument("--quick", action="store_true", help="short training, to see that everything works")
    given = parser.parse_args()
    for what, known in (("datasets", datasets.NAMES), ("methods", methods.METHODS)):
        for name in getattr(given, what):
            if name not in known:
                parser.error(f"--{what}: there is no {name!r}, expected some of {','.join(known)}")
    return given


def done(path, again):
    """What the file has; writes its head if there is none."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {tuple(row[key] for key in KEYS) for row in rows if not (again and row["note"].startswith("failed"))}


def planned(given, finished):
    """Jobs in order: cheap sets first, and of them every set's first split before any second."""
    for tier in datasets.TIERS:
        for split in range(given.splits):
            for name in tier:
                if name in given.datasets and split < datasets.SPLITS[name]:
                    yield from ((name, split, method) for method in methods.METHODS if method in given.methods
                                and (name, str(split), method) not in finished)


def begin(folder, quick):
    global sets, is_quick
    sets, is_quick = datasets.Sets(folder), quick


def work(job):
    name, split, method = job
    rows = sets.split(name, split)
    result = methods.run(method, rows, split + 1, is_quick)
    return dict(zip(KEYS, job)) | {"rows": len(rows.y), "inputs": rows.x.shape[1]} | result


def within(jobs, end):
    """The jobs, until the time is over."""
    for job in jobs:
        if time.monotonic() > end:
            print("the budget is used up: the same command goes on from here", file=sys.stderr)
            return
        yield job


def shown(value):
    return f"{value:.6g}" if isinstance(value, float) else value


def answers(jobs, given):
    """Results as they come. Jobs are handed out one at a time, so that a budget ends with those under way."""
    with multiprocessing.Pool(given.jobs, begin, (given.data, given.quick)) as pool:
        running = []
        for job in jobs:
            running.append(pool.apply_async(work, (job,)))
            while len(running) >= given.jobs:
                yield from take_ready(running)
        while running:
            yield from take_ready(running)


def take_ready(running):
    ready = [result for result in running if result.ready()]
    running[:] = [result for result in running if result not in ready]
    yield from (result.get() for result in ready)
    if not ready:
        time.sleep(0.02)


def main():
    given = arguments()
    finished = done(given.results, given.again)
    jobs = within(planned(given, finished), time.monotonic() + given.budget)
    with open(given.results, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        for row in answers(jobs, given):
            writer.writerow({key: shown(value) for key, value in row.items()})
            file.flush()
            told = [row[key] for key in KEYS] + [shown(row.get(key, "-")) for key in ("log_likelihood", "fit_seconds")]
            print(*told, row["note"][:80], file=sys.stderr)


if __name__ == "__main__":
    main()
