"""Random samples of y, of one posterior or of the members of an ensemble."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..predict import predict_draws


def drawn(handles: Any, x: np.ndarray, n_samples: int, seed: int, method: str, of: str = "y") -> np.ndarray:
    """Returns samples in the last dimension, of the members of an ensemble in turn."""
    count = len(handles[0]) if isinstance(handles[0], list) else 1
    each = -(-n_samples // count)
    draws = predict_draws(*handles, x, each, seed, method, of)
    in_turn = draws.reshape(*draws.shape[:2], count, each).swapaxes(2, 3)
    return in_turn.reshape(draws.shape)[:, :, :n_samples]
