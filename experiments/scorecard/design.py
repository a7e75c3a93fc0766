"""Which runs make up the scorecard, in which order: not every method with every set, depth and number of epochs."""
from typing import NamedTuple

from learners import FULL, LINEAR_ONLY, METHODS, PEERS, STREAMS, VARIANTS

FULL_SETS = ("small-40", "motorcycle", "gap-sine", "moons")  # a full covariance of more inputs takes minutes
LINEAR_SETS = ("noise-100", "noisy-line", "diabetes", "moons")


class Run(NamedTuple):
    method: str
    set: str
    depth: int
    times: int
    seed: int


def takes_part(method, name, entry, depth, times):
    """True if a method is tried on a set with this depth and number of epochs."""
    if method in PEERS:
        return (depth, times) == (1, 1) and entry.kind in ("regression", "classes")
    if entry.is_stream:
        return method in ("default", "glm", *STREAMS) and not (method in FULL and name == "stream")
    if method in STREAMS:
        return False  # they learn each row once
    if method == "glm":
        return (depth, times) == (1, 1) and entry.kind != "images"
    if method in VARIANTS:
        is_for_numbers = "noise" in VARIANTS[method]
        return depth == 1 and entry.kind != "images" and not (is_for_numbers and entry.kind != "regression")
    if method in LINEAR_ONLY:
        return (depth, times) == (1, 1) and name in ("small-40", "iris")  # to see how a network is refused
    if method in FULL:
        return (depth, times) == (1, 1) and name in FULL_SETS
    return True


def of_set(method, name, entry):
    for depth in entry.depths:
        for times in entry.times:
            if (depth == 1 or times == 1) and takes_part(method, name, entry, depth, times):
                yield depth, times
    if name in LINEAR_SETS and method not in (*PEERS, *STREAMS) and method in (*FULL, *LINEAR_ONLY):
        yield 0, 1


def cost(run, entry):
    """The class of cost by which runs are ordered: depth 1 of small sets and streams, depth 2 and 3, larger sets, longer
    training, other libraries."""
    if run.method in PEERS:
        return 5 + entry.cost
    if run.method in FULL and run.depth > 0 and not entry.is_stream:
        return 4
    if run.times > 1:
        return max(3, entry.cost)
    return max(entry.cost, 1 if run.depth > 1 else 0)


def seeds(entry, depth, times):
    """Deeper networks and longer training are run with at most two seeds."""
    return range(entry.seeds if depth <= 1 and times == 1 else min(entry.seeds, 2))


def runs(sets):
    """All runs over these sets, cheap classes first, in a class method by method."""
    found = [Run(method, name, depth, times, seed)
             for method in (*METHODS, *PEERS) for name, entry in sets.items()
             for depth, times in of_set(method, name, entry) for seed in seeds(entry, depth, times)]
    return sorted(found, key=lambda run: cost(run, sets[run.set]))


def quick(sets):
    """One seed of one regression, one classification and two streams, with some methods."""
    names = ("small-40", "gap-sine", "iris", "stream-rows", "stream-classes-first-row")
    few = {name: sets[name]._replace(seeds=1) for name in names}
    return [run for run in runs(few) if run.depth <= 1 and run.times == 1 and run.method not in FULL]
