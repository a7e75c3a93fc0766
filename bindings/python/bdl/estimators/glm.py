"""Generalised linear models."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import xlogy
from sklearn.metrics import d2_tweedie_score, r2_score
from sklearn.utils.metaestimators import available_if

from ..errors import InvalidArgumentError, brief
from ..model import Model
from ..names import classes, two_classes
from ..optimizer import Optimizer
from ..predict import ClassPrediction, Prediction
from ..tables import defaults
from . import construction
from .base import PREDICTION_SEED, BayesianEstimator
from .classification import PredictsClasses
from .coefficients import HasCoefficients
from .compat import FAILS_BY_ORDER
from .regression import PredictsNumbers
from .targets import ordered_categories

_FAMILIES = (
    "gaussian",
    "bernoulli",
    "probit",
    "cloglog",
    "categorical",
    "ordinal",
    "poisson",
    "negative_binomial",
    "gamma",
)
# Families of targets that are not negative.
_POSITIVE = ("poisson", "negative_binomial", "gamma")


def _is_classifier(estimator: Any) -> bool:
    return estimator.family in classes


class BayesianGLM(HasCoefficients, PredictsNumbers, PredictsClasses, BayesianEstimator):
    """Linear, logistic, Poisson and other generalised linear models with a posterior over the coefficients.

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
        Distribution of y: "gaussian"; "poisson" or "negative_binomial" for counts, and "gamma" for positive
        numbers (log links); "bernoulli" (logit link), "probit" or "cloglog" for two classes; "categorical"
        (softmax) for more, "ordinal" (cumulative logit) for ordered ones: in the order of an ordered categorical of
        pandas, or of ``classes`` of ``partial_fit``, else sorted.
    method : str, default="auto"
        Training method, one of ``bdl.methods()``. "auto" finds the best Gaussian posterior exactly
        ("exact-full") for up to 1000 parameters and up to 2^25 numbers in X, with a covariance of low rank
        ("exact-low-rank") where one output has more parameters than rows; more than four classes need 10 rows
        for each parameter. Else it takes steps on minibatches: "slang-exact-hess" for one output,
        "slang-ggn" for more.
    posterior : str, default="auto"
        Family of the posterior. "auto" is the default family of the method; for methods that learn any, "full"
        up to 200 parameters, else "low_rank".
    prior : Normal, dict, Posterior or Optimizer, default=None
        Prior of the coefficients in the units of your data. ``bdl.normal(0, 2.5)`` is that of each slope; a dict
        has priors by name, {"intercept": bdl.normal(0, 10), "x1": bdl.normal(0, 2.5)}, with the names of
        :meth:`summary`; those of all outputs, or with its head of one. Others keep the default: N(0, 1) for each
        coefficient of standardised data (``options={"prior_precision": ...}`` changes it), and a wide prior of the
        intercept at the inputs' means. Or a posterior of a fit to earlier data; the ``optimizer_`` of another
        estimator also gives its standardisation.
    rank : int, default=None
        Rank of a low-rank posterior. None is 10.
    epochs : int, default=100
        Passes over the data. For exact methods it is the largest number.
    standardize : bool, default=True
        Whether libbdl standardises inputs, and Gaussian targets, inside the model. Coefficients are in
        the units of your data in any case.
    dtype : str, default="float64"
        Type of the computation: "float64", "float32", or "auto" for that of the data.
    random_state : int, RandomState or None, default=1
        Seed of training. Equal seeds give identical results, in every language of libbdl.
    samples : int, default=500
        Number of posterior samples of predictions by "monte_carlo".
    prediction : str, default="auto"
        How predictions average over the posterior. "auto" is exact for one output and for Gaussian noise, and
        "monte_carlo" otherwise.
    options : dict, default=None
        Options of training by name. ``bdl.options()`` describes them.
    class_weight : dict or "balanced", default=None
        Weights of the classes of a classifier, by which those of their rows are multiplied: {label: weight}, where
        other labels have weight 1; or "balanced", with which all classes weigh the same.
    warm_start : bool, default=False
        Whether ``fit`` continues from the present state instead of starting again.
    verbose : bool, default=False
        Whether to show a progress bar.

    Attributes
    ----------
    coef_ : array
        Posterior means of the coefficients, in the data's units.
    intercept_ : array or float
        Posterior mean of the intercept.
    coef_std_ : array
        Posterior standard deviations of the coefficients; NaN after methods that find a point, such as "map".
    intercept_std_ : array or float
        Posterior standard deviation of the intercept.
    classes_ : array
        Labels of a classifier.
    model_ : Model
        Model.
    posterior_ : Posterior
        Posterior over the parameters of the standardised data.
    optimizer_ : Optimizer
        Optimizer that trained it, with everything learned.
    history_ : dict of lists
        Training by epoch: "epoch", "expected_log_likelihood", "kl" and "elbo".
    n_iter_ : int
        Number of epochs of training.
    n_features_in_ : int
        Number of features.
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
        class_weight: Any = None,
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
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.verbose = verbose

    # Properties by which scikit-learn knows the kind of estimator.

    @property
    def _estimator_type(self) -> str:
        return "classifier" if _is_classifier(self) else "regressor"

    def _more_tags(self) -> dict[str, Any]:
        return {
            "requires_y": True,
            "multioutput": not _is_classifier(self),
            "binary_only": self.family in two_classes,
            "requires_positive_y": self.family in _POSITIVE,
            "_xfail_checks": FAILS_BY_ORDER if self.family in ("categorical", "ordinal") else {},
        }

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, RegressorTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = self._estimator_type
        tags.target_tags.required = True
        tags.target_tags.multi_output = not _is_classifier(self)
        tags.target_tags.positive_only = self.family in _POSITIVE
        if _is_classifier(self):
            tags.classifier_tags = ClassifierTags(multi_class=self.family not in two_classes)
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
        if self.family in two_classes and len(self.classes_) > 2:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is multiclass: y has "
                f"{len(self.classes_)} classes, for which family is 'categorical'"
            )
        return labels

    def _network(self, inputs: int, outputs: int, likelihood: str, dtype: str) -> Model:
        model = super()._network(inputs, outputs, likelihood, dtype)
        if likelihood == "ordinal":
            model.levels = len(self.classes_)
        return model

    def _keeps_order(self) -> bool:
        return self.family == "ordinal"

    def _order_of(self, y: Any) -> Any:
        return ordered_categories(y) if self._keeps_order() else None

    def _outputs(self, targets: np.ndarray) -> int:
        if self.family == "categorical":
            return len(self.classes_)
        return construction.targets_of(targets)

    # Training.

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        data_size: int | None = None,
        sample_weight: Any = None,
        offset: Any = None,
    ) -> Any:
        """Learns from one block of data, each row once and in order, and returns the estimator.

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs of the block.
        y : array of shape (n,) or (n, targets)
            Targets or labels of the block.
        classes : array, default=None
            All labels that will ever come. The first call of a classifier needs them.
        data_size : int, default=None
            Number of examples in all blocks together, for methods for batches. None: that of the first block.
        sample_weight : array of shape (n,), default=None
            Weights of the rows, as for :meth:`fit`. None: 1 if the first block had weights.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of the rows, as for :meth:`fit`. None: 0 if the first block had offsets.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> glm = bdl.BayesianGLM().partial_fit(X[:200], y[:200])
        >>> glm = glm.partial_fit(X[200:], y[200:])
        >>> glm.optimizer_.prequential.count
        308
        """
        if classes is None and _is_classifier(self) and not self._is_fitted():
            raise ValueError("classes must be passed on the first call to partial_fit.")
        return self._learn_block(X, y, data_size, sample_weight, offset, classes)

    # Predictions.

    def predict(
        self, X: Any, return_std: bool = False, interval: float | None = None, quantiles: Any = None, offset: Any = None
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Returns the means of y, or the labels of a classifier, of shape (n,) or (n, targets).

        For numbers, pass one of the other arguments to get more than means.

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        return_std : bool, default=False
            True: return (means, standard deviations), noise included.
        interval : float, default=None
            Probability of central intervals, such as 0.9: return (lower limits, upper limits), noise included.
        quantiles : float or sequence of float, default=None
            Levels, such as [0.1, 0.5, 0.9]: return quantiles of y, with one column for each level.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of an estimator that was fitted with them. None: 0.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> glm = bdl.BayesianGLM().fit(X, y)
        >>> mean, std = glm.predict(X[:3], return_std=True)
        >>> lower, upper = glm.predict(X[:3], interval=0.9)
        >>> mean.shape, std.shape, bool((lower < upper).all())
        ((3,), (3,), True)
        """
        if not _is_classifier(self):
            return self._predict_numbers(X, return_std, interval, quantiles, offset)
        if return_std or interval is not None or quantiles is not None:
            raise ValueError(f"labels of family {self.family!r} have no standard deviations, intervals or quantiles")
        return self._predict_labels(X, offset)

    @available_if(_is_classifier)
    def predict_proba(self, X: Any, offset: Any = None) -> np.ndarray:
        """Returns the probabilities of the classes, of shape (n, classes), in the order of ``classes_``.

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of an estimator that was fitted with them. None: 0.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> glm = bdl.BayesianGLM("bernoulli").fit(X, y > 10)
        >>> glm.predict_proba(X[:3]).shape
        (3, 2)
        """
        return self._probabilities(X, offset)

    @available_if(_is_classifier)
    def predict_log_proba(self, X: Any, offset: Any = None) -> np.ndarray:
        """Returns the log probabilities of the classes, of shape (n, classes), in the order of ``classes_``.

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of an estimator that was fitted with them. None: 0.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> glm = bdl.BayesianGLM("bernoulli").fit(X, y > 10)
        >>> glm.predict_log_proba(X[:3]).shape
        (3, 2)
        """
        return np.log(self._probabilities(X, offset))

    def predict_uncertainty(self, X: Any, offset: Any = None) -> Prediction | ClassPrediction:
        """Returns predictions with their uncertainty, by its source.

        The result is a :class:`bdl.Prediction` (means and two variances), or of classifiers a
        :class:`bdl.ClassPrediction` (probabilities, entropy, mutual information).

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of an estimator that was fitted with them. None: 0.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> glm = bdl.BayesianGLM().fit(X, y)
        >>> found = glm.predict_uncertainty(X[:3])
        >>> bool((found.epistemic_variance < found.noise_variance).all())
        True
        """
        return self._class_uncertainty(X, offset) if _is_classifier(self) else self._number_uncertainty(X, offset)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = PREDICTION_SEED, offset: Any = None) -> np.ndarray:
        """Returns random samples of y or of labels, of shape (n, n_samples).

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        n_samples : int, default=1
            Number of samples. With ``prediction="monte_carlo"`` each column belongs to one sample of the parameters; with
            ``"linearized"`` only the distribution of each row is right, and not that of sums over rows.
        random_state : int, RandomState or None, default=1
            Seed of the samples.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of an estimator that was fitted with them. None: 0.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> glm = bdl.BayesianGLM().fit(X, y)
        >>> glm.sample_y(X[:3], n_samples=100).shape
        (3, 100)
        """
        sample = self._sample_labels if _is_classifier(self) else self._sample_numbers
        return sample(X, n_samples, random_state, offset)

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Returns R2 of family "gaussian", D2 (explained deviance) of counts and positive numbers, or accuracy.

        Parameters
        ----------
        X : array of shape (n, features)
            Inputs.
        y : array of shape (n,) or (n, targets)
            Targets, labels, or shares of successes.
        sample_weight : array of shape (n,), default=None
            Weights of the rows in the average.
        offset : float or array of shape (n,) or (n, outputs), default=None
            Offsets of an estimator that was fitted with them. None: 0.

        Examples
        --------
        >>> import bdl
        >>> X, y = bdl.datasets.load_yacht(return_X_y=True)
        >>> glm = bdl.BayesianGLM("bernoulli").fit(X, y > 10)
        >>> glm.score(X, y > 10) > 0.9
        True
        """
        if _is_classifier(self):
            return self._accuracy(X, y, sample_weight, offset)
        mean = self.predict(X, offset=offset)
        if self.family == "gaussian":
            return float(r2_score(y, mean, sample_weight=sample_weight))
        return _d2(self.family, self.model_, y, mean, sample_weight)

    # Files.

    @classmethod
    def _parameters_of(cls, optimizer: Optimizer) -> dict[str, Any]:
        return {**super()._parameters_of(optimizer), "family": optimizer.model.likelihood}

    @classmethod
    def _accepts(cls, model: Model) -> bool:
        one = model.likelihood not in two_classes or model.outputs == 1
        return one and [block.name for block in model.blocks] == ["layer0.weight", "layer0.bias"]

    def _loaded(self) -> None:
        self._y_is_vector = self.model_.outputs == 1
        if _is_classifier(self):
            self._labels_loaded()


def _d2(family: str, model: Model, y: Any, mean: np.ndarray, sample_weight: Any) -> float:
    """Returns the share of the deviance that the means explain, averaged over the targets."""

    def deviance(targets: np.ndarray, means: np.ndarray) -> float:
        shape = model.shape
        of_counts = xlogy(targets, targets / means) - (targets + shape) * np.log((targets + shape) / (means + shape))
        return float(np.average(of_counts, weights=sample_weight))

    columns = zip(np.reshape(y, (len(mean), -1)).T.astype(float), np.reshape(mean, (len(mean), -1)).T)
    if family != "negative_binomial":
        power = {"poisson": 1, "gamma": 2}[family]
        return float(
            np.mean([d2_tweedie_score(targets, means, power=power, sample_weight=sample_weight) for targets, means in columns])
        )
    of_constant = [np.full(len(mean), np.average(targets, weights=sample_weight)) for targets in np.reshape(y, (len(mean), -1)).T]
    explained = [1 - deviance(*column) / deviance(column[0], constant) for column, constant in zip(columns, of_constant)]
    return float(np.mean(explained))
