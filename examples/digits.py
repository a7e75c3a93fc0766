"""Handwritten digits, 14 x 14 bytes, by a Bayesian convolutional network."""

from pathlib import Path

import numpy as np

import bdl

# Each record is a label and an image.
data = np.fromfile(Path(__file__).parent / "data" / "digits.bin", dtype=np.uint8).reshape(1500, 197)
images, labels = data[:, 1:].reshape(-1, 14, 14), data[:, 0]
x, y, x_test, y_test = images[:1000], labels[:1000], images[1000:], labels[1000:]

classifier = bdl.BayesianConvClassifier("conv 8 3; relu; maxpool 2; conv 16 3; relu; maxpool 2").fit(x, y)

right = classifier.predict(x_test) == y_test
sure = classifier.predict_uncertainty(x_test).entropy < 0.5  # nats
print(f"test accuracy {np.mean(right):.3f}")
print(f"sure of {100 * np.mean(sure):.1f} % of the test images, right on {100 * np.mean(right[sure]):.1f} % of these")
