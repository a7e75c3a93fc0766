"""Bad calls: each raises an exception that says what was wrong, and changes nothing."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import bdl
from bdl import lowlevel

X, Y = np.linspace(-1, 1, 12).reshape(6, 2), np.arange(6.0)
NAN, INF = np.nan, np.inf
THETA = np.zeros(3)


def model(likelihood="gaussian", sizes=(2, 1)):
    return bdl.Model.mlp(sizes, likelihood=likelihood)


def network(text):
    return bdl.Model.network(text, likelihood="gaussian")


def low_rank():
    return bdl.Posterior.low_rank(3, 1)


def known():
    q = bdl.Posterior.full(3)
    q.set_full(np.zeros(3), np.eye(3))
    return q


def optimizer(method="slang-exact-hess", likelihood="gaussian", n=6):
    return bdl.Optimizer(model(likelihood), bdl.Posterior.full(3), method, n)


def fitted(**parameters):
    return bdl.BayesianMLPRegressor(hidden=2, epochs=1, **parameters).fit(X, Y)


def search(**changes):
    return bdl.Search(optimizer(), **{"folds": 2, "epochs": 1, **changes})


def closed(handle):
    handle.close()
    return handle


def read_only(array):
    array.flags.writeable = False
    return array


def assign(handle, name, value):
    setattr(handle, name, value)


def raised_in(function):
    return bdl.Model.user(function, None, 2, 1, 3).evaluate(THETA, X)


def evaluate_raw(theta, x, outputs):
    lowlevel.bdl_model_evaluate(model()._handle, theta, x, outputs)


calls = {
    # models
    "no sizes": lambda: bdl.Model.mlp([]),
    "one size": lambda: bdl.Model.mlp([3]),
    "size 0": lambda: bdl.Model.mlp([3, 0, 1]),
    "negative size": lambda: bdl.Model.mlp([3, -1]),
    "huge size": lambda: bdl.Model.mlp([2**40, 2**40]),
    "overflowing size": lambda: bdl.Model.mlp([2**70, 1]),
    "size of a float": lambda: bdl.Model.mlp([3.0, 1]),
    "sizes of a string": lambda: bdl.Model.mlp("31"),
    "sizes of a number": lambda: bdl.Model.mlp(3),
    "sizes of None": lambda: bdl.Model.mlp(None),
    "activation": lambda: bdl.Model.mlp([1, 1], activation="rely"),
    "activation of a number": lambda: bdl.Model.mlp([1, 1], activation=2),
    "activation of a list": lambda: bdl.Model.mlp([1, 1], activation=[]),
    "likelihood": lambda: bdl.Model.mlp([1, 1], likelihood="normal"),
    "one class": lambda: model("categorical"),
    "dtype": lambda: bdl.Model.mlp([1, 1], dtype="float16"),
    "dtype of a class": lambda: bdl.Model.mlp([1, 1], dtype=np.float64),
    "user function of None": lambda: bdl.Model.user(None, None, 1, 1, 1).evaluate([1.0], [[1.0]]),
    "user with no parameters": lambda: bdl.Model.user(lambda t, x: x, None, 1, 1, 0),
    "user result of another shape": lambda: raised_in(lambda t, x: np.zeros((5, 1))),
    "user result of a string": lambda: raised_in(lambda t, x: "zero"),
    "user result of None": lambda: raised_in(lambda t, x: None),
    "user result not finite": lambda: raised_in(lambda t, x: x[:, :1] * NAN)[0] / 0,
    "evaluate: parameters": lambda: model().evaluate(np.zeros(4), X),
    "evaluate: columns": lambda: model().evaluate(THETA, X[:, :1]),
    "evaluate: NaN": lambda: model().evaluate(THETA, X * NAN),
    "evaluate: infinite parameters": lambda: model().evaluate(THETA + INF, X),
    "evaluate: three dimensions": lambda: model().evaluate(THETA, X[None]),
    "evaluate: strings": lambda: model().evaluate(THETA, [["a", "b"]]),
    "evaluate: None": lambda: model().evaluate(THETA, None),
    "evaluate: a dictionary": lambda: model().evaluate(THETA, {}),
    "evaluate: ragged": lambda: model().evaluate(THETA, [[1.0], [1.0, 2.0]]),
    "evaluate: complex": lambda: model().evaluate(THETA, X * 1j),
    "evaluate: closed": lambda: closed(model()).evaluate(THETA, X),
    "log likelihood: rows": lambda: model().log_likelihood(THETA, X, Y[:3]),
    "log likelihood: NaN": lambda: model().log_likelihood(THETA, X, Y * NAN),
    "log likelihood: label 2": lambda: model("bernoulli").log_likelihood(THETA, X, Y),
    "log likelihood: count -1": lambda: model("poisson").log_likelihood(THETA, X, Y - 1),
    "log likelihood: count 0.5": lambda: model("poisson").log_likelihood(THETA, X, Y / 2),
    "log likelihood: class 5": lambda: model("categorical", (2, 3)).log_likelihood(np.zeros(9), X, Y),
    "jacobian: columns": lambda: model().jacobian(THETA, np.zeros((6, 3))),
    "gradients: targets": lambda: model().gradient_rows(THETA, X, X),
    "hessian: parameters": lambda: model().hessian(np.zeros(2), X, Y),
    "hessian products: vectors": lambda: model().hessian_vector_product(THETA, X, Y, np.zeros((2, 5))),
    "initialize": lambda: model().initialize("fan_out"),
    "initialize: seed": lambda: model().initialize(seed=-1),
    "initialize: seed of a float": lambda: model().initialize(seed=1.5),
    "noise 0": lambda: assign(model(), "noise_precision", 0),
    "noise negative": lambda: assign(model(), "noise_precision", -1.0),
    "noise infinite": lambda: assign(model(), "noise_precision", INF),
    "noise of outputs": lambda: assign(model(), "noise_precision", [1, 2, 3]),
    "noise of a string": lambda: assign(model(), "noise_precision", "one"),
    "noise of a classifier": lambda: model("bernoulli").noise_precision,
    "noise covariance": lambda: assign(model(sizes=(2, 2)), "noise_covariance", [[1, 2], [2, 1]]),
    "noise covariance not symmetric": lambda: assign(model(sizes=(2, 2)), "noise_covariance", [[1, 0.5], [0, 1]]),
    "standardization: scale 0": lambda: assign(model(), "standardization", (None, [1, 0], None, None)),
    "standardization: negative scale": lambda: assign(model(), "standardization", (None, [1, -1], None, None)),
    "standardization: NaN": lambda: assign(model(), "standardization", ([NAN, 0], None, None, None)),
    "standardization: count": lambda: assign(model(), "standardization", ([1, 2, 3], None, None, None)),
    "standardization: three parts": lambda: assign(model(), "standardization", (None, None, None)),
    "standardization: labels": lambda: assign(model("bernoulli"), "standardization", (None, None, [1], None)),
    "standardize: NaN": lambda: model().standardize(X * NAN),
    "standardize: columns": lambda: model().standardize(X[:, :1]),
    # posteriors
    "dimension 0": lambda: bdl.Posterior.low_rank(0, 0),
    "dimension of a string": lambda: bdl.Posterior.full("3"),
    "dimension huge": lambda: bdl.Posterior.full(10**7),
    "rank beyond dimension": lambda: bdl.Posterior.low_rank(3, 4),
    "rank negative": lambda: bdl.Posterior.low_rank(3, -1),
    "dropout of a custom model": lambda: bdl.Posterior.dropout(bdl.Model.user(lambda t, x: x, None, 1, 1, 1), 0, 0.5),
    "dropout rate 1": lambda: bdl.Posterior.dropout(model(sizes=(2, 2, 1)), 0, 1.0),
    "dropout of None": lambda: bdl.Posterior.dropout(None, 0, 0.5),
    "set: family": lambda: low_rank().set_full(THETA, np.eye(3)),
    "set: negative diagonal": lambda: low_rank().set_low_rank(THETA, np.zeros((3, 1)), [1, -1, 1]),
    "set: shape": lambda: low_rank().set_low_rank(THETA, np.zeros((1, 3)), np.ones(3)),
    "model of another kind": lambda: bdl.Optimizer(known(), known(), "slang", 6),
    "posterior of another kind": lambda: bdl.Optimizer(model(), model(), "slang", 6),
    "prototype of another kind": lambda: bdl.Search(model()),
    "set: NaN": lambda: low_rank().set_low_rank(THETA * NAN, np.zeros((3, 1)), np.ones(3)),
    "set: not positive definite": lambda: bdl.Posterior.full(3).set_full(THETA, -np.eye(3)),
    "set: not symmetric": lambda: bdl.Posterior.full(3).set_full(THETA, np.triu(np.ones((3, 3))) + np.eye(3)),
    "covariance: row 3": lambda: known().covariance([3], [0]),
    "covariance: row -1": lambda: known().covariance([-1], [0]),
    "covariance: row of a float": lambda: known().covariance([0.5], [0]),
    "low-rank parts of a full one": lambda: known().low_rank_parts,
    "solve: columns": lambda: known().solve(np.zeros((1, 4))),
    "sample: negative": lambda: known().sample(-1),
    "sample: seed": lambda: known().sample(1, seed=2**64),
    "sample: a string": lambda: known().sample("many"),
    "log density: NaN": lambda: known().log_density(THETA * NAN),
    "kl: dimensions": lambda: known().kl(bdl.Posterior.full(4)),
    "kl: dtypes": lambda: known().kl(bdl.Posterior.full(3, "float32")),
    "kl: a model": lambda: known().kl(model()),
    "kl: None": lambda: known().kl(None),
    "kl prior: 0": lambda: known().kl_prior(0.0),
    "update: rate": lambda: known().update(np.ones((1, 3)), curvature_rate=2.0),
    "update: rows": lambda: known().update(np.ones((1, 2))),
    "update: not finite": lambda: known().update(np.full((1, 3), INF)),
    "closed posterior": lambda: closed(known()).mean,
    # optimizers
    "method": lambda: optimizer("slag"),
    "method of None": lambda: optimizer(None),
    "method with a null": lambda: optimizer("slang\0"),
    "method for another family": lambda: optimizer("vogn"),
    "method for another model": lambda: bdl.Optimizer(
        model(sizes=(2, 3, 1)), bdl.Posterior.full(13), "slang-exact-hess", 6
    ).fit(X, Y, 1),
    "data size 0": lambda: optimizer(n=0),
    "data size of a float": lambda: optimizer(n=6.0),
    "dimensions differ": lambda: bdl.Optimizer(model(), bdl.Posterior.full(4), "slang", 6),
    "dtypes differ": lambda: bdl.Optimizer(model(), bdl.Posterior.full(3, "float32"), "slang", 6),
    "unknown option": lambda: optimizer().set(learning_rat=1),
    "unknown option read": lambda: optimizer()["learning_rat"],
    "option out of range": lambda: optimizer().set(learning_rate=-1),
    "option NaN": lambda: optimizer().set(learning_rate=NAN),
    "option of a string": lambda: optimizer().set(learning_rate="fast"),
    "integer option of a float": lambda: optimizer().set(minibatch=2.5),
    "choice of a number": lambda: optimizer().set(schedule=1),
    "choice": lambda: optimizer().set(schedule="linear"),
    "switch 2": lambda: optimizer().set(learn_noise=2),
    "prior 0": lambda: assign(optimizer(), "prior_precision", 0.0),
    "prior count": lambda: assign(optimizer(), "prior_precision", [1, 2]),
    "fit: no rows": lambda: optimizer().fit(X[:0], Y[:0], 1),
    "fit: rows differ": lambda: optimizer().fit(X, Y[:5], 1),
    "fit: NaN": lambda: optimizer().fit(np.where(X > 0.9, NAN, X), Y, 1),
    "fit: epochs": lambda: optimizer().fit(X, Y, -1),
    "fit: epochs of a float": lambda: optimizer().fit(X, Y, 1.0),
    "fit: progress": lambda: optimizer().fit(X, Y, 1, "progress"),
    "fit: progress of many arguments": lambda: optimizer().fit(X, Y, 1, lambda a, b: 0),
    "fit: minibatch": lambda: bdl.Optimizer(model(), known(), "slang", 3, minibatch=5).fit(X, Y, 1),
    "fit: a stream's method": lambda: optimizer("bong").fit(X, Y, 1),
    "fit: labels": lambda: optimizer(likelihood="bernoulli").fit(X, Y, 1),
    "fit: no model": lambda: bdl.Optimizer(None, known(), "slang", 6).fit(X, Y, 1),
    "fit: closed": lambda: closed(optimizer()).fit(X, Y, 1),
    "fit: diverging": lambda: optimizer("slang").fit(X * 1e200, Y * 1e200, 50),
    "step: more than N": lambda: optimizer(n=3).step(X, Y),
    "step: exact": lambda: optimizer("exact-full").step(X, Y),
    "step rows: columns": lambda: optimizer().step_rows(np.ones((1, 4))),
    "observe: map": lambda: optimizer("map").observe(X, Y),
    "forecast: negative": lambda: optimizer("bong").forecast(-1),
    "process noise: negative": lambda: optimizer("bong").set_process_noise(-1.0),
    "draws": lambda: optimizer().set_draws(3),
    "draws of another shape": lambda: _train_with_draws(lambda *a: np.zeros((1, 1))),
    "draws that use q later": lambda: _use_lent_posterior(),
    "laplace: blank": lambda: optimizer("map").laplace(X, Y),
    "elbo: samples": lambda: optimizer().elbo(X, Y, samples=-1),
    "running elbo: no step": lambda: optimizer().running_elbo,
    "memory: negative": lambda: optimizer().memory(-1),
    # predictions
    "predict: method": lambda: bdl.predict(model(), known(), X, "exact"),
    "predict: quadrature": lambda: bdl.predict(model(sizes=(2, 1, 1)), bdl.Posterior.full(5), X, "quadrature"),
    "predict: samples": lambda: bdl.predict(model(), known(), X, samples=0),
    "predict: dimensions": lambda: bdl.predict(model(), bdl.Posterior.full(4), X),
    "predict: swapped": lambda: bdl.predict(known(), model(), X),
    "predict: NaN": lambda: bdl.predict(model(), known(), X * NAN),
    "quantiles: level 1": lambda: bdl.predict_quantiles(model(), known(), X, [0.5, 1.0]),
    "quantiles: classes": lambda: bdl.predict_quantiles(model("bernoulli"), known(), X, [0.5]),
    "interval: 0": lambda: bdl.predict_interval(model(), known(), X, 0.0),
    "interval: a string": lambda: bdl.predict_interval(model(), known(), X, "wide"),
    "classes: numbers": lambda: bdl.predict_classes(model(), known(), X),
    "draws: none": lambda: bdl.predict_draws(model(), known(), X, samples=0),
    "draws: plug-in": lambda: bdl.predict_draws(model(), known(), X, method="plug_in"),
    "log density: rows differ": lambda: bdl.predict_log_density(model(), known(), X, Y[:2]),
    # predictors
    "predictor: method": lambda: bdl.Predictor(model(), known(), "exact"),
    "predictor: samples": lambda: bdl.Predictor(model(), known(), samples=0),
    "predictor: dimensions": lambda: bdl.Predictor(model(), bdl.Posterior.full(4)),
    "predictor: swapped": lambda: bdl.Predictor(known(), model()),
    "predictor: NaN": lambda: bdl.Predictor(model(), known()).predict(X * NAN),
    "predictor: columns": lambda: bdl.Predictor(model(), known()).predict(X[:, :1]),
    "predictor: level 1": lambda: bdl.Predictor(model(), known()).predict_quantiles(X, [0.5, 1.0]),
    "predictor: classes": lambda: bdl.Predictor(model(), known()).predict_classes(X),
    "predictor: draws": lambda: bdl.Predictor(model(), known(), "plug_in").predict_draws(X),
    "predictor: closed": lambda: closed(bdl.Predictor(model(), known())).predict(X),
    "predictor: pickled": lambda: pickle.dumps(bdl.Predictor(model(), known())),
    # metrics
    "rmse: rows": lambda: bdl.metrics.rmse(Y, Y[:3]),
    "rmse: empty": lambda: bdl.metrics.rmse([], []),
    "accuracy: label": lambda: bdl.metrics.accuracy(np.full((2, 2), 0.5), [0, 2]),
    "brier: no probabilities": lambda: bdl.metrics.brier([[3.0, -2.0]], [0]),
    "ece: bins": lambda: bdl.metrics.ece(np.full((2, 2), 0.5), [0, 1], bins=0),
    "coverage: NaN": lambda: bdl.metrics.coverage([NAN], [1.0], [0.0]),
    "crps: targets": lambda: bdl.metrics.crps(X, X),
    "nll: probability 0": lambda: bdl.metrics.nll([[1.0, 0.0]], [1]),
    "nll: label": lambda: bdl.metrics.nll([[0.5, 0.5]], [0.5]),
    "calibration curve: bins": lambda: bdl.metrics.calibration_curve(np.full((2, 2), 0.5), [0, 1], bins=0),
    "entropy: no probabilities": lambda: bdl.metrics.entropy([[0.5, 0.6]]),
    "entropy histogram: bins": lambda: bdl.metrics.entropy_histogram(np.full((2, 2), 0.5), bins=-1),
    "auroc: no negative": lambda: bdl.metrics.auroc([1.0], []),
    "auroc: NaN": lambda: bdl.metrics.auroc([NAN], [1.0]),
    "aupr: columns": lambda: bdl.metrics.aupr(X, [1.0]),
    "fpr: rate": lambda: bdl.metrics.fpr([1.0], [0.0], tpr=0.0),
    "fpr: rate above 1": lambda: bdl.metrics.fpr([1.0], [0.0], tpr=1.5),
    "detection error: empty": lambda: bdl.metrics.detection_error([], [0.0]),
    "roc curve: infinite": lambda: bdl.metrics.roc_curve([INF], [0.0]),
    "auroc of right ones: all right": lambda: bdl.metrics.auroc_correct([[0.9, 0.1]], [0]),
    "auroc of right ones: score": lambda: bdl.metrics.auroc_correct(np.full((2, 2), 0.5), [0, 1], score="margin"),
    "out of distribution: classes": lambda: bdl.metrics.out_of_distribution(np.full((2, 2), 0.5), np.full((2, 3), 1 / 3)),
    "temperature: label": lambda: bdl.metrics.fit_temperature(np.zeros((2, 2)), [0, 2]),
    "temperature: 0": lambda: bdl.metrics.apply_temperature(np.zeros((2, 2)), 0.0),
    "temperature: one column": lambda: bdl.metrics.fit_temperature(np.zeros((2, 1)), [0, 1]),
    # what has been added since: families, noise, images, networks by name
    "kronecker: groups": lambda: bdl.Posterior.kronecker(network("input 2 3 3; conv 2 2 groups 2; dense 1")),
    "kronecker: no model": lambda: bdl.Posterior.kronecker(known()),
    "kronecker: method": lambda: bdl.Optimizer(model(), bdl.Posterior.kronecker(model()), "slang", 6),
    "kfac: family": lambda: bdl.Optimizer(model(), low_rank(), "kfac", 6),
    "low-rank moment: rank": lambda: bdl.Posterior.low_rank_moment(3, -1),
    "low-rank moment: huge rank": lambda: bdl.Posterior.low_rank_moment(3, 1000),
    "layerwise low-rank moment: rank": lambda: bdl.Posterior.layerwise_low_rank_moment(model(), 257),
    "blockwise: size 0": lambda: bdl.Posterior.blockwise_full([2, 0]),
    "dropout: rate": lambda: bdl.Posterior.dropout(model(), 1.0, 0.0),
    "swag: rank": lambda: bdl.Optimizer(model(), bdl.Posterior.low_rank_moment(3, 0), "swag", 6),
    "network: no layer": lambda: network("input 2"),
    "network: unknown layer": lambda: network("input 2; dence 1"),
    "network: too large": lambda: network("input 2; dense 4000000000"),
    "network: image": lambda: network("input 1 3 3; conv 1 5; dense 1"),
    "networks: name": lambda: bdl.networks.description("lenet"),
    "networks: too small": lambda: network(bdl.networks.description("lenet5", (1, 2, 2))),
    "images: dimensions": lambda: bdl.BayesianConvClassifier(epochs=1).fit(np.zeros((4, 3)), [0, 1, 0, 1]),
    "images: one class": lambda: bdl.BayesianConvClassifier(epochs=1).fit(np.zeros((4, 1, 8, 8)), [1, 1, 1, 1]),
    "hessian: convolution": lambda: network("input 1 3 3; conv 1 2; dense 1").hessian(
        np.zeros(10), np.zeros((1, 9)), np.zeros(1)
    ),
    # searches
    "search: folds": lambda: search(folds=1),
    "search: epochs": lambda: search(epochs=-1),
    "search: no range": lambda: search().run(X, Y),
    "search: unknown option": lambda: search().add("prior_precison", 1, 2),
    "search: limits": lambda: search().add("prior_precision", 2, 1),
    "search: log of 0": lambda: search().add("learning_rate", 0, 1, scale="log"),
    "search: scale": lambda: search().add("learning_rate", 0, 1, scale="root"),
    "search: one limit": lambda: search().add("learning_rate", 1),
    "search: one word": lambda: search().add("schedule", "cosine"),
    "search: no trial": lambda: search().best,
    "search: trial 3": lambda: search().apply(3, optimizer()),
    # files
    "load: missing": lambda: bdl.load("/nonexistent/file"),
    "load: a folder": lambda: bdl.load("/"),
    "load: other contents": lambda: bdl.load(os.path.abspath(__file__)),
    "load: a number": lambda: bdl.load(3),
    "load: a null": lambda: bdl.load("a\0b"),
    "save: no folder": lambda: bdl.save("/nonexistent/file", model()),
    "save: nothing": lambda: bdl.save("/tmp/nothing"),
    "save: parts that do not fit": lambda: bdl.save("/tmp/nothing", model(), bdl.Posterior.full(4)),
    "save: a posterior as model": lambda: bdl.save("/tmp/nothing", known()),
    "save: a number": lambda: bdl.save("/tmp/nothing", optimizer=3),
    "save: an ensemble": lambda: bdl.save("/tmp/nothing", bdl.DeepEnsembleRegressor()),
    "save: an estimator and a posterior": lambda: bdl.save("/tmp/nothing", fitted(), known()),
    "bytes": lambda: lowlevel.bdl_load_bytes(b"\x10\0\0\0\0\0\0\0{}", None, False, True, False),
    "bytes of a string": lambda: lowlevel.bdl_load_bytes("text", None, False, True, False),
    # the lowest level
    "raw: read-only output": lambda: evaluate_raw(THETA[None], X, read_only(np.empty((6, 1)))),
    "raw: output of integers": lambda: evaluate_raw(THETA[None], X, np.empty((6, 1), dtype=np.int64)),
    "raw: small output": lambda: evaluate_raw(THETA[None], X, np.empty((5, 1))),
    "raw: vector": lambda: evaluate_raw(THETA, X, np.empty((6, 1))),
    "raw: list": lambda: evaluate_raw([[0.0] * 3], X, np.empty((6, 1))),
    "raw: half precision": lambda: evaluate_raw(THETA[None], X.astype("f2"), np.empty((6, 1))),
    "raw: big endian": lambda: evaluate_raw(THETA[None], X.astype(">f8"), np.empty((6, 1))),
    "raw: bytes": lambda: evaluate_raw(b"000", X, np.empty((6, 1))),
    "raw: odd strides": lambda: evaluate_raw(
        THETA[None], np.ndarray((6, 2), "f8", bytes(200), strides=(20, 8)), np.empty((6, 1))
    ),
    "raw: no output": lambda: evaluate_raw(THETA[None], X, None),
    "raw: another handle": lambda: lowlevel.bdl_model_parameters(known()._handle),
    "raw: a number for a handle": lambda: lowlevel.bdl_model_evaluate(3, X, X, X),
    "raw: no handle": lambda: lowlevel.bdl_model_evaluate(None, X, X, X),
    "raw: arguments": lambda: lowlevel.bdl_model_evaluate(),
    # estimators
    "estimator: rows": lambda: bdl.BayesianMLPRegressor().fit(X, Y[:3]),
    "estimator: NaN": lambda: bdl.BayesianMLPRegressor().fit(X * NAN, Y),
    "estimator: hidden": lambda: bdl.BayesianMLPRegressor(hidden=(0,)).fit(X, Y),
    "estimator: hidden of None": lambda: bdl.BayesianMLPRegressor(hidden=None).fit(X, Y),
    "estimator: activation": lambda: bdl.BayesianMLPRegressor(activation="step").fit(X, Y),
    "estimator: method": lambda: bdl.BayesianMLPRegressor(method="adam").fit(X, Y),
    "estimator: posterior": lambda: bdl.BayesianMLPRegressor(posterior="gaussian").fit(X, Y),
    "estimator: rank": lambda: bdl.BayesianMLPRegressor(rank=-1).fit(X, Y),
    "estimator: dtype": lambda: bdl.BayesianMLPRegressor(dtype="float16").fit(X, Y),
    "estimator: epochs": lambda: bdl.BayesianMLPRegressor(epochs=-1).fit(X, Y),
    "estimator: seed": lambda: bdl.BayesianMLPRegressor(random_state="x").fit(X, Y),
    "estimator: options": lambda: bdl.BayesianMLPRegressor(options={"lerning_rate": 1}).fit(X, Y),
    "estimator: validation": lambda: bdl.BayesianMLPRegressor(early_stopping=True, validation_fraction=2.0).fit(X, Y),
    "estimator: samples": lambda: fitted(samples=0, prediction="monte_carlo").predict(X),
    "estimator: prediction": lambda: fitted(prediction="quadrature").predict(X),
    "estimator: interval": lambda: fitted().predict(X, interval=1.5),
    "estimator: quantiles": lambda: fitted().predict(X, quantiles=[]),
    "estimator: features": lambda: fitted().predict(X[:, :1]),
    "estimator: parameter": lambda: bdl.BayesianMLPRegressor(hiden=3),
    "estimator: continuous labels": lambda: bdl.BayesianMLPClassifier().fit(X, Y / 3),
}
expected = bdl.BDLError, TypeError, ValueError, OverflowError


def _train_with_draws(draws):
    trainer = bdl.Optimizer(model(), bdl.Posterior.full(3), "slang", 6)
    trainer.set_draws(draws)
    trainer.step(X, Y)


def _use_lent_posterior():
    kept = []

    def draws(kind, step, iteration, q, count):
        kept.append(q)
        return np.zeros((count, 3))

    _train_with_draws(draws)
    kept[0].mean


def test_the_table_is_long():
    assert len(calls) > 150


@pytest.mark.parametrize("name", calls)
def test_is_refused(name):
    with pytest.raises(expected) as caught:
        calls[name]()
    assert str(caught.value)


BIG = np.ones(100_000)
BRIEF = {
    "option": lambda: fitted(options={"learning_rate": BIG}),
    "list": lambda: fitted(options={"learning_rate": BIG.tolist()}),
    "whole": lambda: fitted(options={"samples": 2.5}),
    "choice": lambda: fitted(options={"curvature": BIG}),
    "unknown": lambda: fitted(options={"weights": BIG}),
    "noise": lambda: fitted(noise=BIG.tolist()),
    "activation": lambda: fitted(activation=BIG),
    "dropout": lambda: fitted(method="mc-dropout", dropout=BIG),
    "prior": lambda: fitted(prior=BIG),
    "family": lambda: bdl.BayesianGLM(family=BIG.tolist()).fit(X, Y),
    "method": lambda: fitted(method=BIG),
    "interval": lambda: fitted().predict(X, interval=BIG),
    "prediction": lambda: fitted(prediction=BIG).predict(X),
    "likelihood": lambda: bdl.Model.mlp([2, 1], likelihood=BIG),
    "labels": lambda: bdl.BayesianMLPClassifier(hidden=2, epochs=1)
    .fit(np.ones((3000, 1)), np.arange(3000) // 3)
    .log_predictive_density([[1.0]], [-1]),
}


@pytest.mark.parametrize("name", BRIEF)
@pytest.mark.filterwarnings("ignore")
def test_values_are_named_in_a_line(name):
    with pytest.raises(Exception) as raised:
        BRIEF[name]()
    assert 10 < len(str(raised.value)) < 700 and "\n" not in str(raised.value)


def test_rows_count_from_0():
    with pytest.raises(bdl.NotFiniteError, match=r"at row 5, column 1 \(counting from 0\)"):
        optimizer().step(np.where(X == X[5, 1], NAN, X), Y)
    with pytest.raises(bdl.LabelError, match=r"at row 1 \(counting from 0\)"):
        bdl.metrics.accuracy([[0.5, 0.5], [0.5, 0.5]], [0, 2])


def test_what_was_refused_changed_nothing():
    trainer = optimizer()
    trainer.fit(X, Y, 3)
    mean, options = trainer.posterior.mean, trainer.options
    for bad in (
        lambda: trainer.fit(X, Y * NAN, 1),
        lambda: trainer.step(X[:, :1], Y),
        lambda: trainer.set(momentum=2.0),
        lambda: trainer.posterior.set_full(mean, -np.eye(3)),
    ):
        with pytest.raises(bdl.BDLError):
            bad()
    assert np.array_equal(trainer.posterior.mean, mean) and trainer.options == options


@pytest.mark.parametrize(
    "call, kind, also",
    [
        (lambda: low_rank().sample(1, seed=1, first=-1), bdl.InvalidArgumentError, ValueError),
        (lambda: known().solve(np.zeros((1, 4))), bdl.ShapeError, ValueError),
        (lambda: model().evaluate(THETA, X * NAN), bdl.NotFiniteError, ValueError),
        (lambda: optimizer(likelihood="bernoulli").fit(X, Y, 1), bdl.LabelError, ValueError),
        (lambda: optimizer().set(momentun=0.5), bdl.UnknownOptionError, ValueError),
        (lambda: optimizer("exact-full").step(X, Y), bdl.UnsupportedError, NotImplementedError),
        (lambda: bdl.load("/nonexistent/file"), bdl.FileError, OSError),
        (lambda: bdl.load(os.path.abspath(__file__)), bdl.FormatError, ValueError),
        (lambda: optimizer("slang").fit(X * 1e200, Y * 1e200, 50), bdl.DivergedError, ArithmeticError),
        (lambda: bdl.Posterior.full(2_000_000), bdl.OutOfMemoryError, MemoryError),
    ],
)
def test_classes_of_errors(call, kind, also):
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, also) and caught.value.status == kind.status
    assert str(caught.value) and "bdl_" not in str(caught.value)  # the name of no C function


@pytest.mark.parametrize("handle", [model, known, optimizer], ids=["model", "posterior", "optimizer"])
def test_pickles_of_strangers(handle):
    """A state that was cut or changed gives the library's error or another valid handle, and runs nothing of its own."""
    restore, (state, *more) = handle().__reduce__()[:2]
    for length in (0, 1, 7, 8, 100, len(state) // 2, len(state) - 1):
        with pytest.raises(bdl.BDLError):
            restore(state[:length], *more)
    for at in range(0, len(state), 17):
        try:
            restore(state[:at] + bytes([state[at] ^ 0x55]) + state[at + 1 :], *more)
        except bdl.BDLError:
            pass
    for other in (b"", b"c__builtin__\neval\n(S'1/0'\ntR.", pickle.dumps(print)):  # pickles in place of states
        with pytest.raises(bdl.BDLError):
            restore(other, *more)
    for wrong in (None, "text", 3, [1, 2]):
        with pytest.raises((TypeError, bdl.BDLError)):
            restore(wrong, *more)


def test_subinterpreters():
    """An ImportError that says so, not a crash."""
    code = """
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
one = interpreters.create()
try:
    problem = interpreters.run_string(one, "import bdl._lowlevel")
except Exception as error:
    problem = error
print(problem)
"""
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert "main interpreter" in run.stdout or "subinterpreters" in run.stdout, run.stdout


def test_no_leak():
    """Failing and succeeding calls, again and again, in a process of their own: memory does not grow."""
    code = """
import sys; sys.path.insert(0, sys.argv[1])
import gc, os, warnings; warnings.simplefilter("ignore")
import numpy as np, bdl, test_errors as table

def pages():
    gc.collect()
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")

slow = {"dimension huge", "fit: diverging", "estimator: prediction", "estimator: samples"}
def some():
    for name, call in table.calls.items():
        if name not in slow and "estimator" not in name:
            try: call()
            except Exception: pass
    trainer = table.optimizer()
    trainer.fit(table.X, table.Y, 2, lambda o: o.running_elbo)
    twin = bdl.optimizer._load_optimizer(trainer.__reduce__()[1][0], True)
    bdl.predict_draws(twin.model, twin.posterior, table.X, 200)
    own = bdl.Model.user(lambda t, x: x @ t[:2, None], lambda t, x, s: np.hstack([s * x, s]), 2, 1, 3)
    bdl.Optimizer(own, bdl.Posterior.low_rank(3, 1), "slang", 6).step(table.X, table.Y)
for _ in range(30): some()
before = pages()
for _ in range(120): some()
print(pages() - before)
"""
    folder = os.path.dirname(os.path.abspath(__file__))
    if not os.path.exists("/proc/self/statm"):
        pytest.skip("memory is read from /proc")
    run = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 2_000_000, run.stdout
