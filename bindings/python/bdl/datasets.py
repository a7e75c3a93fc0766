"""Small data sets of the documentation, which come with the package.

>>> from bdl import datasets
>>> X, y = datasets.load_yacht(return_X_y=True)
>>> X.shape
(308, 6)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

__all__ = ["load_co2", "load_motorcycle", "load_yacht"]


def _table(name: str, **options: Any) -> np.ndarray:
    return np.loadtxt(Path(__file__).parent / "data" / f"{name}.csv", delimiter=",", **options)


def _bunch(table: np.ndarray, features: list[str], target: str, description: str, return_X_y: bool) -> Any:
    X, y = np.ascontiguousarray(table[:, :-1]), table[:, -1].copy()
    if return_X_y:
        return X, y
    return Bunch(data=X, target=y, feature_names=features, target_names=[target], DESCR=description)


def load_yacht(*, return_X_y: bool = False) -> Any:
    """Returns the resistance of 308 model yachts in a towing tank (Gerritsma, Onnink and Versluis; UCI, CC BY 4.0).

    Six features describe the hull and its speed; the target is the residuary resistance per unit weight of displacement, in
    thousandths. 22 hulls were towed at 14 speeds each.

    >>> yacht = bdl.datasets.load_yacht()
    >>> yacht.feature_names[-1]
    'Froude number'
    """
    features = [
        "buoyancy position", "prismatic coefficient", "length-displacement ratio", "beam-draught ratio", "length-beam ratio",
        "Froude number",
    ]  # fmt: skip
    return _bunch(_table("yacht"), features, "residuary resistance", load_yacht.__doc__ or "", return_X_y)


def load_motorcycle(*, return_X_y: bool = False) -> Any:
    """Returns 133 head accelerations in simulated motorcycle crashes (Silverman 1985).

    The feature is the time after the impact in milliseconds, the target the acceleration in units of g. The noise is small
    before 14 ms and large afterwards.

    >>> X, y = bdl.datasets.load_motorcycle(return_X_y=True)
    >>> X.shape, y.min()
    ((133, 1), -134.0)
    """
    return _bunch(_table("motorcycle"), ["time in ms"], "acceleration in g", load_motorcycle.__doc__ or "", return_X_y)


def load_co2() -> Any:
    """Returns weekly CO2 concentrations at Mauna Loa from March 1958 to December 2001 (Keeling and Whorf 2004, public domain).

    ``date`` holds 2,284 dates (``datetime64[D]``), ``co2`` the concentrations in parts per million, NaN in the 59 weeks without
    a measurement.

    >>> co2 = bdl.datasets.load_co2()
    >>> co2.date[0], co2.co2[0], int(np.isnan(co2.co2).sum())
    (numpy.datetime64('1958-03-29'), 316.1, 59)
    """
    rows = _table("co2", dtype=str)
    return Bunch(date=rows[:, 0].astype("datetime64[D]"), co2=rows[:, 1].astype(float), DESCR=load_co2.__doc__ or "")
