"""What estimators that learn by partial_fit say about data that follow: intervals, scales, noise."""

import pickle

import bdl
import numpy as np
import pytest


def linear(random, n, noise):
    x = random.normal(size=(n, 3))
    return x, x @ [1, -2, 0.5] + noise * random.normal(size=n)


def in_blocks(estimator, x, y, rows):
    for first in range(0, len(x), rows):
        estimator.partial_fit(x[first : first + rows], y[first : first + rows])
    return estimator


def held(estimator, x, y, level):
    low, high = estimator.predict(x, interval=level)
    return np.mean((low < y) & (y < high))


@pytest.mark.parametrize("noise", [0.1, 1.0])
@pytest.mark.parametrize("kind", [bdl.BayesianGLM, bdl.BayesianMLPRegressor])
def test_intervals_hold_what_they_say(kind, noise, rng):
    x, y = linear(rng, 3000, noise)
    estimator = in_blocks(kind(), x[:1500], y[:1500], 25)
    for level in (0.5, 0.9, 0.95):
        assert abs(held(estimator, x[1500:], y[1500:], level) - level) < 0.06
    assert 0.9 * noise < estimator.model_.noise_precision[0] ** -0.5 < 1.3 * noise


@pytest.mark.parametrize("options", [{"forgetting": 0.99}, {"process_noise": 1e-4}])
def test_intervals_follow_a_drift(options, rng):
    x = rng.normal(size=(2000, 3))
    w = [1, -1, 0.5] + np.cumsum(0.03 * rng.normal(size=x.shape), axis=0)
    y = np.tanh(np.sum(x * w, axis=1)) + 0.1 * rng.normal(size=2000)
    estimator, inside, errors = bdl.BayesianMLPRegressor(options=options), [], []
    for first in range(0, 2000, 20):
        part = slice(first, first + 20)
        if first >= 1000:
            inside.append(held(estimator, x[part], y[part], 0.9))
            errors.append(np.mean((estimator.predict(x[part]) - y[part]) ** 2))
        estimator.partial_fit(x[part], y[part])
    assert 0.85 < np.mean(inside) < 0.95 and np.mean(errors) < 0.25 * y.var()


@pytest.mark.parametrize("rows", [1, 7, 50])
@pytest.mark.parametrize("kind", [bdl.BayesianGLM, bdl.BayesianMLPRegressor])
def test_units_do_not_matter_whatever_the_first_block(kind, rows, rng):
    x, y = linear(rng, 600, 0.3)
    plain = in_blocks(kind(), x[:400], y[:400], rows)
    scaled = in_blocks(kind(), x[:400] * [1e3, 1, 1e-2] + [5e4, 0, 1], 2e4 + 3e3 * y[:400], rows)
    test = x[400:] * [1e3, 1, 1e-2] + [5e4, 0, 1]
    assert np.allclose(scaled.predict(test), 2e4 + 3e3 * plain.predict(x[400:]), rtol=0, atol=3e3 * 1e-4)
    assert held(scaled, test, 2e4 + 3e3 * y[400:], 0.95) > 0.88


def test_blocks_of_a_linear_model_do_not_matter(rng):
    """Scales are those of 20 rows, or of a longer first block."""
    x, y = linear(rng, 300, 0.5)
    right = np.linalg.lstsq(np.column_stack([x, np.ones(300)]), y, rcond=None)[0]
    for rows in (1, 10, 20, 300):
        glm = in_blocks(bdl.BayesianGLM(), x, y, rows)
        assert np.abs(glm.coef_ - right[:3]).max() < 0.03 and abs(glm.intercept_ - right[3]) < 0.03
        assert glm.optimizer_.method == "ekf"
    classes = (y > 0).astype(int)
    filtered = bdl.BayesianGLM("bernoulli")
    for first in range(0, 300, 10):
        filtered.partial_fit(x[first : first + 10], classes[first : first + 10], classes=[0, 1])
    assert np.allclose(filtered.predict_proba(x), bdl.BayesianGLM("bernoulli").fit(x, classes).predict_proba(x), atol=0.1)


def test_several_targets_have_noises_of_their_own(rng):
    x, y = linear(rng, 1500, 0.1)
    both = np.column_stack([1e5 * y, y + rng.normal(size=1500)])
    estimator = in_blocks(bdl.BayesianMLPRegressor(), x, both, 10)
    assert np.allclose(estimator.model_.noise_precision**-0.5 / [1e4, 1], 1, atol=0.2)


def test_constant_columns_do_no_harm(rng):
    x, y = linear(rng, 600, 0.2)
    x[:60, 2], constant = 5, y.copy()
    x[60:, 2] = 5 + 1e4 * x[60:, 2]
    y = x[:, 0] + 1e-4 * (x[:, 2] - 5) + 0.2 * rng.normal(size=600)
    constant[:150] = 7
    for rows in (1, 30):
        late = in_blocks(bdl.BayesianMLPRegressor(), x[:400], y[:400], rows)
        assert late.score(x[400:], y[400:]) > 0.9 and held(late, x[400:], y[400:], 0.95) > 0.85
        of_constant = in_blocks(bdl.BayesianMLPRegressor(), x[:150], constant[:150], rows)
        mean, std = of_constant.predict(x[150:], return_std=True)
        assert np.allclose(mean, 7, atol=1e-3) and std.max() < 1


def test_a_pickle_goes_on_before_scales_are_settled(rng):
    x, y = linear(rng, 40, 0.3)
    straight, resumed = bdl.BayesianMLPRegressor(), bdl.BayesianMLPRegressor()
    for i in range(40):
        straight.partial_fit(x[i : i + 1], y[i : i + 1])
        resumed = pickle.loads(pickle.dumps(resumed.partial_fit(x[i : i + 1], y[i : i + 1])))
    assert np.array_equal(straight.predict(x), resumed.predict(x))


def test_streams_go_on_learning_the_noise_of_a_fit(rng):
    x, y = linear(rng, 1200, 0.1)
    regressor = bdl.BayesianMLPRegressor(epochs=60).fit(x[:200], y[:200])
    in_blocks(regressor, x[200:], y[200:] + rng.normal(size=1000), 20)
    assert 0.8 < np.median(regressor.predict_uncertainty(x).noise_variance) ** 0.5 < 1.2


def test_standardize_false_is_obeyed(rng):
    x, y = linear(rng, 60, 0.3)
    for estimator in (bdl.BayesianGLM(standardize=False), bdl.BayesianMLPRegressor(standardize=False)):
        assert np.all(in_blocks(estimator, x, y, 3).model_.standardization.input_scale == 1)
