"""Estimators of images: every way of holding them gives the same numbers, and what does not fit is said."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import bdl

LAYERS = "conv 4 3; relu; maxpool 2"
QUICK = {"epochs": 12, "samples": 10}


@pytest.fixture(scope="module")
def bars():
    """Images (n, 2, 9, 8) of bytes with a bar across or down in the first channel, and their labels."""
    rng = np.random.default_rng(5)
    images = rng.integers(0, 80, (120, 2, 9, 8), dtype=np.uint8)
    images[:60, 0, 4, :] = images[60:, 0, :, 4] = 250
    return images, np.repeat(["across", "down"], 60)


@pytest.fixture(scope="module")
def fitted(bars):
    return bdl.BayesianConvClassifier(LAYERS, channels="first", epochs=30, samples=10).fit(*bars)


def test_learns(bars, fitted):
    images, labels = bars
    assert fitted.score(images, labels) == 1 and list(fitted.classes_) == ["across", "down"]
    assert fitted.image_shape_ == (2, 9, 8) and fitted.n_features_in_ == 144
    assert fitted.model_.description.splitlines()[:2] == ["input 2 9 8", "conv 4 3"] and fitted.model_.dtype == "float32"
    mean = fitted.model_.standardization.input_mean.reshape(2, 72)
    assert np.ptp(mean, axis=1).max() == 0 and mean[:, 0] == pytest.approx(images.mean(axis=(0, 2, 3)))
    assert fitted.predict_uncertainty(images).entropy.shape == (120,)
    assert fitted.sample_y(images, 3).shape == (120, 3)
    assert fitted.log_predictive_density(images, labels).mean() > np.log(0.5)


layouts = {
    "channels last": lambda images: (np.moveaxis(images, 1, 3), {"channels": "last"}),
    "channels last, in memory": lambda images: (np.ascontiguousarray(np.moveaxis(images, 1, 3)), {"channels": "last"}),
    "matrix": lambda images: (images.reshape(len(images), -1), {"image_shape": (2, 9, 8)}),
    "Fortran order": lambda images: (np.asfortranarray(images), {"channels": "first"}),
    "every other row": lambda images: (np.repeat(images, 2, axis=0)[::2], {"channels": "first"}),
    "float64": lambda images: (images.astype(float), {"channels": "first"}),
    "float32": lambda images: (images.astype(np.float32), {"channels": "first"}),
    "int64": lambda images: (images.astype(int), {"channels": "first"}),
    "lists": lambda images: (images.tolist(), {"channels": "first"}),
}


@pytest.mark.parametrize("layout", layouts.values(), ids=layouts)
def test_layouts_give_the_same_bits(bars, fitted, layout):
    images, how = layout(bars[0])
    other = bdl.BayesianConvClassifier(LAYERS, epochs=30, samples=10, **how).fit(images, bars[1])
    assert np.array_equal(other.posterior_.mean, fitted.posterior_.mean)
    assert np.array_equal(other.predict_proba(images), fitted.predict_proba(bars[0]))


def test_fitted_ones_take_every_layout(bars, fitted):
    known = fitted.predict_proba(bars[0])
    automatic = clone(fitted).set_params(channels="auto", image_shape=(2, 9, 8), epochs=30).fit(
        bars[0].reshape(120, -1), bars[1]
    )
    for images in (bars[0], np.moveaxis(bars[0], 1, 3), bars[0].reshape(120, -1)):
        assert np.array_equal(automatic.predict_proba(images), known)


def test_where_channels_are(bars):
    grey = bars[0][:, 0]
    first = bdl.BayesianConvClassifier(LAYERS, **QUICK).fit(grey, bars[1])
    for images in (grey[:, np.newaxis], grey[..., np.newaxis]):
        other = bdl.BayesianConvClassifier(LAYERS, **QUICK).fit(images, bars[1])
        assert other.image_shape_ == (1, 9, 8) and np.array_equal(other.predict_proba(grey), first.predict_proba(images))
    for shape in ((120, 3, 9, 4), (120, 2, 9, 8)):  # both may be channels; neither
        with pytest.raises(ValueError, match="does not say where channels are"):
            bdl.BayesianConvClassifier(LAYERS, **QUICK).fit(np.zeros(shape), bars[1])


def test_bytes_are_not_copied(bars, monkeypatch):
    from bdl.estimators import images as reader

    rows = []
    as_rows = reader.as_rows
    monkeypatch.setattr(reader, "as_rows", lambda X, shape: rows.append(as_rows(X, shape)) or rows[-1])
    seen = []
    fit = bdl.Optimizer.fit
    monkeypatch.setattr(bdl.Optimizer, "fit", lambda self, x, *rest: seen.append(x) or fit(self, x, *rest))
    bdl.BayesianConvClassifier(LAYERS, channels="first", **QUICK).fit(*bars)
    assert seen[0].dtype == np.uint8 and np.shares_memory(seen[0], bars[0])


def test_networks(bars):
    images, labels = np.repeat(bars[0][:, :1], 2, axis=2), bars[1]  # 18 x 8
    with pytest.raises(bdl.InvalidArgumentError, match="maxpool 2"):
        bdl.BayesianConvClassifier("alexnet", epochs=1).fit(images, labels)
    with pytest.raises(bdl.InvalidArgumentError, match='did you mean "lenet5"'):
        bdl.BayesianConvClassifier("lenet", epochs=1).fit(images, labels)
    whole = bdl.BayesianConvClassifier("input 1 18 8; conv 2 3; tanh; globalavgpool; dense 1", **QUICK).fit(images, labels)
    assert whole.model_.parameters == 2 * 9 + 2 + 2 + 1
    lines = bdl.BayesianConvClassifier(["conv 2 3", "tanh", "globalavgpool"], **QUICK).fit(images, labels)
    assert np.array_equal(lines.predict_proba(images), whole.predict_proba(images))
    with pytest.raises(ValueError, match="the network has 2 outputs, expected 1"):
        bdl.BayesianConvClassifier("input 1 18 8; conv 2 3; dense 2").fit(images, labels)
    with pytest.raises(ValueError, match="the network is for images of 1 x 8 x 18, X has images of 1 x 18 x 8"):
        bdl.BayesianConvClassifier("input 1 8 18; conv 2 3; dense 1").fit(images, labels)
    with pytest.raises(ValueError, match="pass image_shape"):
        bdl.BayesianConvClassifier("lenet5").fit(images.reshape(120, -1), labels)


def test_resnets(rng):
    images, labels = rng.integers(0, 255, (6, 3, 8, 8), dtype=np.uint8), np.arange(6) % 3
    classifier = bdl.BayesianConvClassifier("resnet18", epochs=1, samples=1, method="vogn").fit(images, labels)
    assert classifier.predict_proba(images).shape == (6, 3)


def test_what_does_not_fit(bars, fitted):
    images, labels = bars
    with pytest.raises(ValueError, match="X has images of 1 x 9 x 8, expected images of 2 x 9 x 8"):
        fitted.predict(images[:, :1])
    with pytest.raises(ValueError, match="X has 144 features|X has 72 features"):
        fitted.predict(images[:, 0].reshape(120, -1))
    with pytest.raises(ValueError, match="channels is 'middle'"):
        bdl.BayesianConvClassifier(LAYERS, channels="middle").fit(images, labels)
    with pytest.raises(ValueError, match="X has 5 dimensions"):
        bdl.BayesianConvClassifier(LAYERS).fit(images[np.newaxis], labels)
    with pytest.raises(ValueError, match="X has 144 columns, expected 72"):
        bdl.BayesianConvClassifier(LAYERS, image_shape=(1, 9, 8)).fit(images.reshape(120, -1), labels)
    with pytest.raises(ValueError, match="NaN"):
        bdl.BayesianConvClassifier(LAYERS, channels="first").fit(np.full(images.shape, np.nan), labels)


def test_copies(bars, fitted, tmp_path):
    known = fitted.predict_proba(bars[0])
    for other in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        assert np.array_equal(other.predict_proba(bars[0]), known) and other.image_shape_ == (2, 9, 8)
    fitted.save(tmp_path / "bars.safetensors")
    loaded = bdl.BayesianConvClassifier.load(tmp_path / "bars.safetensors").set_params(samples=10, channels="first")
    assert np.array_equal(loaded.predict_proba(bars[0]), known)
    again = clone(loaded).set_params(epochs=30).fit(bars[0], (bars[1] == "down").astype(int))
    assert np.array_equal(again.predict_proba(bars[0]), known)
    with pytest.raises(ValueError, match="not a model of BayesianMLPClassifier"):
        bdl.BayesianMLPClassifier.load(tmp_path / "bars.safetensors")


def test_goes_on(bars):
    images, labels = bars
    warm = bdl.BayesianConvClassifier(LAYERS, channels="first", warm_start=True, **QUICK).fit(images, labels)
    warm.fit(np.moveaxis(images, 1, 3) if warm.channels == "last" else images, labels)
    assert warm.n_iter_ == 24
    blocks = bdl.BayesianConvClassifier(LAYERS, channels="first", samples=10)
    for part in (slice(None, None, 2), slice(1, None, 2)):
        blocks.partial_fit(images[part], labels[part], classes=["across", "down"])
    assert blocks.optimizer_.method == "lo-fi" and blocks.predict_proba(images).shape == (120, 2)
    early = bdl.BayesianConvClassifier(LAYERS, channels="first", early_stopping=True, **QUICK).fit(images, labels)
    assert early.history_["validation_epoch"][-1] >= early.history_["epoch"][-1]


def test_augmentation_and_pipelines(bars):
    images, labels = bars
    options = {"augment_pad": 1, "augment_flip": 1}
    moved = bdl.BayesianConvClassifier(LAYERS, channels="first", options=options, **QUICK).fit(images, labels)
    still = bdl.BayesianConvClassifier(LAYERS, channels="first", **QUICK).fit(images, labels)
    assert not np.array_equal(moved.posterior_.mean, still.posterior_.mean)
    flat = make_pipeline(
        FunctionTransformer(lambda X: X / 255.0), bdl.BayesianConvClassifier(LAYERS, image_shape=(2, 9, 8), **QUICK)
    ).fit(images.reshape(120, -1), labels)
    assert flat.score(images.reshape(120, -1), labels) > 0.5


def test_regression(bars):
    images = bars[0]
    y = images[:, 1].mean(axis=(1, 2)) * 3.0
    regressor = bdl.BayesianConvRegressor("conv 4 3; relu", channels="first", epochs=60, samples=10).fit(images, y)
    assert regressor.score(images, y) > 0.9
    mean, std = regressor.predict(images, return_std=True)
    assert mean.shape == std.shape == (120,) and clone(regressor).get_params()["noise"] == "auto"
    assert regressor.model_.likelihood == "heteroscedastic"
    spread = bdl.BayesianConvRegressor("conv 2 3; relu", channels="first", noise="heteroscedastic", **QUICK).fit(images, y)
    assert spread.model_.outputs == 2 and spread.predict(images).shape == (120,)


def test_auto_noise_of_layers(bars, tmp_path):
    images = bars[0]
    y = images[:, 1].mean(axis=(1, 2)) * 3.0
    norm = bdl.BayesianConvRegressor("conv 2 3; batchnorm; relu", channels="first", method="vogn", **QUICK).fit(images, y)
    assert norm.model_.likelihood == "gaussian"
    whole = bdl.BayesianConvRegressor(norm.model_.description.replace("batchnorm", "relu"), channels="first", **QUICK)
    assert whole.fit(images, y).model_.likelihood == "gaussian"
    spread = bdl.BayesianConvRegressor("conv 2 3; relu", channels="first", **QUICK).fit(images, y)
    assert spread.model_.likelihood == "heteroscedastic"
    spread.save(tmp_path / "fit")
    loaded = bdl.BayesianConvRegressor.load(tmp_path / "fit")
    assert loaded.noise == "auto" and loaded.set_params(epochs=1, channels="first").fit(images, y).model_.outputs == 2


def test_features_are_rows():
    """Layers describe networks of features, too."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    classifier = bdl.BayesianConvClassifier("dense 8; tanh", **QUICK).fit(X, X[:, 0] > 0)
    assert classifier.image_shape_ is None and classifier.model_.description.startswith("input 3\n")
    with pytest.raises(ValueError, match="X has images of 1 x 80 x 3, expected features"):
        classifier.predict(X[np.newaxis])
    pixels = X[:, :, np.newaxis, np.newaxis]
    assert np.array_equal(classifier.set_params(channels="first").predict_proba(pixels), classifier.predict_proba(X))


