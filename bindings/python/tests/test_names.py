"""Names of features and labels of classes survive files, and are checked as scikit-learn does."""

import pickle

import numpy as np
import pandas as pd
import pytest

import bdl

RNG = np.random.default_rng(1)
X = pd.DataFrame({"length": RNG.normal(size=60), "width": RNG.normal(size=60)})
HIGH = X.length.to_numpy() > 0

LABELS = {
    "text": np.array(["no", "yes"]),
    "objects": np.array(["no", "yes"], dtype=object),
    "integers": np.array([-3, 12]),
    "bytes": np.array([1, 2], dtype=np.uint8),
    "reals": np.array([-1.0, 2.0]),
    "truth": np.array([False, True]),
    "unusual": np.array(["a\\nb\n\"c\"", "\u00e9\u20ac\U0001f331"]),
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize(
    "estimator", [bdl.BayesianGLM("bernoulli"), bdl.BayesianMLPClassifier(epochs=5, hidden=(3,))], ids=["glm", "mlp"]
)
def test_labels_survive(kind, estimator, tmp_path):
    y = LABELS[kind][HIGH.astype(int)]
    fitted = estimator.fit(X, y)
    fitted.save(tmp_path / "a.safetensors")
    loaded = type(fitted).load(tmp_path / "a.safetensors")
    assert loaded.classes_.dtype.kind == {"objects": "U", "bytes": "i"}.get(kind, fitted.classes_.dtype.kind)
    for other in (loaded, pickle.loads(pickle.dumps(fitted))):
        assert list(other.classes_) == list(fitted.classes_)
        assert list(other.predict(X)) == list(fitted.predict(X))
        assert other.score(X, y) == fitted.score(X, y)


def test_three_classes_survive(tmp_path):
    y = np.array(["a", "b", "c"])[(np.arange(60) % 3)]
    fitted = bdl.BayesianMLPClassifier(epochs=5, hidden=(3,)).fit(X, y)
    fitted.save(tmp_path / "a.safetensors")
    loaded = bdl.BayesianMLPClassifier.load(tmp_path / "a.safetensors")
    assert list(loaded.classes_) == ["a", "b", "c"]
    assert loaded.score(X, y) == fitted.score(X, y)
    assert list(loaded.fit(X, y).classes_) == ["a", "b", "c"]


def test_swapped_columns_are_noticed(tmp_path):
    y = pd.Series(X.length + 1, name="height")
    bdl.BayesianGLM().fit(X, y).save(tmp_path / "a.safetensors")
    loaded = bdl.BayesianGLM.load(tmp_path / "a.safetensors")
    assert list(loaded.feature_names_in_) == ["length", "width"]
    assert loaded.model_.target_names == ["height"]
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(X[["width", "length"]])
    with pytest.warns(UserWarning, match="feature names"):
        loaded.predict(X.to_numpy())


def test_models_without_names_have_none(tmp_path):
    fitted = bdl.BayesianGLM().fit(X.to_numpy(), X.length.to_numpy())
    fitted.save(tmp_path / "a.safetensors")
    loaded = bdl.BayesianGLM.load(tmp_path / "a.safetensors")
    assert not hasattr(loaded, "feature_names_in_")
    assert loaded.model_.input_names is None and loaded.model_.target_names is None
    assert loaded.model_.class_labels is None


def test_classes_in_any_order_are_encoded(tmp_path):
    """Other languages need not sort theirs."""
    fitted = bdl.BayesianGLM("bernoulli").fit(X, np.where(HIGH, "yes", "no"))
    fitted.model_.class_labels = ["zero", "one"]
    fitted.save(tmp_path / "a.safetensors")
    loaded = bdl.BayesianGLM.load(tmp_path / "a.safetensors")
    y = np.where(HIGH, "one", "zero")
    assert list(loaded.classes_) == ["zero", "one"]
    assert loaded.score(X, y) > 0.9
    assert np.mean(loaded.log_predictive_density(X, y)) > -0.5


def test_what_is_no_label():
    model = bdl.Model.mlp([2, 1], likelihood="bernoulli")
    with pytest.raises(TypeError, match="expected all text"):
        model.class_labels = ["a", 1]
    with pytest.raises(ValueError, match="3 names, expected 2"):
        model.class_labels = ["a", "b", "c"]
    with pytest.raises(bdl.UnsupportedError, match="no classes"):
        bdl.lowlevel.bdl_model_set_name(bdl.Model.mlp([2, 1])._handle, bdl.lowlevel.BDL_CLASS, 0, "a")


@pytest.mark.parametrize("family", ["poisson", "bernoulli"])
def test_an_early_end_of_an_exact_fit_is_told(family):
    from sklearn.exceptions import ConvergenceWarning

    f = X.to_numpy() @ [1, 2]
    y = RNG.poisson(np.exp(3 + f / 4)) if family == "poisson" else (f + RNG.logistic(size=60) > 0).astype(int)
    with pytest.warns(ConvergenceWarning, match="fit with more epochs"):
        bdl.BayesianGLM(family, epochs=1).fit(X, y)
