"""Fits that find a point."""

from __future__ import annotations

import numpy as np

from ..optimizer import Optimizer
from ..tables import describe_method


def is_point(optimizer: Optimizer) -> bool:
    """Has training found a point? Its method learns no covariance, and the posterior's is as it began. (Laplace's approximation
    gives such a fit one.)"""
    if describe_method(optimizer.method).prediction != "plug_in":
        return False
    return bool(np.allclose(optimizer.posterior.precision_diagonal, optimizer["initial_precision"], rtol=1e-6, atol=0))


def no_covariance(optimizer: Optimizer) -> str:
    return f"method {optimizer.method!r} finds a point, which has no covariance: method 'laplace', or that by default, finds one"
