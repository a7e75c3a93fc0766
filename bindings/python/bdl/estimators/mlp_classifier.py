"""Classification by multilayer perceptrons."""

from __future__ import annotations

from typing import Any, Sequence

from ..tables import defaults
from .mlp import PARAMETERS, BayesianMLP
from .network_classifier import CLASS_WEIGHT, NetworkClassifier, with_class_weight


class BayesianMLPClassifier(NetworkClassifier, BayesianMLP):
    __doc__ = f"""Classification by a Bayesian neural network. Labels may have any type.

    >>> import bdl, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> X = np.vstack([rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + 4])
    >>> y = np.repeat(["left", "right"], 50)
    >>> classifier = bdl.BayesianMLPClassifier(hidden=(10,), epochs=60).fit(X, y)
    >>> classifier.predict([[0.0, 0.0], [4.0, 4.0]])
    array(['left', 'right'], dtype='<U5')
    >>> entropy = classifier.predict_uncertainty([[0.0, 0.0], [2.0, 2.0]]).entropy
    >>> bool(entropy[0] < entropy[1])
    True
    {PARAMETERS.replace("activation : str", CLASS_WEIGHT + "activation : str", 1)}    classes_ : array
        Labels, in the order of the probabilities.
"""

    def __init__(self, hidden: int | Sequence[int] = (int(defaults["hidden"]),), *, class_weight: Any = None, **parameters: Any):
        super().__init__(hidden, **parameters)
        self.class_weight = class_weight

    __init__.__signature__ = with_class_weight(BayesianMLP.__init__)  # type: ignore[attr-defined]
