"""Estimators with scikit-learn's manners."""

from .coefficients import Coefficients
from .glm import BayesianGLM
from .mlp import BayesianMLPClassifier, BayesianMLPRegressor

__all__ = ["BayesianGLM", "BayesianMLPClassifier", "BayesianMLPRegressor", "Coefficients"]
