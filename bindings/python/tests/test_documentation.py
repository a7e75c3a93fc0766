"""Examples in docstrings, and the quickstart."""

import doctest
import importlib
import inspect
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


@pytest.mark.parametrize("name", ["bdl", *(name for name in modules if name != "bdl.mpi")])
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_docstrings_of_mpi():
    """MPI starts, and so has a process of its own."""
    try:
        bdl.mpi._library()
        importlib.import_module("mpi4py")
    except (bdl.UnsupportedError, ImportError) as error:
        pytest.skip(str(error))
    program = "import bdl, doctest; raise SystemExit(doctest.testmod(bdl.mpi).failed)"
    subprocess.run([sys.executable, "-c", program], check=True)


def public(module):
    """Names and objects without an underscore, of the package or defined in one of its modules."""
    for name in dir(module):
        found = getattr(module, name)
        home = getattr(found, "__module__", None) or ""
        if not name.startswith("_") and home.startswith(module.__name__) and (inspect.isclass(found) or inspect.isroutine(found)):
            yield f"{module.__name__}.{name}", found


def members(name, kind):
    """Methods and properties of a class, and the fields of a named tuple, that this package defines."""
    for base in kind.__mro__:
        for member, found in vars(base).items() if base.__module__.startswith("bdl") else ():
            is_own = isinstance(found, (property, classmethod, staticmethod)) or callable(found) or member in getattr(base, "_fields", ())
            if not member.startswith("_") and is_own:
                yield f"{name}.{member}", found


def has_example(text):
    return ">>>" in (text or "")


public_modules = [bdl, bdl.datasets, bdl.estimators, bdl.metrics, bdl.mpi, bdl.networks, bdl.plots, bdl.communicator, bdl.search]
names = {name: found for module in public_modules for name, found in public(module) if name != "bdl.communicator.owned"}


@pytest.mark.parametrize("name", names)
def test_public_names_have_examples(name):
    """Each has one in its docstring; a property or field may have it in that of its class, by name."""
    found = names[name]
    assert has_example(inspect.getdoc(found))
    if not inspect.isclass(found):
        return
    examples = "\n".join(example.source for example in doctest.DocTestParser().get_examples(inspect.getdoc(found)))
    for full_name, member in members(name, found):
        is_value = isinstance(member, property) or not callable(getattr(member, "__func__", member))
        by_class = is_value and re.search(rf"\b{full_name.split('.')[-1]}\b", examples)
        assert by_class or has_example(inspect.getdoc(getattr(member, "__func__", member))), full_name


def test_docstrings_are_sentences():
    """The first line of each ends with a period or a colon, and does not begin with a preposition."""
    for name, found in names.items():
        pairs = [(name, found), *(members(name, found) if inspect.isclass(found) else ())]
        for full_name, member in pairs:
            text = inspect.getdoc(getattr(member, "__func__", member)) or ""
            first = " ".join(text.split("\n\n")[0].split())
            if not isinstance(member, property) and not callable(getattr(member, "__func__", member)):
                continue  # fields: their class describes them
            assert first.endswith((".", ":")), full_name
            assert first.split()[0] not in ("As", "Of", "What", "That", "Its", "Their", "Whether", "How"), full_name


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


def test_digits(tmp_path):
    run = subprocess.run([sys.executable, examples / "digits.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stderr == ""
    accuracy, sure = run.stdout.splitlines()
    assert float(accuracy.removeprefix("test accuracy ")) > 0.9
    assert re.fullmatch(r"sure of \d+\.\d % of the test images, right on 9\d\.\d % of these", sure)
