"""Arrays of every layout are read in place, and give identical results."""

import array
import subprocess
import sys

import numpy as np
import pytest

import bdl
from bdl import arrays


def strided(x):
    wide = np.full((x.shape[0] * 2, x.shape[1] * 3), 99, dtype=x.dtype)
    wide[::2, ::3] = x
    return wide[::2, ::3]


def reversed_rows(x):
    return np.ascontiguousarray(x[::-1])[::-1]


def reversed_columns(x):
    return np.ascontiguousarray(x[:, ::-1])[:, ::-1]


def field(x):
    """A column of records: strides that are no multiple of the rows' size."""
    records = np.zeros(len(x), dtype=[("before", x.dtype), ("x", x.dtype, (x.shape[1],)), ("after", x.dtype)])
    records["x"] = x
    return records["x"]


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


def odd_strides(x):
    rows = b"".join(b"abc" + row.tobytes() for row in x)
    return np.ndarray(x.shape, x.dtype, rows, 3, (3 + x.itemsize * x.shape[1], x.itemsize))


layouts = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "strided": strided,
    "reversed rows": reversed_rows,
    "reversed columns": reversed_columns,
    "field": field,
    "read-only": read_only,
}
conversions = {
    "big-endian": lambda x: x.astype(x.dtype.newbyteorder(">")),
    "list": lambda x: x.tolist(),
    "odd strides": odd_strides,
    "object": lambda x: x.astype(object),
}


@pytest.fixture
def data(rng):
    """Numbers that float32 holds exactly."""
    x = rng.integers(-1000, 1000, (40, 3)) / 256
    return x, x @ [1.0, 2.0, 3.0]


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1"])
@pytest.mark.parametrize("layout", layouts)
def test_no_copy(data, layout, dtype):
    x = layouts[layout](np.abs(data[0] * 256 % 200).astype(dtype))
    seen = arrays.matrix(x, "x")
    assert seen.__array_interface__["data"] == x.__array_interface__["data"]
    assert seen.strides == x.strides and np.shares_memory(seen, x)


@pytest.mark.parametrize("layout", [*layouts, *conversions])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_same_bits(data, layout, dtype):
    make = {**layouts, **conversions}[layout]

    def results(x, y):
        model = bdl.Model.mlp([3, 4, 1], dtype={"f4": "float32", "f8": "float64"}[dtype])
        model.standardize(x, y)
        optimizer = bdl.Optimizer(model, bdl.Posterior.low_rank(21, 2, model.dtype), "slang-ggn", 40)
        optimizer.fit(x, y, 3)
        optimizer.step(x, y)
        q = optimizer.posterior
        return [*model.standardization, q.mean, q.variance, bdl.predict(model, q, x).mean, model.jacobian(q.mean, x)]

    x, y = (part.astype(dtype) for part in data)
    for expected, found in zip(results(x, y), results(make(x), make(y[:, np.newaxis]))):
        assert np.array_equal(expected, found)


def test_types_of_buffers(data):
    x = array.array("d", data[0].ravel())
    model, theta = bdl.Model.mlp([3, 1]), array.array("f", [1, 2, 3, 4])
    expected = data[0] @ [1.0, 2.0, 3.0] + 4
    assert np.allclose(model.evaluate(theta, memoryview(x).cast("B").cast("d", (40, 3)))[:, 0], expected)
    for dtype in "?bhiqBHIQefdg":
        ones = np.ones((2, 3), dtype=dtype)
        assert np.array_equal(model.evaluate(theta, ones), [[10], [10]])


@pytest.mark.parametrize("dtype", ["i4", "i8", "u1", "f4", "f8", "?"])
def test_labels_of_any_type(data, dtype):
    y = (data[1] > 0).astype(dtype)
    model = bdl.Model.mlp([3, 1], likelihood="bernoulli")
    expected, found = (model.log_likelihood(np.ones(4), data[0], labels) for labels in (data[1] > 0, y))
    assert np.array_equal(expected, found)


def test_outputs_of_any_layout(data):
    model, theta = bdl.Model.mlp([3, 2]), np.arange(8.0)
    expected = model.evaluate(theta, data[0])
    for make in layouts.values():
        if make is not read_only:
            out = make(np.zeros((40, 2)))
            bdl.lowlevel.bdl_model_evaluate(model._handle, theta[np.newaxis], data[0], out)
            assert np.array_equal(out, expected)
    single = np.zeros((40, 2), dtype="f4")
    bdl.lowlevel.bdl_model_evaluate(model._handle, theta[np.newaxis], data[0], single)
    assert np.array_equal(single, expected.astype("f4"))


def test_nothing_is_written_to_inputs(data):
    x, y = data[0].copy(), data[1].copy()
    bdl.BayesianMLPRegressor(epochs=2).fit(x, y).predict(x)
    assert np.array_equal(x, data[0]) and np.array_equal(y, data[1])


@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_of_a_fit(order):
    """Training on 64 MB of float32 adds less than 30 MB, half of which are rows of a minibatch, whatever the order in memory."""
    code = """
import sys, numpy as np, bdl

def megabytes(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name)) / 1024

x = np.zeros((160_000, 100), dtype=np.float32, order=sys.argv[1])
x[::3] = 1
y = x[:, 0].copy()
regressor = bdl.BayesianMLPRegressor(hidden=(2,), epochs=1, options={"minibatch": 500})
regressor.fit(x[:500], y[:500])
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # the peak begins here
before = megabytes("VmRSS")
regressor.set_params(options={"minibatch": 5000}).fit(x, y)
print(megabytes("VmHWM") - before)
"""
    if not sys.platform.startswith("linux"):
        pytest.skip("memory is read from /proc")
    run = subprocess.run([sys.executable, "-c", code, order], capture_output=True, text=True, check=True)
    assert float(run.stdout) < 30, run.stdout


def test_images_are_rows(rng):
    """Images of shape (n, channels, rows, columns) are read in place if each is C-contiguous."""
    x = rng.integers(0, 256, (12, 2, 3, 4)).astype("u1")
    y = rng.integers(0, 2, 12)
    for images in (x, x[::2], x[::-1]):
        seen = arrays.matrix(images, "x")
        assert seen.shape == (len(images), 24) and np.shares_memory(seen, images)
        assert np.array_equal(seen, images.reshape(len(images), 24))
    last = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    assert np.array_equal(arrays.matrix(last, "x"), x.reshape(12, 24)) and arrays.matrix(last, "x").dtype == x.dtype
    with pytest.raises(ValueError, match=r"x has 3 dimensions, expected 2, or 4 of images"):
        arrays.matrix(x[0], "x")

    def results(x):
        model = bdl.Model.network("input 2 3 4; dense 2", "categorical")
        model.standardize(x)
        assert len(set(model.standardization.input_mean)) == 2
        q = bdl.Posterior.low_rank(model.parameters, 1)
        optimizer = bdl.Optimizer(model, q, "slang-ggn", len(x), augment_pad=1, augment_flip=1)
        optimizer.fit(x, y, 2)
        return np.append(q.mean, bdl.predict_classes(model, q, x).probabilities)

    assert np.array_equal(results(x), results(x.reshape(12, 24).astype("f8")))


def test_bytes_are_scaled():
    model = bdl.Model.network("input 1 2 2; dense 1")
    model.standardization = None, 255, None, None
    assert np.allclose(model.evaluate([1, 1, 1, 1, 0], np.array([[255, 51, 0, 0]], "u1")), [[1.2]])
