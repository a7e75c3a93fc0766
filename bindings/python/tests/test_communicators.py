"""Ranks as threads of one process, by an object that moves bytes."""

import threading

import numpy as np
import pytest

import bdl


class Threads:
    """Bytes by a board that all ranks write on: round by round, as all of them come by the same messages."""

    def __init__(self, size):
        self.barrier = threading.Barrier(size, timeout=20)
        self.board = [b""] * size


class Rank:
    def __init__(self, threads, rank, size):
        self.threads, self.rank, self.size = threads, rank, size

    def all_gather(self, message):
        self.threads.board[self.rank] = message
        self.threads.barrier.wait()
        messages = list(self.threads.board)
        self.threads.barrier.wait()
        return messages

    def exchange(self, peer, message):  # of two ranks, both exchange
        return self.all_gather(message)[peer]


def learner():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 3))
    y = x @ [1.0, -1.0, 0.5] + 0.1 * rng.normal(size=60)
    model = bdl.Model.mlp([3, 5, 1])
    posterior = bdl.Posterior.low_rank(model.parameters, rank=0)
    return bdl.Optimizer(model, posterior, "vogn", 60, minibatch=20, shards=2), x, y


def on_ranks(size, work):
    threads, results = Threads(size), [None] * size

    def run(rank):
        try:
            results[rank] = work(Rank(threads, rank, size))
        except BaseException as error:
            results[rank] = error

    running = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return results


def test_ranks_have_the_bits_of_one():
    alone, x, y = learner()
    alone.fit(x, y, epochs=3)

    def work(rank):
        optimizer, x, y = learner()
        ranks = bdl.Communicator(rank)
        assert (ranks.rank, ranks.size) == (rank.rank, 2)
        optimizer.set_communicator(ranks)
        optimizer.fit(x, y, epochs=3)
        assert ranks.statistics().received > 0
        return optimizer.posterior.mean

    for mean in on_ranks(2, work):
        np.testing.assert_array_equal(mean, alone.posterior.mean)


def test_other_ranks_name_the_failure():
    def work(rank):
        optimizer, x, y = learner()
        optimizer.set_communicator(bdl.Communicator(rank))
        if rank.rank == 1:
            x[45, 0] = np.nan
        optimizer.fit(x, y, epochs=1)

    first, second = on_ranks(2, work)
    assert isinstance(first, bdl.PeerError) and "process 1 of 2 has failed" in str(first)
    assert isinstance(second, bdl.NotFiniteError)


def test_ranks_on_data_sets_have_the_bits_of_one():
    alone, x, y = learner()
    alone.fit(x, y, epochs=3)
    asked = [set(), set()]

    def work(rank):
        def read(rows):
            asked[rank.rank].update(rows)
            return x[rows], y[rows]

        optimizer, _, _ = learner()
        optimizer.set_communicator(bdl.Communicator(rank))
        optimizer.fit(bdl.Dataset.from_callable(read, 60), epochs=3)
        return optimizer.posterior.mean

    for mean in on_ranks(2, work):
        np.testing.assert_array_equal(mean, alone.posterior.mean)
    assert asked == [set(range(30)), {0} | set(range(30, 60))]  # row 0 when the data set is made


@pytest.mark.parametrize("where", ["read", "progress"])
def test_exceptions_of_other_functions_reach_all_ranks(where):
    class Gone(Exception):
        pass

    def work(rank):
        def read(rows):
            if where == "read" and rows[-1] >= 30:
                raise Gone("no disk")
            return x[rows], y[rows]

        def progress(optimizer):
            if where == "progress":
                raise Gone("no screen")

        optimizer, x, y = learner()
        optimizer.set_communicator(bdl.Communicator(rank))
        try:
            optimizer.fit(bdl.Dataset.from_callable(read, 60), epochs=1, progress=progress)
        finally:
            optimizer.fit(x, y, epochs=1)  # the ranks have not lost each other

    results = on_ranks(2, work)
    failing = 1 if where == "read" else 0
    assert isinstance(results[failing], Gone)
    assert isinstance(results[1 - failing], bdl.PeerError) and f"process {failing} of 2 has failed" in str(results[1 - failing])


def test_exceptions_of_methods_come_out_as_they_were():
    class Lost(Exception):
        pass

    class Broken(Rank):
        def all_gather(self, message):
            raise Lost("no cable")

    optimizer, x, y = learner()
    optimizer.set_communicator(bdl.Communicator(Broken(Threads(1), 0, 1)))
    with pytest.raises(Lost, match="no cable"):
        optimizer.fit(x, y, epochs=1)
    with pytest.raises(bdl.CommunicationError, match="make a new communicator"):
        optimizer.fit(x, y, epochs=1)
    optimizer.set_communicator(None)
    optimizer.fit(x, y, epochs=1)


@pytest.mark.parametrize("messages", [[], [b"", b""], [b"short"], ["text"]])
def test_methods_that_return_something_else(messages):
    class Odd(Rank):
        def all_gather(self, message):
            return messages

    optimizer, x, y = learner()
    optimizer.set_communicator(bdl.Communicator(Odd(Threads(1), 0, 1)))
    with pytest.raises((ValueError, TypeError)):
        optimizer.fit(x, y, epochs=1)


def test_methods_that_do_not_shard_say_so():
    model = bdl.Model.mlp([3, 5, 1])
    optimizer = bdl.Optimizer(model, bdl.Posterior.low_rank(model.parameters, rank=0), "vd-ekf", 60)
    with pytest.raises(bdl.UnsupportedError, match="does not work on shards"):
        optimizer.set_communicator(bdl.Communicator(Rank(Threads(2), 0, 2)))
