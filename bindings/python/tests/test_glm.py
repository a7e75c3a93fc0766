import copy

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bdl
from bdl import plots


def data(family, rows=1000, inputs=4, seed=1):
    """Data with known coefficients and intercept, and inputs in different units."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, inputs)) * 10.0 ** np.arange(-1, inputs - 1) + np.arange(inputs)
    coef = rng.normal(size=inputs) / x.std(axis=0) * (0.5 if family == "poisson" else 1)
    intercept = 0.5 - x.mean(axis=0) @ coef
    f = x @ coef + intercept
    draw = {
        "gaussian": lambda: f + 0.5 * rng.normal(size=rows),
        "bernoulli": lambda: (rng.random(rows) < 1 / (1 + np.exp(-f))).astype(int),
        "poisson": lambda: rng.poisson(np.exp(f)),
    }
    return x, draw[family](), coef, intercept


@pytest.mark.parametrize("family", ["gaussian", "bernoulli", "poisson"])
@pytest.mark.parametrize("method", ["auto", "slang-exact-hess"])
def test_known_coefficients(family, method):
    x, y, coef, intercept = data(family)
    glm = bdl.BayesianGLM(family, method=method).fit(x, y)
    assert np.all(np.abs(np.ravel(glm.coef_) - coef) < 4 * np.ravel(glm.coef_std_))
    assert abs(np.ravel(glm.intercept_)[0] - intercept) < 4 * np.ravel(glm.intercept_std_)[0]


def test_gaussian_is_least_squares():
    x, y, _, _ = data("gaussian")
    glm, reference = bdl.BayesianGLM().fit(x, y), LinearRegression().fit(x, y)
    assert np.all(np.abs(glm.coef_ - reference.coef_) < 0.01 * glm.coef_std_)
    assert abs(glm.intercept_ - reference.intercept_) < 0.01 * glm.intercept_std_
    design = np.column_stack([np.ones(len(x)), x])
    variance = np.sum((y - reference.predict(x)) ** 2) / (len(x) - design.shape[1])
    covariance = variance * np.linalg.inv(design.T @ design)
    assert np.allclose(glm.coef_covariance(), covariance, rtol=0.01, atol=1e-4 * covariance.max())
    assert np.allclose(np.r_[glm.intercept_std_, glm.coef_std_] ** 2, np.diag(covariance), rtol=0.01)
    assert np.isclose(1 / glm.model_.noise_precision[0], variance, rtol=1e-3)


@pytest.mark.parametrize("rows, inputs", [(20, 2), (60, 4), (300, 30)])
def test_noise_converges_on_small_data(rows, inputs):
    rng = np.random.default_rng(rows)
    x = rng.normal(size=(rows, inputs))
    y = x.sum(axis=1) + rng.normal(size=rows)
    glm = bdl.BayesianGLM().fit(x, y)
    residuals = y - LinearRegression().fit(x, y).predict(x)
    assert np.isclose(1 / glm.model_.noise_precision[0], residuals @ residuals / (rows - inputs - 1), rtol=0.1)


def test_data_on_a_line():
    x = np.arange(20.0)[:, np.newaxis]
    glm = bdl.BayesianGLM().fit(x, 3 * x[:, 0] - 1)
    assert np.allclose([glm.coef_[0], glm.intercept_], [3, -1], atol=1e-4)


@pytest.mark.parametrize("rows", [50, 1000])
def test_bernoulli_is_penalised_logistic_regression(rows):
    x, y, _, _ = data("bernoulli", rows)
    glm = bdl.BayesianGLM("bernoulli").fit(x, y)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(x, y)
    # the mean of a skewed posterior is farther out than its mode
    assert np.all(np.abs(glm.coef_ - pipeline[1].coef_ / pipeline[0].scale_) < 0.5 * glm.coef_std_)
    assert np.allclose(glm.predict_proba(x), pipeline.predict_proba(x), atol=0.05)
    assert glm.coef_.shape == (1, 4) and glm.intercept_.shape == (1,)
    assert abs(glm.score(x, y) - pipeline.score(x, y)) < 0.03


@pytest.mark.parametrize("rows", [50, 1000])
def test_poisson_is_penalised_poisson_regression(rows):
    x, y, _, _ = data("poisson", rows)
    glm = bdl.BayesianGLM("poisson").fit(x, y)
    pipeline = make_pipeline(StandardScaler(), PoissonRegressor(alpha=1 / rows, max_iter=1000)).fit(x, y)
    assert np.all(np.abs(glm.coef_ - pipeline[1].coef_ / pipeline[0].scale_) < 0.1 * glm.coef_std_)
    assert np.isclose(glm.score(x, y), pipeline.score(x, y), atol=0.01)
    lower, upper = glm.predict(x, interval=0.9)
    assert np.mean((lower <= y) & (y <= upper)) > 0.85


def test_categorical(blobs):
    x, y = blobs
    glm = bdl.BayesianGLM("categorical").fit(x, y)
    assert glm.score(x, y) > 0.9 and glm.coef_.shape == (3, 2)
    outputs = x @ glm.coef_.T + glm.intercept_
    assert np.allclose(outputs, glm.model_.evaluate(glm.posterior_.mean, x))


@pytest.mark.parametrize("standardize", [True, False])
def test_coefficients_are_those_of_the_predictions(plane, standardize):
    x, y = plane
    glm = bdl.BayesianGLM(standardize=standardize).fit(x, y)
    assert np.allclose(glm.predict(x), x @ glm.coef_ + glm.intercept_)
    design = np.column_stack([np.ones(len(x)), x])
    epistemic = np.sum(design @ glm.coef_covariance() * design, axis=1)
    assert np.allclose(glm.predict_uncertainty(x).epistemic_variance, epistemic)


def test_several_outputs(rng):
    x = rng.normal(size=(300, 3))
    y = np.column_stack([x[:, 0], 10 * x[:, 1]]) + rng.normal(size=(300, 2)) * [0.1, 5]
    glm = bdl.BayesianGLM().fit(x, y)
    assert glm.coef_.shape == glm.coef_std_.shape == (2, 3) and glm.intercept_.shape == (2,)
    assert np.allclose(glm.model_.noise_precision**-0.5, [0.1, 5], rtol=0.3)
    assert glm.coef_covariance().shape == (8, 8)
    assert glm.summary().names[:3] == ["0: intercept", "1: intercept", "0: x0"]


def test_summary(plane):
    pandas = pytest.importorskip("pandas")
    x, y = plane
    glm = bdl.BayesianGLM().fit(pandas.DataFrame(x, columns=["a", "b", "c"]), y)
    table = glm.summary()
    assert table.names == ["intercept", "a", "b", "c"]
    assert len(str(table).splitlines()) == 5
    frame = table.to_frame()
    assert np.allclose(frame.loc["b", "mean"], glm.coef_[1]) and frame.loc["b", "P(> 0)"] < 1e-3


def test_what_families_have():
    assert not hasattr(bdl.BayesianGLM(), "predict_proba")
    assert hasattr(bdl.BayesianGLM("bernoulli"), "predict_proba")
    with pytest.raises(bdl.InvalidArgumentError, match="family"):
        bdl.BayesianGLM("tweedie").fit([[1.0], [2.0]], [1, 2])
    with pytest.raises(ValueError, match="categorical"):
        bdl.BayesianGLM("bernoulli").fit(np.eye(3), [0, 1, 2])
    with pytest.raises(bdl.LabelError, match="count"):
        bdl.BayesianGLM("poisson").fit(np.eye(3), [0.5, 1, 2])


def test_a_failed_fit_is_none():
    glm = bdl.BayesianGLM("poisson")
    with pytest.raises(bdl.LabelError):
        glm.fit(np.eye(3), [0.5, 1, 2])
    with pytest.raises(ValueError, match="not fitted"):
        glm.predict(np.eye(3))


def test_only_linear_models_are_loaded(tmp_path):
    model = bdl.Model.mlp([3, 5, 1], bias=False)
    optimizer = bdl.Optimizer(model, bdl.Posterior.low_rank(model.parameters, 1), "slang-ggn", 10)
    bdl.save(tmp_path / "network.safetensors", optimizer=optimizer)
    with pytest.raises(ValueError, match="not a model of BayesianGLM"):
        bdl.BayesianGLM.load(tmp_path / "network.safetensors")


def test_a_failed_fit_leaves_the_former():
    x = np.arange(12.0).reshape(6, 2) % 5
    glm = bdl.BayesianGLM("poisson").fit(x, [1, 2, 0, 3, 1, 2])
    expected = glm.predict(x)
    with pytest.raises(bdl.LabelError):
        glm.fit(x, np.full(6, 0.5))
    with pytest.raises(TypeError):
        glm.fit(x[:, :1], ["a"] * 6)
    assert np.array_equal(glm.predict(x), expected)


def test_rank_is_at_most_the_number_of_parameters():
    x = np.arange(12.0).reshape(6, 2) % 5
    assert bdl.BayesianGLM(method="exact-low-rank").fit(x, x[:, 0]).posterior_.rank == 3


def test_scores_of_several_counts(rng):
    x = rng.normal(size=(80, 2))
    y = rng.poisson(np.exp(x @ [[0.5, 0.0], [0.0, 0.8]]))
    glm = bdl.BayesianGLM("poisson").fit(x, y)
    alone = [bdl.BayesianGLM("poisson").fit(x, y[:, c]).score(x, y[:, c]) for c in range(2)]
    assert abs(glm.score(x, y) - np.mean(alone)) < 0.05


def test_warm_starts_take_new_options(rng):
    x = rng.normal(size=(40, 2))
    regressor = bdl.BayesianMLPRegressor(hidden=4, epochs=2, warm_start=True).fit(x, x[:, 0])
    regressor.set_params(options={"learning_rate": 0.005}).fit(x, x[:, 0])
    assert regressor.optimizer_["learning_rate"] == 0.005


@pytest.mark.parametrize("method", ["map", "sgd"])
def test_a_point_has_no_covariance(method):
    x, y, _, _ = data("gaussian", rows=60)
    glm = bdl.BayesianGLM(method=method, epochs=5).fit(x, y)
    assert np.all(np.isnan(glm.coef_std_)) and np.isnan(glm.intercept_std_)
    with pytest.warns(UserWarning, match="NaN.*finds a point.*laplace") as warned:
        assert np.all(np.isnan(glm.coef_covariance()))
    assert warned[0].filename == __file__ and len(warned) == 1
    with pytest.warns(UserWarning, match="finds a point"):
        table = glm.summary()
    assert np.all(np.isnan(table.std)) and np.all(np.isnan(table.positive)) and "nan" in str(table)
    assert np.all(np.isfinite(table.mean)) and np.all(np.isnan(table.interval()))
    with pytest.raises(ValueError, match="no marginals.*finds a point"):
        plots.plot_posterior(glm)
    assert not glm.posterior_.has_covariance
    for ask in ("variance", "precision_diagonal", "entropy", "log_det_covariance"):
        with pytest.raises(bdl.UnsupportedError, match="has no covariance.*laplace"):
            getattr(glm.posterior_, ask)
    assert not copy.deepcopy(glm).posterior_.has_covariance


def test_the_mean_of_a_point_has_no_uncertainty():
    x, y, _, _ = data("gaussian", rows=60)
    network = bdl.BayesianMLPRegressor(hidden=3, method="map", epochs=5).fit(x, y)
    with pytest.warns(UserWarning, match="NaN.*finds a point") as warned:
        mean, epistemic, noise = network.predict_uncertainty(x)
    assert warned[0].filename == __file__
    assert np.all(np.isfinite(mean)) and np.all(np.isnan(epistemic)) and np.all(noise > 0)
    assert np.allclose(network.predict(x, return_std=True)[1], np.sqrt(noise))
    members = bdl.BayesianMLPRegressor(hidden=3, method="map", epochs=5, members=2).fit(x, y)
    assert np.all(members.predict_uncertainty(x).epistemic_variance > 0)  # that of their means


@pytest.mark.parametrize("parameters", [{"method": "laplace"}, {"method": "map", "options": {"laplace": 1}}, {"method": "swag"}])
@pytest.mark.filterwarnings(
    "error::UserWarning", "ignore::sklearn.exceptions.ConvergenceWarning", "ignore:.* is a baseline for:UserWarning"
)
def test_what_has_a_covariance_says_nothing(parameters):
    x, y, _, _ = data("gaussian", rows=60)
    glm = bdl.BayesianGLM(epochs=20, **parameters).fit(x, y)
    assert np.all(np.diag(glm.coef_covariance()) > 0) and np.all(glm.summary().std > 0)


def targets_of(family, outputs):
    rng = np.random.default_rng(4)
    x = rng.normal(size=(60, 2))
    f = x @ [1, -1]
    y = {"gaussian": f, "bernoulli": np.where(f > 0, "b", "a"), "categorical": np.digitize(f, [-0.5, 0.5]), "poisson": rng.poisson(2, 60)}
    return x, y[family] if outputs == 1 else np.column_stack([y[family], y[family]])


@pytest.mark.parametrize(
    "family, outputs", [("gaussian", 1), ("gaussian", 2), ("bernoulli", 1), ("categorical", 1), ("poisson", 1), ("poisson", 2)]
)
@pytest.mark.filterwarnings("ignore")
def test_every_method_has_a_table(family, outputs):
    x, y = targets_of(family, outputs)
    fits = 0
    for method in bdl.methods():
        try:
            glm = bdl.BayesianGLM(family, method=method, epochs=1).fit(x, y)
        except (bdl.UnsupportedError, bdl.DivergedError):  # methods for one output; streams that diverge
            continue
        fits += 1
        table = glm.summary()
        assert str(table).count("\n") == len(table.names) == len(set(table.names)) == glm.model_.parameters
        assert np.allclose(np.diag(glm.coef_covariance()), table.std**2, equal_nan=True) and table.to_frame().shape[1] == 5
    assert fits > 30


def test_several_outputs_are_fits_of_each_with_degrees_of_freedom():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(30, 2))
    y = np.c_[x @ [1.0, -2.0] + 0.3 * rng.normal(size=30), x @ [0.5, 0.5] + 2 * rng.normal(size=30)]
    flat = {"prior_precision": 1e-10, "bias_prior_precision": 1e-10}
    both = bdl.BayesianGLM(options=flat).fit(x, y)
    assert both.optimizer_.method == "exact-full"
    assert np.allclose(both.model_.noise_degrees_of_freedom, 27, atol=1e-4)
    for c in range(2):
        one = bdl.BayesianGLM(options=flat).fit(x, y[:, c])
        assert np.allclose(both.coef_[c], one.coef_, atol=1e-7) and np.allclose(both.coef_std_[c], one.coef_std_, rtol=1e-6)
    design = np.c_[np.ones(30), x]
    residuals = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    assert np.allclose(1 / np.sqrt(both.model_.noise_precision), np.sqrt((residuals**2).sum(0) / 27), rtol=1e-5)
    lower, upper = both.predict(x[:1], interval=0.95)
    leverage = design[0] @ np.linalg.inv(design.T @ design) @ design[0]
    half = 2.0518305164802837 * np.sqrt((residuals**2).sum(0) / 27 * (1 + leverage))  # t of 27 degrees
    assert np.allclose(upper - lower, 2 * half, rtol=1e-5)


def test_few_rows_learn_their_prior():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(20, 200))
    y = 3 * x[:, 0] + rng.normal(size=20)
    model = bdl.BayesianGLM().fit(x, y)
    assert model.optimizer_.method == "exact-low-rank" and model.posterior_.rank == 20
    _, deviation = model.predict(rng.normal(size=(50, 200)), return_std=True)
    assert deviation.mean() < 1.5 * y.std()
