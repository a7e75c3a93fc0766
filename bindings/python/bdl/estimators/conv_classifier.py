"""Classification by convolutional networks."""

from __future__ import annotations

from typing import Any, Sequence

from .conv import PARAMETERS, BayesianConv
from .network_classifier import CLASS_WEIGHT, NetworkClassifier, with_class_weight


class BayesianConvClassifier(NetworkClassifier, BayesianConv):
    __doc__ = f"""Classification of images by a Bayesian convolutional network. Labels may have any type.

    >>> import bdl, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> X = rng.integers(0, 60, (120, 8, 8), dtype=np.uint8)
    >>> y = np.repeat(["across", "down"], 60)
    >>> X[:60, 3, :] = X[60:, :, 3] = 255
    >>> layers = "conv 4 3; relu; maxpool 2"
    >>> classifier = bdl.BayesianConvClassifier(layers, epochs=40).fit(X, y)
    >>> classifier.score(X, y)
    1.0
    >>> classifier.predict(X[[0, 119]])
    array(['across', 'down'], dtype='<U6')
    {PARAMETERS.replace("image_shape :", CLASS_WEIGHT + "image_shape :", 1)}    classes_ : array
        Labels, in the order of the probabilities.
"""

    def __init__(self, network: str | Sequence[str] = "lenet5", *, class_weight: Any = None, **parameters: Any):
        super().__init__(network, **parameters)
        self.class_weight = class_weight

    __init__.__signature__ = with_class_weight(BayesianConv.__init__)  # type: ignore[attr-defined]
