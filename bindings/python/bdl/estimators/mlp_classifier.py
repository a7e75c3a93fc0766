"""Classification by multilayer perceptrons."""

from __future__ import annotations

from .mlp import PARAMETERS, BayesianMLP
from .network_classifier import NetworkClassifier


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
    {PARAMETERS}    classes_ : array
        Labels, in the order of the probabilities.
"""