def test_mlps_read_bytes_in_place(rng):
    X = rng.integers(0, 255, (50, 4), dtype=np.uint8)
    y = X[:, 0] > 127
    byte = bdl.BayesianMLPClassifier((4,), epochs=5).fit(X, y)
    assert np.array_equal(byte.posterior_.mean, bdl.BayesianMLPClassifier((4,), epochs=5).fit(X.astype(float), y).posterior_.mean)
    assert bdl.BayesianMLPClassifier((4,), epochs=1, dtype="auto").fit(X, y).model_.dtype == "float32"


def test_published_networks():
    shapes = {name: bdl.networks.describe(name).input_shape for name in bdl.networks.names()}
    assert shapes["lenet5"] == (1, 28, 28) and shapes["resnet18"] == (3, 32, 32)
    counts = {"lenet5": 44_426, "alexnet": 2_472_266, "resnet18": 11_181_642, "resnet18-cifar": 11_173_962}
    for name, count in counts.items():
        text = bdl.networks.description(name)
        assert text == getattr(bdl.networks, name.replace("-", "_"))()
        assert bdl.Model.network(text, "categorical", "float32").parameters == count
    lines = bdl.networks.lenet5((3, 32, 32), 5).splitlines()
    assert (lines[0], lines[-1]) == ("input 3 32 32", "dense 5")
    with pytest.raises(bdl.InvalidArgumentError, match='did you mean "resnet18"'):
        bdl.networks.describe("resnet")
    with pytest.raises(ValueError, match="expected \\(channels, rows, columns\\)"):
        bdl.networks.lenet5((28, 28))
