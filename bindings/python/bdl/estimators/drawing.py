"""Random samples of y, of one posterior or of the members of an ensemble."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..predict import predict_draws


def drawn(handles: Any, x: np.ndarray, n_samples: int, seed: int, method: str) -> np.ndarray:
    """Returns samples in columns, of the members in turn."""
    models, _ = handles
    if not isinstance(models, list):
        return predict_draws(*handles, x, n_samples, seed, method)
    count = len(models)
    each = -(-n_samples // count)
    draws = predict_draws(*handles, x, each, seed, method)
    in_turn = draws.reshape(*draws.shape[:2], count, each).swapaxes(2, 3)
    return in_turn.reshape(draws.shape)[:, :, :n_samples]
