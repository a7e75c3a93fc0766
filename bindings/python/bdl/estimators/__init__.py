"""Estimators with the interface of scikit-learn."""

from .conv_classifier import BayesianConvClassifier
from .conv_regressor import BayesianConvRegressor
from .ensemble import DeepEnsembleClassifier, DeepEnsembleRegressor
from .glm import BayesianGLM
from .mlp_classifier import BayesianMLPClassifier
from .mlp_regressor import BayesianMLPRegressor
from .summary import Coefficients

__all__ = [
    "BayesianConvClassifier",
    "BayesianConvRegressor",
    "BayesianGLM",
    "BayesianMLPClassifier",
    "BayesianMLPRegressor",
    "Coefficients",
    "DeepEnsembleClassifier",
    "DeepEnsembleRegressor",
]
