"""Bayesian neural networks and generalised linear models, with the interface of scikit-learn.

>>> import bdl, numpy as np
>>> X, y = bdl.datasets.load_yacht(return_X_y=True)
>>> train, test = np.split(np.random.default_rng(1).permutation(308), [250])
>>> regressor = bdl.BayesianMLPRegressor().fit(X[train], y[train])
>>> mean, std = regressor.predict(X[test], return_std=True)
>>> lower, upper = regressor.predict(X[test], interval=0.9)
>>> print(round(bdl.metrics.coverage(lower, upper, y[test]), 1))
0.9

The estimators are built from three handles, which you can use directly: :class:`Model` (a network with a
likelihood), :class:`Posterior` (a distribution over its parameters) and :class:`Optimizer` (a method that
learns the posterior). A :class:`Predictor` makes many small predictions fast.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

import atexit

from . import errors, lowlevel, metrics, mpi, networks
from .checkpoint import Checkpoint, load, save
from .communicator import Communicator
from .dataset import Dataset
from .errors import (
    BDLError,
    CallbackError,
    CommunicationError,
    DivergedError,
    FileError,
    FormatError,
    InternalError,
    InvalidArgumentError,
    LabelError,
    NotFiniteError,
    OutOfMemoryError,
    PeerError,
    ShapeError,
    UnknownOptionError,
    UnsupportedError,
)
from .lowlevel import bdl_version as _version
from .model import Block, Model, Standardization
from .optimizer import Diagnosis, Elbo, Evidence, Optimizer, Prequential, Progress, Training, suggest_method, suggest_noise, suggest_training
from .posterior import Posterior
from .prior import Normal, normal
from .predict import (
    ClassPrediction,
    Leverage,
    Prediction,
    Predictor,
    predict,
    predict_classes,
    predict_draws,
    predict_interval,
    predict_leverage,
    predict_log_density,
    predict_log_likelihood,
    predict_output_distribution,
    predict_quantiles,
)
from .search import Search, Trial
from .tables import Method, Option, describe_method, methods, options

if _TYPE_CHECKING:
    from . import plots
    from .estimators import (
        BayesianConvClassifier,
        BayesianConvRegressor,
        BayesianGLM,
        BayesianMLPClassifier,
        BayesianMLPRegressor,
        DeepEnsembleClassifier,
        DeepEnsembleRegressor,
    )

__version__ = _version()

# Training that still goes on in daemon threads then ends without asking the interpreter.
atexit.register(lowlevel.end_of_interpreter)

_estimators = (
    "BayesianConvClassifier",
    "BayesianConvRegressor",
    "BayesianGLM",
    "BayesianMLPClassifier",
    "BayesianMLPRegressor",
    "DeepEnsembleClassifier",
    "DeepEnsembleRegressor",
)


def build_info() -> str:
    """Returns a line about the build of libbdl: version, compiler and BLAS.

    >>> import bdl
    >>> bdl.__version__ in bdl.build_info()
    True
    """
    return lowlevel.bdl_build_info()


def __getattr__(name: str) -> _Any:
    """Estimators, plots and data sets are imported when they are first used: scikit-learn takes ten times as long as the rest."""
    from importlib import import_module

    if name in ("datasets", "estimators", "plots"):
        return import_module(f".{name}", __name__)
    if name in _estimators:
        return getattr(import_module(".estimators", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), "datasets", "estimators", "plots", *_estimators])
