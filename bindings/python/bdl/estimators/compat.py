"""What changes between versions of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    from sklearn.utils.validation import validate_data  # since 1.6
except ImportError:

    def validate_data(estimator: Any, X: Any = "no_validation", y: Any = "no_validation", **checks: Any) -> Any:
        return estimator._validate_data(X, y, **checks)


# These the library reads in place; scikit-learn converts others to the first.
READ_IN_PLACE = [np.float64, np.float32, np.uint8]


def validated_inputs(estimator: Any, X: Any) -> np.ndarray:
    """X for a fitted estimator, not copied where the library can read it."""
    return validate_data(estimator, X, dtype=READ_IN_PLACE, reset=False)


def validated_data(estimator: Any, X: Any, y: Any, reset: bool) -> tuple[np.ndarray, np.ndarray]:
    """X and y of any number of columns, not copied where the library can read them."""
    return validate_data(estimator, X, y, dtype=READ_IN_PLACE, multi_output=True, reset=reset)
