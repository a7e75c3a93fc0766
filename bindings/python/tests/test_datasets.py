"""Data sets in place of arrays: the same results wherever rows come from."""

import numpy as np
import pytest

import bdl


def learner(n, **options):
    model = bdl.Model.mlp([2, 3, 1])
    q = bdl.Posterior.low_rank(model.parameters, 2)
    return bdl.Optimizer(model, q, "slang-ggn", n, minibatch=16, seed=4, **options)


@pytest.fixture
def data(rng):
    x = rng.normal(size=(100, 2))
    return x, x @ [1.0, -2.0] + 0.1 * rng.normal(size=100)


def trained_on(*data, standardized=True):
    optimizer = learner(100)
    if standardized:
        optimizer.model.standardize(*data)
    assert optimizer.fit(*data, epochs=3)
    return optimizer


def sources(x, y, tmp_path):
    np.save(tmp_path / "x.npy", np.asfortranarray(x))
    np.save(tmp_path / "y.npy", y)
    yield bdl.Dataset(x, y)
    yield bdl.Dataset(x.tolist(), y.tolist())
    yield bdl.Dataset(np.load(tmp_path / "x.npy", mmap_mode="r"), np.load(tmp_path / "y.npy", mmap_mode="r"))
    yield bdl.Dataset.from_npy(tmp_path / "x.npy", str(tmp_path / "y.npy"))
    yield bdl.Dataset.from_callable(lambda rows: (x[rows], y[rows]), 100)


def test_rows_have_the_bits_of_arrays(data, tmp_path):
    expected = trained_on(*data)
    for source in sources(*data, tmp_path):
        assert (len(source), source.rows, source.inputs, source.targets) == (100, 100, 2, 1)
        optimizer = trained_on(source)
        assert np.array_equal(optimizer.posterior.mean, expected.posterior.mean)
        assert optimizer.elbo(source, samples=3).value == pytest.approx(expected.elbo(*data, samples=3).value, rel=1e-12)
        x, y = source.read([7, 0])
        assert np.array_equal(x, data[0][[7, 0]]) and np.array_equal(y[:, 0], data[1][[7, 0]])
        optimizer.laplace(source)


def test_other_types_are_read_by_index(data):
    x, y = np.round(data[0] * 10).astype(np.int16), np.round(data[1]).astype(np.int64)
    expected = trained_on(x.astype(float), y.astype(float))
    assert np.array_equal(trained_on(bdl.Dataset(x, y)).posterior.mean, expected.posterior.mean)

    class OnlyInOrder:
        """As HDF5 files are."""

        dtype = np.dtype(np.float16)

        def __len__(self):
            return 100

        def __getitem__(self, rows):
            assert np.all(np.diff(rows) > 0)
            return x[rows]

    assert np.array_equal(trained_on(bdl.Dataset(OnlyInOrder(), y)).posterior.mean, expected.posterior.mean)


def test_safetensors(data, tmp_path):
    x, y = data
    header = b'{"x":{"dtype":"F64","shape":[100,2],"data_offsets":[0,1600]},"y":{"dtype":"F64","shape":[100],"data_offsets":[1600,2400]}}'
    header += b" " * (-len(header) % 8)
    (tmp_path / "data").write_bytes(len(header).to_bytes(8, "little") + header + x.tobytes() + y.tobytes())
    source = bdl.Dataset.from_safetensors(tmp_path / "data")
    assert np.array_equal(trained_on(source).posterior.mean, trained_on(x, y).posterior.mean)
    assert bdl.Dataset.from_safetensors(tmp_path / "data", y_name=None).targets == 0
    with pytest.raises(bdl.FormatError, match="no tensor 'z'"):
        bdl.Dataset.from_safetensors(tmp_path / "data", "z")


def test_exceptions_come_out_and_training_goes_on(data):
    x, y = data
    calls = []

    def read(rows):
        calls.append(len(rows))
        if len(calls) == 6:
            raise KeyError("the disk is full")
        return x[rows], y[rows]

    source = bdl.Dataset.from_callable(read, 100)
    optimizer = learner(100)
    with pytest.raises(KeyError, match="the disk is full"):
        optimizer.fit(source, epochs=3)
    assert 0 < optimizer.progress.step < 21
    assert optimizer.fit(source, epochs=0)
    assert np.array_equal(optimizer.posterior.mean, trained_on(*data, standardized=False).posterior.mean)


def test_what_is_wrong_is_said(data, tmp_path):
    x, y = data
    bad = x.copy()
    bad[42, 1] = np.nan
    with pytest.raises(bdl.NotFiniteError, match="x is not finite at row 42, column 1"):
        learner(100).fit(bdl.Dataset(bad, y))
    with pytest.raises(ValueError, match="shape"):
        learner(100).fit(bdl.Dataset.from_callable(lambda rows: (x[:1], y[:1]), 100))
    with pytest.raises(TypeError, match="its own"):
        learner(100).fit(bdl.Dataset(x, y), y)
    with pytest.raises(TypeError, match="callable"):
        bdl.Dataset.from_callable(3, 100)
    with pytest.raises(ValueError, match="y has 99 rows"):
        bdl.Dataset(x.astype(np.int16), y[:99])
    with pytest.raises(bdl.ShapeError, match="99 rows"):
        bdl.Dataset(x, y[:99])
    with pytest.raises(bdl.FileError):
        bdl.Dataset.from_npy(tmp_path / "none.npy")
    closed = bdl.Dataset(x, y)
    closed.close()
    with pytest.raises(bdl.InvalidArgumentError, match="closed"):
        learner(100).fit(closed)
    assert repr(bdl.Dataset(x, y)) == "<Dataset of 100 rows: 2 inputs, 1 targets>"


def test_a_billion_rows_take_no_memory():
    seen = []

    def read(rows):
        seen.extend(rows.tolist())
        x = np.sin(np.outer(rows, [1.0, 3.0]))
        return x, x @ [1.0, -2.0]

    source = bdl.Dataset.from_callable(read, 10**9)
    source.set_block(10**6, 2)
    optimizer = learner(10**9, progress_every=1, scales="samples")  # the evidence looks at rows of all blocks
    optimizer.model.noise_precision = 100.0
    assert not optimizer.fit(source, progress=lambda o: o.progress.step >= 30)
    assert len(set(row // 10**6 for row in seen[1:])) == 2 and max(seen) < 10**9


def test_arrays_live_as_long_as_the_data_set(data):
    source = bdl.Dataset(data[0].copy(), data[1].copy())
    junk = [np.zeros(200) for _ in range(1000)]
    assert np.array_equal(source.read(range(100))[0], data[0]) and len(junk) == 1000
