"""Fills a CSV file with the scorecard: a row for each method, set, depth, number of epochs and seed, as soon as it is known.
Rows that are there are not computed again. main.py --help has the flags; run.sh sets it up."""
import argparse
import csv
import multiprocessing
import multiprocessing.connection
import os
import pathlib
import sys
import time

for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # processes are what runs in parallel
    os.environ.setdefault(threads, "1")

import design  # noqa: E402
import held_back  # noqa: E402
import learners  # noqa: E402
import sets  # noqa: E402

KEYS = list(design.Run._fields)
COLUMNS = [*KEYS, "kind", "rows", "inputs", "status", "constant", "log_likelihood", "coverage50", "coverage90", "coverage95",
           "rmse", "accuracy", "ece", "gap", "far", "seconds", "note"]
LIMIT = 900  # seconds of one run


def listed(text):
    return text.split(",")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="the folder BDL_DATA")
    parser.add_argument("--results", required=True, type=pathlib.Path, help="the CSV file")
    parser.add_argument("--sets", type=listed, help="names of sets.py (or held_back.py), separated by commas")
    parser.add_argument("--methods", type=listed, default=[*learners.METHODS, *learners.PEERS])
    parser.add_argument("--held-back", action="store_true", help="run the sets of held_back.py instead")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds, after which nothing new begins")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--again", action="store_true", help="compute failed rows again")
    parser.add_argument("--quick", action="store_true", help="a few runs, to see that everything works")
    given = parser.parse_args()
    given.known = held_back.HELD_BACK if given.held_back and not given.quick else sets.SETS
    given.sets = given.sets or list(given.known)
    for what, known in (("sets", given.known), ("methods", [*learners.METHODS, *learners.PEERS])):
        for name in getattr(given, what):
            if name not in known:
                parser.error(f"--{what}: there is no {name!r}, expected some of {','.join(known)}")
    return given


def done(path, again):
    """Returns the keys of the rows that the file has; writes its head if there is none."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {tuple(row[key] for key in KEYS) for row in rows if not (again and row["status"] == "failed")}


def planned(given):
    finished = done(given.results, given.again)
    everything = design.quick(given.known) if given.quick else design.runs(given.known)
    return [run for run in everything if run.set in given.sets and run.method in given.methods
            and tuple(map(str, run)) not in finished]


def work(run, entry, pipe):
    task = entry.read(run.set, run.seed)
    pipe.send(learners.score(run.method, task, entry.kind, run.depth, run.times, run.seed + 1))


class Worker:
    """One run in a process of its own, so that a crash is a row as well."""

    def __init__(self, run, entry):
        self.run, self._kind, self._end, self._is_late = run, entry.kind, time.monotonic() + LIMIT, False
        self.pipe, other = multiprocessing.Pipe(duplex=False)
        self._process = multiprocessing.Process(target=work, args=(run, entry, other))
        self._process.start()
        other.close()

    def row(self):
        try:
            result = self.pipe.recv()
        except EOFError:
            self._process.join()
            code = self._process.exitcode
            note = f"took longer than {LIMIT} s" if self._is_late else f"the process ended with code {code}"
            result = {"status": "failed", "note": note}
        self._process.join()
        return {**self.run._asdict(), "kind": self._kind, **result}

    def end_if_late(self):
        """Ends a run that takes too long; its row then says so."""
        if time.monotonic() > self._end:
            self._is_late = True
            self._process.kill()


def rows_of(runs, given):
    """Rows as they come."""
    end, running, left = time.monotonic() + given.budget, [], list(reversed(runs))
    while left or running:
        while left and len(running) < given.jobs and time.monotonic() < end:
            run = left.pop()
            if run.method in learners.PEERS:
                import_peers()
            running.append(Worker(run, given.known[run.set]))
        if not running:
            print(f"the budget is used up, {len(left)} runs are left: the same command goes on from here", file=sys.stderr)
            return
        ready = multiprocessing.connection.wait([worker.pipe for worker in running], 1.0)
        for worker in running[:]:
            worker.end_if_late()
            if worker.pipe in ready:
                running.remove(worker)
                yield worker.row()


def import_peers():
    """Imports torch once, for all processes that are begun from here on."""
    for package in ("torch", "ivon", "laplace"):
        try:
            __import__(package)
        except ImportError:
            pass


def shown(value):
    return f"{value:.6g}" if isinstance(value, float) else value


def main():
    given = arguments()
    sets.use_folder(given.data)
    runs = planned(given)
    print(f"{len(runs)} runs", file=sys.stderr)
    with open(given.results, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        for row in rows_of(runs, given):
            writer.writerow({key: shown(value) for key, value in row.items()})
            file.flush()
            told = [row["method"], row["set"], row["depth"], row["times"], row["seed"], row["status"]]
            print(*told, shown(row.get("log_likelihood", "")), shown(row.get("seconds", "")), row["note"][:80], file=sys.stderr)


if __name__ == "__main__":
    main()
