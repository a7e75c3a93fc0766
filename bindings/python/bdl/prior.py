"""Normal priors in the user's units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import InvalidArgumentError, brief


@dataclass(frozen=True)
class Normal:
    """A normal prior: its location and its scale, a standard deviation; :func:`bdl.normal` makes one.

    >>> import bdl
    >>> prior = bdl.normal(0, 2.5)
    >>> prior, prior.location, prior.scale
    (normal(0, 2.5), 0, 2.5)
    """

    location: Any
    scale: Any

    def __repr__(self) -> str:
        return f"normal({brief(self.location)}, {brief(self.scale)})"


def normal(location: Any = 0.0, scale: Any = 1.0) -> Normal:
    """Returns the normal prior N(location, scale^2), for the parameter ``prior`` of estimators.

    Parameters
    ----------
    location : float or array, default=0.0
        Location, one for all or one for each feature.
    scale : float or array, default=1.0
        Standard deviation, one for all or one for each feature: positive. ``numpy.inf`` is a flat prior, and NaN
        leaves the prior of the options, which training may learn.

    Examples
    --------
    >>> import bdl
    >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
    >>> prior = {"x5": bdl.normal(15, 1), "intercept": bdl.normal(0, 10)}
    >>> glm = bdl.BayesianGLM(prior=prior).fit(X, y)
    >>> bool(glm.coef_std_[5] < 1)
    True
    """
    for name, value in ("location", location), ("scale", scale):
        try:
            numbers = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise InvalidArgumentError(f"{name} is {brief(value)}, expected a number, or one for each feature") from None
        if numbers.ndim > 1:
            raise InvalidArgumentError(f"{name} has shape {numbers.shape}, expected a number, or one for each feature")
        if name == "location" and not np.isfinite(numbers).all():
            raise InvalidArgumentError(f"location is {brief(value)}, expected finite numbers")
        if name == "scale" and (numbers <= 0).any():
            raise InvalidArgumentError(
                f"scale is {brief(value)}, expected positive numbers: it is a standard deviation, numpy.inf for a flat prior"
            )
    return Normal(location, scale)
