"""Data that the tests share."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")


def pytest_configure(config):
    """Most fits here are short, and say so; tests of what they say ask for it."""
    config.addinivalue_line("filterwarnings", "ignore::sklearn.exceptions.ConvergenceWarning")
    config.addinivalue_line("filterwarnings", "ignore:.* is a baseline for:UserWarning")


@pytest.fixture
def rng():
    return np.random.default_rng(20)


@pytest.fixture
def curve():
    """One input, a sine with noise of standard deviation 0.2: 240 rows."""
    rng = np.random.default_rng(1)
    x = rng.uniform(-2, 2, (240, 1))
    return x, np.sin(2 * x[:, 0]) + 0.2 * rng.normal(size=240)


@pytest.fixture
def plane():
    """Three inputs of different units and a linear target: 200 rows."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(200, 3)) * [1, 10, 0.1] + [0, 5, 2]
    return x, 100 + x @ [2.0, -0.5, 30.0] + rng.normal(size=200)


@pytest.fixture
def blobs():
    """Three classes in two dimensions, with names: 150 rows."""
    rng = np.random.default_rng(3)
    centers = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    number = rng.integers(3, size=150)
    return centers[number] + rng.normal(size=(150, 2)), np.array(["blue", "green", "red"])[number]
