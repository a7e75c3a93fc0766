import pickle

import numpy as np
import pytest
from sklearn.base import clone

import bdl


@pytest.fixture
def fitted(curve):
    return bdl.BayesianMLPRegressor(epochs=100).fit(*curve), *curve


def test_learns_function_and_noise(fitted):
    regressor, x, y = fitted
    assert regressor.score(x, y) > 0.9
    noise = regressor.predict_uncertainty(x).noise_variance ** 0.5
    assert 0.15 < noise.min() and noise.max() < 0.3


def test_intervals_hold_what_they_promise(curve):
    x, y = curve
    regressor = bdl.BayesianMLPRegressor(epochs=200).fit(x[:160], y[:160])
    for probability in 0.5, 0.9:
        lower, upper = regressor.predict(x[160:], interval=probability)
        # binomial deviations of 80 draws, and some caution of the posterior
        assert probability - 0.15 < np.mean((lower < y[160:]) & (y[160:] < upper)) < probability + 0.25


def test_standard_deviation_is_of_both_uncertainties(fitted):
    regressor, x, _ = fitted
    mean, std = regressor.predict(x, return_std=True)
    parts = regressor.predict_uncertainty(x)
    assert np.array_equal(parts.mean, mean)
    assert np.allclose(std**2, parts.epistemic_variance + parts.noise_variance)
    far = regressor.predict_uncertainty([[8.0]])
    assert far.epistemic_variance[0] > 10 * parts.epistemic_variance.mean()


def test_quantiles_agree_with_intervals(fitted):
    regressor, x, _ = fitted
    lower, upper = regressor.predict(x, interval=0.8)
    quantiles = regressor.predict(x, quantiles=[0.1, 0.5, 0.9])
    assert quantiles.shape == (240, 3)
    assert np.allclose(quantiles[:, 0], lower) and np.allclose(quantiles[:, 2], upper)
    assert np.array_equal(regressor.predict(x, quantiles=0.5), quantiles[:, 1])


def test_only_one_question_at_a_time(fitted):
    with pytest.raises(ValueError, match="pass only one of"):
        fitted[0].predict(fitted[1], return_std=True, interval=0.5)


def test_draws_agree_with_moments(fitted):
    regressor, x, _ = fitted
    draws = regressor.sample_y(x, n_samples=4000, random_state=5)
    mean, std = regressor.predict(x, return_std=True)
    assert draws.shape == (240, 4000)
    assert np.all(np.abs(draws.mean(axis=1) - mean) < 0.3 * std)
    assert np.allclose(draws.std(axis=1), std, rtol=0.15)
    theta = regressor.sample_posterior(3)
    assert theta.shape == (3, regressor.model_.parameters)


def test_log_predictive_density_is_that_of_the_mixture(curve):
    x, y = curve
    regressor = bdl.BayesianMLPRegressor(epochs=100, noise="gaussian", samples=4000, prediction="monte_carlo").fit(x, y)
    theta = regressor.posterior_.sample(4000, seed=1)
    precision = regressor.model_.noise_precision[0]
    means = np.array([regressor.model_.evaluate(row, x)[:, 0] for row in theta])
    densities = np.exp(-0.5 * precision * (y - means) ** 2) * np.sqrt(precision / (2 * np.pi))
    expected = densities.mean(axis=0)
    error = densities.std(axis=0) / expected / np.sqrt(4000)  # of the logarithm; the other draws have as much
    assert np.all(np.abs(regressor.log_predictive_density(x, y) - np.log(expected)) < 6 * np.sqrt(2) * error)


def test_several_outputs_have_noises_of_their_own(rng):
    x = rng.normal(size=(400, 2))
    y = np.column_stack([x[:, 0] + 0.1 * rng.normal(size=400), 50 * x[:, 1] + 50 * rng.normal(size=400)])
    regressor = bdl.BayesianMLPRegressor(hidden=(20,), epochs=150).fit(x, y)
    mean, std = regressor.predict(x, return_std=True)
    assert mean.shape == std.shape == (400, 2)
    assert regressor.predict(x, quantiles=[0.2, 0.4]).shape == (400, 2, 2)
    assert regressor.sample_y(x, 3).shape == (400, 2, 3)
    noise = regressor.model_.noise_precision**-0.5
    assert 0.07 < noise[0] < 0.2 and 35 < noise[1] < 65


