"""Who takes part: every method of the library with its default options, a few variants of the default, and other libraries.
``score`` runs one of them on a task and returns a row of the results."""
import time
import warnings

import numpy as np

import bdl
from sets import Split  # importing it makes the modules below importable
import methods as peers
import scores

LEVELS = [0.025, 0.05, 0.25, 0.75, 0.95, 0.975]
IMAGE_NETWORK = "conv 8 3; relu; maxpool 2"

# Variants of the default fit: regressions only, except for the ensemble and early stopping.
VARIANTS = {"heteroscedastic": {"noise": "heteroscedastic"}, "student-t": {"noise": "student_t"},
            "early-stopping": {"early_stopping": True}, "ensemble": {}}
# Other libraries: our name, and the table of defaults' name.
PEERS = {name if name != "ivon" else "ivon-torch": name for name in peers.METHODS
         if not name.startswith("bdl") and name != "sklearn-boosting"}
# The order of runs: what most users take comes first.
FIRST = ["default", "slang-ggn", "slang", "laplace", "map", "swag", "vogn", "ivon", "bbb", "kfac", "ogn", "sgd", "mc-dropout",
         "elrg", "glm"]
FULL = [name for name in bdl.methods() if bdl.describe_method(name).families[0] == "full"]
STREAMS = [name for name in bdl.methods() if bdl.describe_method(name).is_stream]
LINEAR_ONLY = [name for name in bdl.methods() if name == "slang-exact-hess" or bdl.describe_method(name).is_exact]
METHODS = list(dict.fromkeys([*FIRST, *bdl.methods(), *VARIANTS]))


class NotHere(Exception):
    """A method does not take part in a set."""


def estimator_of(method, task, kind, depth, times, seed):
    """A new estimator with default options."""
    if method == "ensemble":
        member = estimator_of("default", task, kind, depth, times, seed)
        ensemble = bdl.DeepEnsembleClassifier if task.classifies else bdl.DeepEnsembleRegressor
        return ensemble(member, n_estimators=3, random_state=seed)
    named = {"random_state": seed, **VARIANTS.get(method, {} if method in ("default", "glm") else {"method": method})}
    if method == "glm" or depth == 0:
        family = "gaussian" if not task.classifies else "bernoulli" if np.max(task.y) == 1 else "categorical"
        return bdl.BayesianGLM(family, **named)
    if kind == "images":
        return longer(bdl.BayesianConvClassifier(IMAGE_NETWORK, image_shape=(1, 8, 8), **named), times)
    network = bdl.BayesianMLPClassifier if task.classifies else bdl.BayesianMLPRegressor
    return longer(network((50,) * depth, **named), times)


def longer(estimator, times):
    return estimator.set_params(epochs=times * estimator.epochs)


def train(estimator, task):
    """Fits, or learns a stream block by block."""
    if not task.blocks:
        return estimator.fit(task.x, task.y)
    classes = {"classes": np.unique(task.y)} if task.classifies else {}
    for begin, end in zip(task.blocks, (*task.blocks[1:], len(task.y))):
        estimator.partial_fit(task.x[begin:end], task.y[begin:end], **classes)
    return estimator


def of_predictions(estimator, task):
    if task.classifies:
        return scores.of_probabilities(estimator.predict_proba(task.x_test), task.y_test)
    quantiles = estimator.predict(task.x_test, quantiles=LEVELS)
    intervals = [(quantiles[:, 2 - i], quantiles[:, 3 + i]) for i in range(3)]
    density = estimator.log_predictive_density(task.x_test, task.y_test)
    return scores.of_density(estimator.predict(task.x_test), density, intervals, task.y_test)


def of_curve(estimator, task):
    """Shares of the true curve inside the 95 % band of the mean, in the gap and beyond the data; none without a band."""
    found = {}
    for where, (x, truth) in (task.curve or {}).items():
        mean, epistemic, _ = (np.ravel(part) for part in estimator.predict_uncertainty(x))
        if np.all(np.isfinite(epistemic)):
            found[where] = float(np.mean(np.abs(mean - truth) <= 1.96 * np.sqrt(epistemic)))
    return found


def of_library(method, task, kind, depth, times, seed):
    estimator = estimator_of(method, task, kind, depth, times, seed)
    start = time.process_time()
    train(estimator, task)
    seconds = time.process_time() - start
    found = {**of_predictions(estimator, task), "seconds": seconds}
    try:
        return {**found, **of_curve(estimator, task)}
    except (bdl.UnsupportedError, ValueError):  # a point has no band
        return found


def of_peer(method, task, seed):
    """Another library's method, as the table of defaults runs it."""
    timed = peers.Timed()
    found = peers.METHODS[PEERS[method]](timed, Split(task.x, task.y, task.x_test, task.y_test), seed)
    if found is None:
        raise NotHere("too many rows")
    return {**found, "seconds": timed.seconds["fit"]}


def constant(task):
    """Mean log density of the test targets by the class frequencies, or by a Gaussian, of the training rows."""
    if task.classifies:
        shares = np.bincount(task.y, minlength=np.max(task.y_test) + 1) / len(task.y)
        return float(np.mean(np.log(np.clip(shares[task.y_test], scores.SMALLEST, None))))
    return scores.of_gaussian(np.mean(task.y), np.std(task.y, ddof=1), task.y_test)["log_likelihood"]


def score(method, task, kind, depth, times, seed):
    """Scores, seconds and what was said. A refusal or a failure is a status with its message."""
    facts = {"rows": len(task.y), "inputs": task.x.shape[1], "constant": constant(task)}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            run = of_peer(method, task, seed) if method in PEERS else of_library(method, task, kind, depth, times, seed)
            status = {"status": "fine" if np.isfinite(run["log_likelihood"]) else "failed"}
        except NotHere as reason:
            run, status = {}, {"status": "not run", "note": str(reason)}
        except (bdl.UnsupportedError, bdl.InvalidArgumentError) as error:
            run, status = {}, {"status": "refused", "note": one_line(error)}
        except Exception as error:  # one method's failure is a result, not the end of the scorecard
            run, status = {}, {"status": "failed", "note": f"{type(error).__name__}: {one_line(error)}"}
    messages = sorted({f"{w.category.__name__}: {one_line(w.message)}" for w in said})
    return {**facts, **run, "note": "; ".join(messages), **status}


def one_line(message):
    return str(message).split("\n")[0]
