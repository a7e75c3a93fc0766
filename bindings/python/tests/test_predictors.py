"""Predictors give exactly the results of the functions, whatever happens to model and posterior."""

import gc
import weakref

import numpy as np
import pytest

import bdl

LIKELIHOODS = ["gaussian", "heteroscedastic", "student_t", "bernoulli", "categorical", "poisson"]


def trained(likelihood, rng, dtype="float64"):
    model = bdl.Model.mlp([3, 4, 2], activation="tanh", likelihood=likelihood, dtype=dtype)
    q = bdl.Posterior.full(model.parameters, dtype=dtype)
    q.set_full(0.5 * rng.normal(size=q.dimension), 20 * np.eye(q.dimension))
    return model, q


def everything(ask, likelihood, x, method):
    found = [*ask("predict", x), ask("predict_log_density", x, np.zeros((len(x), 1 if likelihood in ("categorical", "heteroscedastic") else 2)))]
    if likelihood in ("bernoulli", "categorical"):
        found += [part for part in ask("predict_classes", x) if part is not None]
    else:
        found += [ask("predict_quantiles", x, [0.1, 0.5]), *ask("predict_interval", x, 0.8)]
    if method != "plug_in":
        found.append(ask("predict_draws", x))
    return found


@pytest.mark.parametrize("method", ["monte_carlo", "plug_in", "linearized", "linearized_monte_carlo"])
@pytest.mark.parametrize("likelihood", LIKELIHOODS)
def test_same_answers(rng, likelihood, method):
    model, q = trained(likelihood, rng, "float32" if method == "plug_in" else "float64")
    predictor = bdl.Predictor(model, q, method, samples=9, seed=4)
    for rows in (1, 5, 2):
        x = rng.normal(size=(rows, 3))
        how = {"method": method, "samples": 9, "seed": 4}
        once = everything(lambda name, *data: getattr(bdl, name)(model, q, *data, **how), likelihood, x, method)
        again = everything(lambda name, *data: getattr(predictor, name)(*data), likelihood, x, method)
        assert len(once) == len(again) and all(map(np.array_equal, once, again))
        law = zip(bdl.predict_output_distribution(model, q, x), predictor.predict_output_distribution(x))
        assert all(np.array_equal(*pair) for pair in law)
        assert np.array_equal(bdl.predict_leverage(model, q, x), predictor.predict_leverage(x))


def test_snapshot(rng):
    model, q = trained("gaussian", rng)
    predictor, x = bdl.Predictor(model, q, samples=9), rng.normal(size=(1, 3))
    before = predictor.predict(x)
    model.noise_precision = 100.0
    q.set_full(np.zeros(q.dimension), np.eye(q.dimension))
    model.close()
    q.close()
    assert all(map(np.array_equal, before, predictor.predict(x)))
    assert repr(predictor) == "<Predictor monte_carlo: samples=9>"
    predictor.close()
    assert repr(predictor) == "<closed Predictor>"


def test_students_noise_without_variance(rng):
    model, q = trained("student_t", rng)
    model.degrees_of_freedom = 2
    assert np.all(np.isinf(bdl.Predictor(model, q, samples=3).predict(rng.normal(size=(2, 3))).noise_variance))


def test_one_call_at_a_time():
    refused = []

    def outputs(theta, x):
        if kept:
            with pytest.raises(bdl.InvalidArgumentError, match="in use"):
                kept[0].predict(x)
            refused.append(True)
        return x @ theta[:, None]

    kept = []
    model = bdl.Model.user(outputs, None, 3, 1, 3)
    kept.append(bdl.Predictor(model, bdl.Posterior.full(3), samples=2))
    kept[0].predict(np.ones((1, 3)))
    assert refused


def test_own_models_live_as_long_as_their_predictors(rng):
    class Outputs:
        def __call__(self, theta, x):
            return x @ theta[:, None]

    outputs = Outputs()
    alive = weakref.ref(outputs)
    model = bdl.Model.user(outputs, None, 3, 1, 3)
    predictor = bdl.Predictor(model, bdl.Posterior.full(3), "plug_in")
    del outputs
    model.close()
    assert np.all(predictor.predict(rng.normal(size=(4, 3))).mean == 0)
    assert alive() is not None
    predictor.close()
    gc.collect()
    assert alive() is None


def test_ensembles(rng):
    """Means and variances of the equal mixture; member j draws with seed + j."""
    members = [trained("gaussian", rng) for _ in range(3)]
    models, posteriors = zip(*members)
    ensemble = bdl.Predictor(models, posteriors, samples=9, seed=4)
    assert repr(ensemble) == "<Predictor monte_carlo: samples=9, members=3>"
    x = rng.normal(size=(5, 3))
    alone = [bdl.Predictor(model, q, samples=9, seed=4 + j) for j, (model, q) in enumerate(members)]
    means, epistemic, noise = (np.stack(parts) for parts in zip(*(one.predict(x) for one in alone)))
    found = ensemble.predict(x)
    assert np.allclose(found.mean, means.mean(axis=0), rtol=1e-12)
    assert np.allclose(found.epistemic_variance, epistemic.mean(axis=0) + means.var(axis=0), rtol=1e-12)
    assert np.allclose(found.noise_variance, noise.mean(axis=0), rtol=1e-12)
    draws = ensemble.predict_draws(x)
    assert draws.shape == (5, 2, 27)
    assert np.array_equal(draws, np.concatenate([one.predict_draws(x) for one in alone], axis=2))
    lower, upper = ensemble.predict_interval(x, 0.9)
    assert np.all(lower < upper)


def test_ensembles_of_classes(rng):
    members = [trained("categorical", rng) for _ in range(2)]
    models, posteriors = map(list, zip(*members))
    x = rng.normal(size=(4, 3))
    found = bdl.Predictor(models, posteriors, "plug_in").predict_classes(x)
    single = [bdl.predict_classes(*member, x, "plug_in").probabilities for member in members]
    assert np.allclose(found.probabilities, np.mean(single, axis=0), rtol=1e-12)
    assert np.all(found.mutual_information > 0)
    one = bdl.Predictor(models[:1], posteriors[:1], samples=9).predict(x)
    assert np.array_equal(one.mean, bdl.Predictor(models[0], posteriors[0], samples=9).predict(x).mean)


def test_ensembles_refuse(rng):
    model, q = trained("gaussian", rng)
    other, wrong = trained("categorical", rng)
    with pytest.raises(bdl.InvalidArgumentError, match="1 models and 2 posteriors"):
        bdl.Predictor([model], [q, q])
    with pytest.raises(bdl.InvalidArgumentError):
        bdl.Predictor([], [])
    with pytest.raises(bdl.ShapeError, match="member 1"):
        bdl.Predictor([model, other], [q, wrong])
    with pytest.raises(TypeError):
        bdl.Predictor([model, 3], [q, q])
    with pytest.raises(bdl.InvalidArgumentError, match="closed"):
        gone = model.copy()
        gone.close()
        bdl.Predictor([model, gone], [q, q])


def test_ensembles_keep_the_users_models():
    """The callbacks live as long as the predictor."""
    members = [bdl.Model.user(lambda theta, x: x @ theta[:, None] + j, None, 3, 1, 3) for j in range(2)]
    ensemble = bdl.Predictor(members, [bdl.Posterior.full(3)] * 2, "plug_in")
    del members
    gc.collect()
    assert ensemble.predict(np.ones((1, 3))).mean == 1