@pytest.mark.parametrize("method", [m for m in bdl.methods() if not m.startswith("exact-") and m != "slang-exact-hess"])
def test_every_method_fits(method, curve):
    has_rank = any("low_rank" in family for family in bdl.describe_method(method).families)
    regressor = bdl.BayesianMLPRegressor(hidden=4, method=method, epochs=3, rank=2 if has_rank else None).fit(*curve)
    assert np.isfinite(regressor.predict(curve[0])).all()


@pytest.mark.parametrize("prediction", ["plug_in", "linearized", "linearized_monte_carlo"])
def test_predictions_by_other_methods(fitted, prediction):
    regressor, x, y = fitted
    regressor.set_params(prediction=prediction)
    assert regressor.score(x, y) > 0.9
    assert regressor.sample_y(x, 2).shape == (240, 2)


@pytest.mark.parametrize("method", ["map", "laplace", "slang-ggn", "mc-dropout", "vd-ekf"])
def test_predictions_suit_the_method(method, curve):
    x, y = curve
    regressor = bdl.BayesianMLPRegressor(hidden=4, method=method, epochs=5).fit(x, y)
    usual = regressor.predict(x[:9], return_std=True)
    prediction = regressor.optimizer_.prediction
    assert prediction == {"map": "plug_in", "mc-dropout": "monte_carlo"}.get(method, "linearized")
    assert np.array_equal(usual, regressor.set_params(prediction=prediction).predict(x[:9], return_std=True))
    assert regressor.set_params(prediction="auto").sample_y(x[:9], 3).shape == (9, 3)


@pytest.mark.parametrize("seed, same", [(1, True), (np.int64(1), True), (2, False)])
def test_seeds(curve, seed, same):
    first = bdl.BayesianMLPRegressor(epochs=2).fit(*curve)
    second = bdl.BayesianMLPRegressor(epochs=2, random_state=seed).fit(*curve)
    assert np.array_equal(first.posterior_.mean, second.posterior_.mean) == same


@pytest.mark.parametrize("state", [None, np.random.RandomState(3), np.random.default_rng(3)])
def test_generators_as_seeds(curve, state):
    regressor = bdl.BayesianMLPRegressor(epochs=1, random_state=state)
    means = [regressor.fit(*curve).posterior_.mean for _ in range(2)]
    assert not np.array_equal(*means)


def test_options_reach_the_library(curve):
    regressor = bdl.BayesianMLPRegressor(epochs=1, options={"learning_rate": 0.5, "schedule": "power"}).fit(*curve)
    assert regressor.optimizer_["learning_rate"] == 0.5 and regressor.optimizer_["schedule"] == "power"
    with pytest.raises(bdl.UnknownOptionError, match="learning_rate"):
        bdl.BayesianMLPRegressor(options={"learning_rat": 1}).fit(*curve)


@pytest.mark.parametrize(
    "data, dtype, expected", [("f4", "auto", "float32"), ("f8", "auto", "float64"), ("f8", "float32", "float32")]
)
def test_dtype(curve, data, dtype, expected):
    x, y = curve
    regressor = bdl.BayesianMLPRegressor(epochs=1, dtype=dtype).fit(x.astype(data), y)
    assert regressor.model_.dtype == regressor.posterior_.dtype == expected


@pytest.fixture
def fan():
    """Noise of standard deviation e^x around 2 x."""
    generator = np.random.default_rng(3)
    x = generator.uniform(-1, 1, size=(600, 1))
    return x, 2 * x[:, 0] + np.exp(x[:, 0]) * generator.normal(size=600)


def test_heteroscedastic_noise_is_that_of_the_example(fan, tmp_path):
    x, y = fan
    regressor = bdl.BayesianMLPRegressor((10,), noise="heteroscedastic", epochs=200).fit(x[:400], y[:400])
    ends = np.array([[-0.8], [0.8]])
    noise = regressor.predict_uncertainty(ends).noise_variance
    assert 0.2 < noise[0] ** 0.5 < 0.8 and 1.4 < noise[1] ** 0.5 < 3.5
    lower, upper = regressor.predict(x[400:], interval=0.5)
    assert 0.35 < np.mean((lower < y[400:]) & (y[400:] < upper)) < 0.65
    mean, std = regressor.predict(ends, return_std=True)
    assert mean.shape == (2,) and std[1] > 2 * std[0]
    assert regressor.predict(ends, quantiles=[0.1, 0.9]).shape == (2, 2)
    assert regressor.sample_y(ends, 7).shape == (2, 7)
    plain = bdl.BayesianMLPRegressor((10,), noise="gaussian", epochs=200).fit(x[:400], y[:400])
    densities = [r.log_predictive_density(x[400:], y[400:]).mean() for r in (regressor, plain)]
    assert densities[0] > densities[1] + 0.05
    regressor.save(tmp_path / "fan.safetensors")
    loaded = bdl.BayesianMLPRegressor.load(tmp_path / "fan.safetensors")
    assert loaded.noise == "auto" and np.array_equal(loaded.predict(ends), mean)


