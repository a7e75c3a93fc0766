"""Adapters for differences between versions of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dataset import Dataset

try:
    from sklearn.utils.validation import validate_data  # since 1.6
except ImportError:

    def validate_data(estimator: Any, X: Any = "no_validation", y: Any = "no_validation", **checks: Any) -> Any:
        return estimator._validate_data(X, y, **checks)


# A check of scikit-learn (before 1.6) whose rows without weight stand between the others: minibatches depend on their order.
FAILS_BY_ORDER = {"check_sample_weights_invariance": "minibatches depend on the order of the rows, which the check changes"}

# These the library reads in place; scikit-learn converts others to the first.
READ_IN_PLACE = [np.float64, np.float32, np.uint8]


def validated_inputs(estimator: Any, X: Any) -> np.ndarray:
    """Returns X for a fitted estimator, without a copy if libbdl can read it."""
    return validate_data(estimator, X, dtype=READ_IN_PLACE, reset=False)


def validated_data(estimator: Any, X: Any, y: Any, reset: bool) -> tuple[np.ndarray, np.ndarray]:
    """X and y of any number of columns, not copied where the library can read them. A data set, which has both, is
    both."""
    if isinstance(X, Dataset):
        return _validated_dataset(estimator, X, y, reset)
    return validate_data(estimator, X, y, dtype=READ_IN_PLACE, multi_output=True, reset=reset)


def _validated_dataset(estimator: Any, data: Dataset, y: Any, reset: bool) -> tuple[Any, Any]:
    """Checks the columns of a data set; its values are checked when they are read."""
    data._alone(y)
    inputs = data.inputs - data.offsets
    if data.targets == 0:
        raise ValueError("the data set has no y, which training requires: create it with x and y")
    if reset:
        estimator.n_features_in_ = inputs
        vars(estimator).pop("feature_names_in_", None)
    elif inputs != estimator.n_features_in_:
        raise ValueError(
            f"X has {inputs} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} features as input"
        )
    return data, data


def arrays_of(estimator: Any, X: Any, y: Any, reset: bool, what: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns X and y as validated_data() does. Fails for a data set."""
    if isinstance(X, Dataset):
        raise TypeError(f"{what} takes arrays, X is a data set: pass arrays, such as X, y = data.read(range(len(data)))")
    return validated_data(estimator, X, y, reset)
