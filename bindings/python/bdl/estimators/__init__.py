"""Estimators with scikit-learn's manners."""

from .glm import BayesianGLM
from .mlp_classifier import BayesianMLPClassifier
from .mlp_regressor import BayesianMLPRegressor
from .summary import Coefficients

__all__ = ["BayesianGLM", "BayesianMLPClassifier", "BayesianMLPRegressor", "Coefficients"]