def test_laplace_takes_heteroscedastic_noise(fan):
    x, y = fan
    regressor = bdl.BayesianMLPRegressor((10,), method="laplace", noise="heteroscedastic").fit(x[:400], y[:400])
    lower, upper = regressor.predict(x[400:], interval=0.9)
    assert 0.8 < np.mean((lower < y[400:]) & (y[400:] < upper)) < 0.97
    noise = regressor.predict_uncertainty([[-0.8], [0.8]]).noise_variance
    assert noise[1] > 2 * noise[0]


def test_heteroscedastic_targets_have_a_noise_each(fan):
    x, y = fan
    both = np.column_stack([y, 100 * x[:, 0]])
    regressor = bdl.BayesianMLPRegressor((10,), noise="heteroscedastic", epochs=20).fit(x, both)
    parts = regressor.predict_uncertainty(x)
    assert parts.mean.shape == parts.noise_variance.shape == (600, 2)
    assert regressor.model_.outputs == 4 and regressor.model_.noise_precision.shape == (2,)


HETEROSCEDASTIC, GAUSSIAN, STUDENT_T = "heteroscedastic", "gaussian", "student_t"


@pytest.mark.parametrize("noise, parameters", [
    (HETEROSCEDASTIC, {}),
    (GAUSSIAN, {"method": "laplace"}),
    (HETEROSCEDASTIC, {"method": "vogn"}),
    (HETEROSCEDASTIC, {"posterior": "full"}),
    (HETEROSCEDASTIC, {"early_stopping": True}),
    (GAUSSIAN, {"hidden": ()}),
    (GAUSSIAN, {"posterior": "dropout"}),
    (GAUSSIAN, {"options": {"learn_noise": 0}}),
    (HETEROSCEDASTIC, {"options": {"heteroscedastic_from": 0.9}}),
])  # fmt: skip
def test_auto_noise(noise, parameters, curve, tmp_path):
    """A fit, a clone of it, and a file of it have the same noise."""
    regressor = bdl.BayesianMLPRegressor(**{"hidden": (4,), "epochs": 3, **parameters}).fit(*curve)
    assert regressor.model_.likelihood == noise and regressor.get_params()["noise"] == "auto"
    assert clone(regressor).fit(*curve).model_.likelihood == noise
    regressor.save(tmp_path / "fit")
    loaded = bdl.BayesianMLPRegressor.load(tmp_path / "fit")
    assert loaded.noise == "auto" and loaded.fit(*curve).model_.likelihood == noise


def test_auto_noise_of_blocks(curve, tmp_path):
    x, y = curve
    stream = bdl.BayesianMLPRegressor((4,)).partial_fit(x, y)
    steps = bdl.BayesianMLPRegressor((4,), method="slang-ggn").partial_fit(x, y)
    rows = bdl.BayesianMLPRegressor((4,), method="lo-fi").fit(x, y)
    assert stream.model_.likelihood == steps.model_.likelihood == rows.model_.likelihood == GAUSSIAN
    fitted = bdl.BayesianMLPRegressor((4,), epochs=3).fit(x, y).partial_fit(x, y)
    assert (fitted.model_.likelihood, fitted.optimizer_.method) == (HETEROSCEDASTIC, "lo-fi")
    assert np.isfinite(fitted.predict(x, return_std=True)).all()
    fitted.save(tmp_path / "fit")  # "auto" would be Gaussian for its method
    assert bdl.BayesianMLPRegressor.load(tmp_path / "fit").noise == HETEROSCEDASTIC
    named = bdl.BayesianMLPRegressor((4,), noise=GAUSSIAN, epochs=3).fit(x, y)
    named.save(tmp_path / "fit")
    assert bdl.BayesianMLPRegressor.load(tmp_path / "fit").noise == GAUSSIAN


