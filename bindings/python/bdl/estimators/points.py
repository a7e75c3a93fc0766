"""Messages about methods that find a point, which has no covariance."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from ..optimizer import Optimizer

if TYPE_CHECKING:
    from .base import BayesianEstimator


def no_covariance(optimizer: Optimizer) -> str:
    return f"method {optimizer.method!r} finds a point, which has no covariance: method 'laplace', or that by default, finds one"


def warn_of_point(estimator: BayesianEstimator, stacklevel: int = 3) -> None:
    """Warns that a result is NaN because the posterior is a point."""
    if not estimator.posterior_.has_covariance:
        warnings.warn(f"NaN: {no_covariance(estimator.optimizer_)}", stacklevel=stacklevel)
