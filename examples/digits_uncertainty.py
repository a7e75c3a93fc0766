"""Draws docs/images/digits.svg: what a convolutional network says of digits that it is sure of and of others, and how far its posterior
draws agree.

    python3 examples/digits_uncertainty.py docs/images/digits.svg     # needs the Python package and matplotlib
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "experiments" / "support"))
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from images import read_records  # noqa: E402

import bdl  # noqa: E402

DRAWS = 200


def draws_of_probabilities(classifier: bdl.BayesianConvClassifier, images: np.ndarray) -> np.ndarray:
    """Draws x images x classes."""
    rows = images.reshape(len(images), -1)
    outputs = np.array([classifier.model_.evaluate(theta, rows) for theta in classifier.sample_posterior(DRAWS)])
    weights = np.exp(outputs - outputs.max(axis=2, keepdims=True))
    return weights / weights.sum(axis=2, keepdims=True)


def draw(path: str, images: np.ndarray, probabilities: np.ndarray) -> None:
    matplotlib.rcParams.update({"svg.hashsalt": "bdl", "font.size": 8})
    figure, axes = plt.subplots(2, len(images), figsize=(8.4, 2.5), layout="constrained", sharey="row", height_ratios=[1, 1.2])
    for top, below, image, p in zip(*axes, images, probabilities.swapaxes(0, 1)):
        top.imshow(image, cmap="gray_r", interpolation="nearest")
        top.axis("off")
        low, high = np.quantile(p, [0.05, 0.95], axis=0)
        below.bar(range(10), p.mean(axis=0), color="#7fb3d9")
        below.vlines(range(10), low, high, color="#0b3d66")
        below.set(xticks=range(10), ylim=(0, 1.02))
        below.tick_params(labelsize=6, length=0)
    axes[1, 0].set_ylabel("probability")
    figure.savefig(path, metadata={"Date": None})


def main(path: str) -> None:
    images, labels = read_records(Path(__file__).parent / "data" / "digits.bin", 14, 14)
    classifier = bdl.BayesianConvClassifier("conv 8 3; relu; maxpool 2; conv 16 3; relu; maxpool 2")
    classifier.fit(images[:1000], labels[:1000])
    test = images[1000:]
    order = np.argsort(classifier.predict_uncertainty(test).entropy)
    shown = np.concatenate([test[order[[0, 25, 60]]], test[order[[-2, -6, -9]]], 255 - test[order[:1]]])
    draw(path, shown, draws_of_probabilities(classifier, shown))


if __name__ == "__main__":
    main(sys.argv[1])