def test_a_prior_brings_its_noise(curve):
    x, y = curve
    for noise in HETEROSCEDASTIC, GAUSSIAN:
        before = bdl.BayesianMLPRegressor((4,), noise=noise, epochs=3).fit(x, y)
        for prior in before.optimizer_, before.posterior_:
            after = bdl.BayesianMLPRegressor((4,), epochs=3, prior=prior)
            assert after.fit(x, y).model_.likelihood == noise
            assert clone(after).partial_fit(x, y).model_.likelihood == noise


def test_noise_that_data_do_not_show_is_equal_everywhere(curve):
    x, y = curve
    found = bdl.BayesianMLPRegressor().fit(x, y).predict_uncertainty(x).noise_variance ** 0.5
    assert 0.16 < found.min() and found.max() < 0.25


def test_unknown_noise_is_refused(curve):
    with pytest.raises(bdl.InvalidArgumentError, match="noise is 'loud', expected one of: auto, gaussian, heteroscedastic, student_t"):
        bdl.BayesianMLPRegressor(noise="loud").fit(*curve)


def plane_with_outlier(rng):
    x = rng.normal(size=(200, 2))
    f = x @ [1.0, -2.0]
    y = f + 0.2 * rng.normal(size=200)
    y[0] = 1e4
    return x, f, y


@pytest.mark.parametrize("size", [1e3, 1e6, 1e9])
def test_an_outlier_of_any_size_counts_little(size, rng):
    x, f, y = plane_with_outlier(rng)
    y[0] = size
    regressor = bdl.BayesianMLPRegressor((20,), noise="student_t").fit(x, y)
    assert np.sqrt(np.mean((regressor.predict(x) - f) ** 2)) < 0.2


@pytest.mark.parametrize("noise", ["auto", "gaussian", "student_t"])
def test_targets_without_noise(noise, rng):
    x = rng.uniform(-1, 1, size=(200, 2))
    y = np.column_stack([np.sin(3 * x[:, 0]), 100 * x[:, 1]])
    for seed in range(3):
        regressor = bdl.BayesianMLPRegressor((10,), noise=noise, random_state=seed).fit(x, y)
        assert regressor.score(x, y) > 0.99


def test_auto_noise_of_a_huge_outlier(rng, tmp_path):
    x, f, y = plane_with_outlier(rng)
    regressor = bdl.BayesianMLPRegressor((20,), members=2)
    expected = r"a target is 4\d{3}.* robust standard deviations from the median, .* set noise='heteroscedastic' or 'gaussian'"
    with pytest.warns(UserWarning, match=expected) as said:
        regressor.fit(x, y)
    assert [warning.filename for warning in said] == [__file__]  # once, and of this call
    assert [member.model_.likelihood for member in (regressor, *regressor.others_)] == [STUDENT_T, STUDENT_T]
    assert regressor.noise == "auto" and np.sqrt(np.mean((regressor.predict(x) - f) ** 2)) < 0.2
    lower, upper = regressor.predict(x, interval=0.5)
    assert 0.4 < np.mean((lower < y) & (y < upper)) < 0.65
    copy = pickle.loads(pickle.dumps(regressor))
    assert np.array_equal(copy.predict(x), regressor.predict(x))
    copy.partial_fit(x, f)
    assert (copy.model_.likelihood, copy.optimizer_.method) == (STUDENT_T, "lo-fi")
    assert np.sqrt(np.mean((copy.predict(x) - f) ** 2)) < 0.3
    one = regressor.set_params(members=1, warm_start=True, epochs=1).fit(x, f)
    assert one.model_.likelihood == STUDENT_T
    one.save(tmp_path / "fit")
    assert bdl.BayesianMLPRegressor.load(tmp_path / "fit").noise == STUDENT_T


@pytest.mark.parametrize("parameters", [{"method": "slang"}, {"method": "vogn"}, {"posterior": "full"}, {"early_stopping": True}])
def test_methods_take_the_noise_of_a_huge_outlier(rng, parameters):
    x, _, y = plane_with_outlier(rng)
    with pytest.warns(UserWarning, match="robust standard deviations"):
        regressor = bdl.BayesianMLPRegressor((4,), epochs=20, **parameters).fit(x, y)
    assert regressor.model_.likelihood == STUDENT_T


