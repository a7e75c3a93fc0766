"""Generalised linear models."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, d2_tweedie_score, r2_score
from sklearn.utils.metaestimators import available_if

from ..errors import InvalidArgumentError, brief
from ..model import Model
from ..optimizer import Optimizer
from ..predict import ClassPrediction, Prediction
from ..tables import defaults
from . import construction
from .base import PREDICTION_SEED, BayesianEstimator
from .classification import PredictsClasses
from .coefficients import HasCoefficients
from .regression import PredictsNumbers

_FAMILIES = ("gaussian", "bernoulli", "categorical", "poisson")

def _is_classifier(estimator: Any) -> bool:
    return estimator.family in ("bernoulli", "categorical")


class BayesianGLM(HasCoefficients, PredictsNumbers, PredictsClasses, BayesianEstimator):
    """Linear, logistic, softmax and Poisson regression with a posterior over the coefficients.

    >>> import bdl, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(200, 2)) * [1, 10]
    >>> y = 3 + X @ [2.0, -0.5] + rng.normal(size=200)
    >>> glm = bdl.BayesianGLM().fit(X, y)
    >>> print(glm.summary())
                           mean        std      2.5 %     97.5 %   P(> 0)
    intercept             3.036    0.07340      2.893      3.180    1.000
    x0                    2.026    0.08059      1.868      2.184    1.000
    x1                  -0.4986   0.008129    -0.5146    -0.4827    0.000

    Parameters
    ----------
    family : str, default="gaussian"
        Of y: "gaussian", "poisson" (log link), "bernoulli" (logit link, two classes) or "categorical" (softmax).
    method : str, default="auto"
        How the posterior is learned, one of ``bdl.methods()``. "auto" finds the best Gaussian posterior exactly
        ("exact-full") where there is one output, up to 1000 parameters, and up to 2^25 numbers in X; else it takes
        steps on minibatches, "slang-exact-hess" for one output and "slang-ggn" for more.
    posterior : str, default="auto"
        Its family; "auto" is the one that the method is for; if it takes any, "full" up to 200 parameters, else
        "low_rank".
    prior : Posterior or Optimizer, default=None
        As of ``BayesianMLPRegressor``.
    rank : int, default=None
        Of a low-rank posterior; None is 10.
    epochs : int, default=100
        Passes over the data; for exact methods the most of them.
    standardize : bool, default=True
        Whether the prior is on coefficients for inputs (and Gaussian y) of mean 0 and standard deviation 1.
    dtype, random_state, samples, options, warm_start, verbose
        As of ``BayesianMLPRegressor``. The prior of the coefficients is N(0, 1), options={"prior_precision": ...}
        changes it; the intercept's is wide.
    prediction : str, default="auto"
        How predictions integrate over the posterior: "auto" is exactly, where there is one output or Gaussian noise,
        else "monte_carlo".

    Attributes
    ----------
    coef_, intercept_, coef_std_, intercept_std_ : means and standard deviations, in the data's units; the latter are NaN after
        methods that find a point, as "map" does
    classes_ : the labels of classifiers
    model_, posterior_, optimizer_, history_, n_iter_ : as of ``BayesianMLPRegressor``
    """

    early_stopping = False
    members = 1

    def __init__(
        self,
        family: str = "gaussian",
        *,
        method: str = "auto",
        posterior: str = "auto",
        prior: Any = None,
        rank: int | None = None,
        epochs: int = int(defaults["epochs"]),
        standardize: bool = True,
        dtype: str = "float64",
        random_state: Any = int(defaults["seed"]),
        samples: int = int(defaults["samples"]),
        prediction: str = "auto",
        options: dict[str, Any] | None = None,
        warm_start: bool = False,
        verbose: bool = False,
    ):
        self.family = family
        self.method = method
        self.posterior = posterior
        self.prior = prior
        self.rank = rank
        self.epochs = epochs
        self.standardize = standardize
        self.dtype = dtype
        self.random_state = random_state
        self.samples = samples
        self.prediction = prediction
        self.options = options
        self.warm_start = warm_start
        self.verbose = verbose

    # Properties by which scikit-learn knows the kind of estimator.

    @property
    def _estimator_type(self) -> str:
        return "classifier" if _is_classifier(self) else "regressor"

    def _more_tags(self) -> dict[str, Any]:
        return {
            "requires_y": True,
            "multioutput": self.family in ("gaussian", "poisson"),
            "binary_only": self.family == "bernoulli",
            "requires_positive_y": self.family == "poisson",
        }

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, RegressorTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = self._estimator_type
        tags.target_tags.required = True
        tags.target_tags.multi_output = not _is_classifier(self)
        tags.target_tags.positive_only = self.family == "poisson"
        if _is_classifier(self):
            tags.classifier_tags = ClassifierTags(multi_class=self.family == "categorical")
        else:
            tags.regressor_tags = RegressorTags()
        return tags

    def _likelihood(self, x: Any, targets: np.ndarray, stepwise: bool) -> str:
        return self.family

    def _encode(self, y: Any, known: bool, classes: Any = None) -> np.ndarray:
        if self.family not in _FAMILIES:
            raise InvalidArgumentError(f"family is {brief(self.family)}, expected one of: {', '.join(_FAMILIES)}")
        if not _is_classifier(self):
            return self._encode_numbers(y, known)
        labels = self._encode_labels(y, known, classes)
        if self.family == "bernoulli" and len(self.classes_) > 2:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is multiclass: y has "
                f"{len(self.classes_)} classes, for which family is 'categorical'"
            )
        return labels

    def _outputs(self, targets: np.ndarray) -> int:
        if self.family == "categorical":
            return len(self.classes_)
        return construction.targets_of(targets)

    # Training.

    def partial_fit(self, X: Any, y: Any, classes: Any = None, data_size: int | None = None) -> Any:
        """As the networks' (classifiers' first call needs all ``classes``); with ``method`` = "auto", which goes to an
        optimum by ``fit``, as the Kalman filter of the coefficients ("ekf"). Of family "gaussian" its posterior is the exact one
        for the noise that it has learned on the way."""
        if classes is None and _is_classifier(self) and not self._is_fitted():
            raise ValueError("classes must be passed on the first call to partial_fit.")
        return self._learn_block(X, y, data_size, classes)

    # Predictions.

    def predict(
        self, X: Any, return_std: bool = False, interval: float | None = None, quantiles: Any = None
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Means of y, or what else is asked for, as by ``BayesianMLPRegressor``; of classifiers, labels."""
        if not _is_classifier(self):
            return self._predict_numbers(X, return_std, interval, quantiles)
        if return_std or interval is not None or quantiles is not None:
            raise ValueError(f"labels of family {self.family!r} have no standard deviations, intervals or quantiles")
        return self._predict_labels(X)

    @available_if(_is_classifier)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, in the order of ``classes_``."""
        return self._probabilities(X)

    @available_if(_is_classifier)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Their logarithms."""
        return np.log(self._probabilities(X))

    def predict_uncertainty(self, X: Any) -> Prediction | ClassPrediction:
        """As of the networks: mean and two variances, or probabilities, entropy and mutual information."""
        return self._class_uncertainty(X) if _is_classifier(self) else self._number_uncertainty(X)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = PREDICTION_SEED) -> np.ndarray:
        """Draws of y, in columns; each column is of one draw of the parameters."""
        sample = self._sample_labels if _is_classifier(self) else self._sample_numbers
        return sample(X, n_samples, random_state)

    def score(self, X: Any, y: Any) -> float:
        """Accuracy of classifiers, R2 of family "gaussian", D2 of "poisson" (the share of deviance explained)."""
        measure = {"gaussian": r2_score, "poisson": _d2_poisson}.get(self.family, accuracy_score)
        return float(measure(y, self.predict(X)))

    # Files.

    @classmethod
    def _parameters_of(cls, optimizer: Optimizer) -> dict[str, Any]:
        return {**super()._parameters_of(optimizer), "family": optimizer.model.likelihood}

    @classmethod
    def _accepts(cls, model: Model) -> bool:
        one = model.likelihood != "bernoulli" or model.outputs == 1
        return one and [block.name for block in model.blocks] == ["layer0.weight", "layer0.bias"]

    def _loaded(self) -> None:
        self._y_is_vector = self.model_.outputs == 1
        if _is_classifier(self):
            self._labels_loaded()


def _d2_poisson(y: Any, mean: np.ndarray) -> float:
    """Averaged over the targets."""
    columns = zip(np.reshape(y, (len(mean), -1)).T, np.reshape(mean, (len(mean), -1)).T)
    return float(np.mean([d2_tweedie_score(targets, means, power=1) for targets, means in columns]))
