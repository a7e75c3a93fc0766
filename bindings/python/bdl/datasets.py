"""Small data sets for examples, which come with the package.

>>> import bdl
>>> X, y = bdl.datasets.load_yacht(return_X_y=True)
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
    """Returns the resistance of model yachts in 308 towing runs.

    Six features describe the hull and its speed. The target is the residuary resistance per unit weight of
    displacement, in thousandths. 22 hulls were towed at 14 speeds each. Source: Gerritsma, Onnink and
    Versluis; UCI, CC BY 4.0.

    Parameters
    ----------
    return_X_y : bool, default=False
        True: return the arrays (X, y) in place of an object with ``data``, ``target``, ``feature_names``,
        ``target_names`` and ``DESCR``.

    Examples
    --------
    >>> import bdl
    >>> bdl.datasets.load_yacht().feature_names[-1]
    'Froude number'
    """
    features = [
        "buoyancy position", "prismatic coefficient", "length-displacement ratio", "beam-draught ratio", "length-beam ratio",
        "Froude number",
    ]  # fmt: skip
    return _bunch(_table("yacht"), features, "residuary resistance", load_yacht.__doc__ or "", return_X_y)


def load_motorcycle(*, return_X_y: bool = False) -> Any:
    """Returns 133 head accelerations in simulated motorcycle crashes.

    The feature is the time after the impact in milliseconds, the target the acceleration in units of g. The
    noise is small before 14 ms and large afterwards. Source: Silverman 1985.

    Parameters
    ----------
    return_X_y : bool, default=False
        True: return the arrays (X, y) in place of an object with ``data``, ``target``, ``feature_names``,
        ``target_names`` and ``DESCR``.

    Examples
    --------
    >>> import bdl
    >>> X, y = bdl.datasets.load_motorcycle(return_X_y=True)
    >>> X.shape, float(y.min())
    ((133, 1), -134.0)
    """
    return _bunch(_table("motorcycle"), ["time in ms"], "acceleration in g", load_motorcycle.__doc__ or "", return_X_y)


def load_co2() -> Any:
    """Returns weekly CO2 concentrations at Mauna Loa from March 1958 to December 2001.

    ``date`` holds 2,284 dates, ``co2`` the concentrations in parts per million, NaN in the 59 weeks without
    a measurement. Source: Keeling and Whorf 2004, public domain.

    >>> import bdl, numpy as np
    >>> co2 = bdl.datasets.load_co2()
    >>> print(co2.date[0], co2.co2[0], np.isnan(co2.co2).sum())
    1958-03-29 316.1 59
    """
    rows = _table("co2", dtype=str)
    return Bunch(date=rows[:, 0].astype("datetime64[D]"), co2=rows[:, 1].astype(float), DESCR=load_co2.__doc__ or "")