def test_noise_that_an_outlier_does_not_change(rng):
    x, _, y = plane_with_outlier(rng)
    before = bdl.BayesianMLPRegressor((4,), noise=HETEROSCEDASTIC, epochs=3).fit(x, y)
    after = bdl.BayesianMLPRegressor((4,), epochs=3, prior=before.posterior_).fit(x, y)
    data = bdl.BayesianMLPRegressor((4,), epochs=3).fit(bdl.Dataset(x, y))
    assert before.model_.likelihood == after.model_.likelihood == data.model_.likelihood == HETEROSCEDASTIC
    assert bdl.BayesianMLPRegressor((4,)).partial_fit(x, y).model_.likelihood == GAUSSIAN
    assert bdl.BayesianMLPRegressor(()).fit(x, y).model_.likelihood == GAUSSIAN
    skewed = np.exp(2 * rng.normal(size=200))
    assert bdl.BayesianMLPRegressor((4,), epochs=3).fit(x, skewed).model_.likelihood == HETEROSCEDASTIC


@pytest.mark.parametrize("as_dataset", [False, True])
def test_student_t_learns_beside_a_huge_outlier(rng, as_dataset):
    x, f, y = plane_with_outlier(rng)
    regressor = bdl.BayesianMLPRegressor((20,), noise="student_t")
    regressor.fit(bdl.Dataset(x, y)) if as_dataset else regressor.fit(x, y)
    assert np.sqrt(np.mean((regressor.predict(x) - f) ** 2)) < 0.2
    parts, median = regressor.model_.standardization, np.median(y)
    assert np.isclose(parts.target_mean[0], median) and np.isclose(parts.target_scale[0], 1.482602 * np.median(np.abs(y - median)))


def test_student_t_noise_is_robust():
    generator = np.random.default_rng(3)
    x = generator.uniform(-2, 2, size=(400, 1))
    y = np.sin(x[:, 0]) + 0.1 * generator.standard_t(2.5, size=400)
    regressor = bdl.BayesianMLPRegressor((20,), noise="student_t").fit(x, y)
    assert 1.2 < regressor.model_.degrees_of_freedom < 6
    lower, upper = regressor.predict(x, interval=0.5)
    assert 0.35 < np.mean((lower < y) & (y < upper)) < 0.7
    assert np.abs(regressor.predict(x) - np.sin(x[:, 0])).max() < 0.4
    regressor.model_.degrees_of_freedom = 2
    mean, std = regressor.predict(x, return_std=True)
    assert np.all(np.isfinite(mean)) and np.all(np.isinf(std))


@pytest.mark.parametrize("hidden", [(50,), (30, 30), (30, 30, 30)])
def test_intervals_hold_where_most_inputs_say_nothing(hidden):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(2200, 15))
    y = np.sin(2 * x[:, 0]) + 0.6 * rng.normal(size=2200)
    regressor = bdl.BayesianMLPRegressor(hidden).fit(x[:1200], y[:1200])
    lower, upper = regressor.predict(x[1200:], interval=0.95)
    assert bdl.metrics.coverage(lower, upper, y[1200:]) > 0.91
    assert regressor.score(x[1200:], y[1200:]) > 0.3


def test_intervals_hold_for_each_of_two_targets():
    held = []
    for seed in range(1, 4):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(1150, 15))
        y = x[:, :2] + [0.2, 0.5] * rng.normal(size=(1150, 2))
        regressor = bdl.BayesianMLPRegressor().fit(x[:150], y[:150])
        lower, upper = regressor.predict(x[150:], interval=0.95)
        held.append(np.mean((lower < y[150:]) & (y[150:] < upper), axis=0))
    assert np.all(np.mean(held, axis=0) > 0.91)


def test_a_deep_network_does_not_learn_noise_by_heart():
    """It has more parameters than rows. With a noise precision of 30 / Var(y) at the start, 95 % intervals hold 66 %."""
    held = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(1400, 80))
        up = x[:, 0] > 0
        y = 3 * up + (0.1 + up) * rng.normal(size=1400)
        regressor = bdl.BayesianMLPRegressor((30, 30)).fit(x[:400], y[:400])
        lower, upper = regressor.predict(x[400:], interval=0.95)
        held.append(bdl.metrics.coverage(lower, upper, y[400:]))
        assert regressor.score(x[400:], y[400:]) > 0.2
    assert np.mean(held) > 0.86
