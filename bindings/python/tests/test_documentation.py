"""Examples in docstrings, and the quickstart."""

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bdl

modules = [found.name for found in pkgutil.walk_packages(bdl.__path__, "bdl.") if not found.name.endswith("_lowlevel")]
examples = Path(__file__).parents[3] / "examples"
quickstart = examples / "quickstart.py"


@pytest.mark.parametrize("name", ["bdl", *modules])
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.skipif(not quickstart.exists(), reason="not in the source tree")
def test_quickstart(tmp_path):
    run = subprocess.run([sys.executable, quickstart], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stderr == ""
    number = r"-?\d+\.\d{3}"
    expected = [
        rf"test RMSE {number}  log likelihood {number}  \(in the target's units\)",
        *[rf"{percent} % intervals hold \d+ % of the test targets" for percent in (50, 90, 95)],
        rf"learned noise: standard deviations from {number} to {number}",
    ]
    lines = run.stdout.splitlines()
    assert len(lines) == len(expected) and all(map(re.fullmatch, expected, lines)), run.stdout
    assert float(lines[0].split()[2]) < 1.2


@pytest.mark.skipif(not quickstart.exists(), reason="not in the source tree")
def test_digits(tmp_path):
    run = subprocess.run([sys.executable, examples / "digits.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stderr == ""
    accuracy, sure = run.stdout.splitlines()
    assert float(accuracy.removeprefix("test accuracy ")) > 0.9
    assert re.fullmatch(r"sure of \d+\.\d % of the test images, right on 9\d\.\d % of these", sure)
