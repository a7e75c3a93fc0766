"""What an estimator takes where its user has no wish: method, posterior, options and first predictions of a few cases. As
defaults.R and defaults.jl print it."""

import warnings

import bdl
import numpy as np

warnings.simplefilter("ignore")

i = np.arange(1, 31)
x = np.stack([(7 * i) % 11 - 5, (3 * i) % 7 - 3], axis=1) / 4
y = 2 * x[:, 0] - x[:, 1] + ((5 * i) % 9 - 4) / 16
two = np.where(y > 0, "b", "a")
three = np.where(y > 1, "c", two)
count = (3 * i) % 5
both = np.stack([y, 10 * x[:, 1] + y / 2], axis=1)
number, row, column, channel = np.ix_(i, range(6), range(5), range(2))
pixels = ((17 * number + 29 * row + 43 * column + 101 * channel + number * row * column) % 256).astype(np.uint8)


def network(targets, **settings):
    kind = bdl.BayesianMLPRegressor if targets.dtype == float else bdl.BayesianMLPClassifier
    return kind(**settings), x, targets


def images(targets):
    kind = bdl.BayesianConvRegressor if targets.dtype == float else bdl.BayesianConvClassifier
    return kind("conv 3 3; relu; maxpool 2", channels="last"), pixels, targets


def layers(network, targets):
    return bdl.BayesianConvRegressor(network, method="vogn"), x, targets


def linear(family, targets, **settings):
    return bdl.BayesianGLM(family, **settings), x, targets


cases = {
    "regression": network(y),
    "targets": network(both),
    "two classes": network(two),
    "three classes": network(three),
    "gaussian": network(y, noise="gaussian"),
    "heteroscedastic": network(y, noise="heteroscedastic"),
    "student_t": network(y, noise="student_t"),
    "outlier": network(np.append(1e5, y[1:])),
    "mc-dropout": network(y, method="mc-dropout"),
    "vogn": network(y, method="vogn"),
    "laplace": network(three, method="laplace"),
    "lo-fi": network(y, method="lo-fi"),
    "images": images(three),
    "numbers of images": images(y),
    "batch norm": layers("dense 4; batchnorm; relu", y),
    "whole network": layers("input 2; dense 4; relu; dense 1", y),
    "linear": linear("gaussian", y),
    "linear targets": linear("gaussian", both),
    "counts": linear("poisson", count),
    "logistic": linear("bernoulli", two),
    "softmax": linear("categorical", three),
    "linear bbb": linear("gaussian", y, method="bbb"),
    "linear stream": linear("gaussian", y, method="cm-ekf"),
    "count stream": linear("poisson", count, method="lo-fi"),
}


def value_text(value):
    return value if isinstance(value, str) else "%.15g" % value


for name, (estimator, inputs, targets) in cases.items():
    estimator.fit(inputs, targets)
    optimizer, q = estimator.optimizer_, estimator.posterior_
    print("case", name)
    print("likelihood", optimizer.model.likelihood)
    print("method", optimizer.method, "posterior", q.family, q.rank, "steps", optimizer.progress.step)
    if q.family == "dropout":
        print("rates", *("%.15g" % rate for rate in q.dropout_rates))
    for option, value in optimizer.options.items():
        print(option, value_text(value))
    has_classes = optimizer.model.likelihood in ("bernoulli", "categorical")
    mean = estimator.predict_proba(inputs[:3]) if has_classes else estimator.predict(inputs[:3])
    print("predictions", *("%.12g" % number for number in np.ravel(mean)))
    if q.family != "dropout":
        print("novelty", *("%.10g" % number for number in [estimator.novelty_limit(), *estimator.novelty(inputs[:3])]))
