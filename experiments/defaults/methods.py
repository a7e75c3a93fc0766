"""What is compared: a name, and a function that trains on a split and predicts its test rows. Everything is as its
library has it by default; only seeds differ. Rivals get standardised inputs (and targets), as bdl's models do inside."""
import time
import warnings

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor, kernels
from sklearn.linear_model import BayesianRidge, LogisticRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.preprocessing import StandardScaler

import bdl
import scores
import torch_methods

GAUSSIAN_PROCESS_ROWS = 2000  # for classes 1,000: one fit for each class


class Timed:
    """Processor seconds of training and of predicting."""

    def __init__(self):
        self.seconds = {}

    def __call__(self, what, function, *arguments, **named):
        start = time.process_time()
        result = function(*arguments, **named)
        self.seconds[what] = self.seconds.get(what, 0.0) + time.process_time() - start
        return result


def of_bdl(timed, model, split):
    timed("fit", model.fit, split.x, split.y)
    if split.classifies:
        return scores.of_probabilities(timed("predict", model.predict_proba, split.x_test), split.y_test)
    mean = timed("predict", model.predict, split.x_test)
    density = model.log_predictive_density(split.x_test, split.y_test)
    intervals = [model.predict(split.x_test, interval=level) for level in scores.LEVELS]
    return scores.of_density(mean, density, intervals, split.y_test)


def network(**changed):
    def run(timed, split, seed):
        kind = bdl.BayesianMLPClassifier if split.classifies else bdl.BayesianMLPRegressor
        return of_bdl(timed, kind(random_state=seed, **changed), split)
    return run


def linear(timed, split, seed):
    family = "gaussian" if not split.classifies else "bernoulli" if np.max(split.y) == 1 else "categorical"
    return of_bdl(timed, bdl.BayesianGLM(family, random_state=seed), split)


def standardised(split):
    inputs = StandardScaler().fit(split.x)
    return split._replace(x=inputs.transform(split.x), x_test=inputs.transform(split.x_test))


def of_classifier(timed, model, split):
    split = standardised(split)
    timed("fit", model.fit, split.x, split.y)
    return scores.of_probabilities(timed("predict", model.predict_proba, split.x_test), split.y_test)


def in_units(split):
    """Mean and scale of the training targets, and these standardised."""
    return np.mean(split.y), np.std(split.y), (split.y - np.mean(split.y)) / np.std(split.y)


def of_point(timed, create, split, seed):
    """A regression without a density: Gaussian, with the variance of its errors on a fifth of the training rows that a
    second fit did not see. That fit is not in the seconds."""
    split = standardised(split)
    centre, scale, y = in_units(split)
    rows = np.random.RandomState(seed).permutation(len(y))
    held, kept = np.split(rows, [len(y) // 5])
    errors = y[held] - create().fit(split.x[kept], y[kept]).predict(split.x[held])
    model = timed("fit", create().fit, split.x, y)
    mean = centre + scale * timed("predict", model.predict, split.x_test)
    return scores.of_gaussian(mean, scale * np.sqrt(np.mean(errors**2)), split.y_test)


def of_distribution(timed, model, split):
    """A regression that predicts standard deviations, noise included."""
    split = standardised(split)
    centre, scale, y = in_units(split)
    timed("fit", model.fit, split.x, y)
    mean, std = timed("predict", model.predict, split.x_test, return_std=True)
    return scores.of_gaussian(centre + scale * mean, scale * std, split.y_test)


def sklearn_network(timed, split, seed):
    if split.classifies:
        return of_classifier(timed, MLPClassifier(random_state=seed), split)
    return of_point(timed, lambda: MLPRegressor(random_state=seed), split, seed)


def boosting(timed, split, seed):
    if split.classifies:
        return of_classifier(timed, HistGradientBoostingClassifier(random_state=seed), split)
    return of_point(timed, lambda: HistGradientBoostingRegressor(random_state=seed), split, seed)


def gaussian_process(timed, split, seed):
    """With one length scale, and for numbers noise: both learned. None where there are too many rows."""
    shape = kernels.ConstantKernel() * kernels.RBF()
    if split.classifies:
        few = len(split.y) <= GAUSSIAN_PROCESS_ROWS // 2
        return of_classifier(timed, GaussianProcessClassifier(shape, random_state=seed), split) if few else None
    if len(split.y) > GAUSSIAN_PROCESS_ROWS:
        return None
    return of_distribution(timed, GaussianProcessRegressor(shape + kernels.WhiteKernel(), random_state=seed), split)


def sklearn_linear(timed, split, seed):
    if split.classifies:
        return of_classifier(timed, LogisticRegression(max_iter=1000), split)
    return of_distribution(timed, BayesianRidge(), split)


def from_torch(fit):
    def run(timed, split, seed):
        split = standardised(split)
        if split.classifies:
            return scores.of_probabilities(timed("fit", fit, split, split.y, seed), split.y_test)
        centre, scale, y = in_units(split)
        mean, std = timed("fit", fit, split, y, seed)
        return scores.of_gaussian(centre + scale * mean, scale * std, split.y_test)
    return run


METHODS = {"bdl": network(), "bdl-glm": linear, "sklearn-linear": sklearn_linear, "sklearn-mlp": sklearn_network,
           "bdl-map": network(method="map"), "bdl-bbb": network(method="bbb"), "sklearn-boosting": boosting,
           "sklearn-gp": gaussian_process,
           **{name: from_torch(fit) for name, fit in torch_methods.available().items()}}


def run(name, split, seed, quick=False):
    """Scores, seconds and what was said, of a method on a split. A failure is a note; scores then are missing."""
    timed = Timed()
    function = METHODS[name]
    if quick and name.startswith("bdl") and name != "bdl-glm":
        function = network(epochs=20, samples=50, **({} if name == "bdl" else {"method": name[4:]}))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = function(timed, split, seed)
        except Exception as error:  # one method's failure is a result, not the end of the table
            return {"note": f"failed: {type(error).__name__}: {error}"}
    if found is None:
        return {"note": "not run: too many rows"}
    messages = sorted({f"{warning.category.__name__}: {warning.message}".split("\n")[0] for warning in said})
    return {**found, **{f"{what}_seconds": value for what, value in timed.seconds.items()},
            "note": "; ".join(messages)}
