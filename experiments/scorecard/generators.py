"""Synthetic data of the scorecard. Each function takes a random generator and a number of rows, and returns inputs and targets;
classes are numbered from 0. ``gap`` and ``drift`` return more, as they say."""
import numpy as np


def friedman1(random, rows, noise=1.0):
    """Five inputs matter and five do not; Friedman 1991."""
    x = random.uniform(size=(rows, 10))
    smooth = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    return x, smooth + noise * random.normal(size=rows)


def bend(random, rows):
    """One curved input and two linear ones, with little noise."""
    x = random.normal(size=(rows, 3))
    return x, np.sin(2 * x[:, 0]) + x[:, 1] - 0.5 * x[:, 2] + 0.2 * random.normal(size=rows)


def wide(random, rows):
    """More inputs than rows, of which three matter."""
    x = random.normal(size=(rows, 100))
    return x, x[:, 0] - x[:, 1] + 0.5 * x[:, 2] + 0.5 * random.normal(size=rows)


def many_inputs(random, rows):
    """Sixty inputs that all matter a little: a network of 50 units can fit every row."""
    x = random.normal(size=(rows, 60))
    return x, x.sum(axis=1) / 60**0.5 + 0.3 * random.normal(size=rows)


def one_of_many(random, rows):
    """A wave of one input of 15, and much noise, which a deep network can learn by heart."""
    x = random.normal(size=(rows, 15))
    return x, np.sin(2 * x[:, 0]) + 0.6 * random.normal(size=rows)


def correlated_inputs(random, rows, inputs):
    """Inputs that share one factor, with correlations of 0.96."""
    return random.normal(size=(rows, 1)) + 0.2 * random.normal(size=(rows, inputs))


def correlated(random, rows):
    x = correlated_inputs(random, rows, 10)
    return x, x[:, 0] + np.tanh(x[:, 1]) - x[:, 2] + 0.3 * random.normal(size=rows)


def heavy_tails(random, rows):
    """Noise of Student's t with two degrees of freedom."""
    x = random.normal(size=(rows, 3))
    return x, x @ [1.0, 2.0, 0.0] + 0.3 * random.standard_t(2, size=rows)


def linear_small_noise(random, rows):
    """A line with little noise, to which ``with_outlier`` adds one target of 10,000."""
    x = random.normal(size=(rows, 3))
    return x, x @ [1.0, 2.0, 0.0] + 0.2 * random.normal(size=rows)


def motorcycle(random, rows):
    """Acceleration of a helmet: almost no noise at first, then much (made like MASS::mcycle)."""
    x = np.sort(random.uniform(2, 58, size=rows))
    fall, rise = -120 * np.exp(-(((x - 21) / 5.5) ** 2)), 55 * np.exp(-(((x - 32) / 6) ** 2))
    spread = 2 + 22 / (1 + np.exp(-(x - 15)))
    return x[:, np.newaxis], fall + rise + spread * random.normal(size=rows)


def mostly_noise(random, rows):
    """Ten inputs and nothing to learn."""
    return random.normal(size=(rows, 10)), random.normal(size=rows)


def noisy_line(random, rows):
    """A line that explains a tenth of the variance."""
    x = random.normal(size=(rows, 5))
    return x, x @ [0.5, 0.3, 0.0, 0.0, 0.0] + 1.75 * random.normal(size=rows)


def sine(x):
    return np.sin(2 * x)


def wave(x):
    return x * np.sin(x)


def step(x):
    return np.tanh(4 * x)


def gap(random, rows, truth, noise):
    """Targets on both sides of a gap. Returns inputs, targets, inputs in the gap, and inputs beyond the data."""
    half = rows // 2
    x = np.concatenate([random.uniform(-3, -0.3, half), random.uniform(1.2, 3, rows - half)])
    far = np.concatenate([np.linspace(-5, -3.2, 50), np.linspace(3.2, 5, 50)])
    return x[:, np.newaxis], truth(x) + noise * random.normal(size=rows), np.linspace(-0.1, 1.0, 60), far


def moons(random, rows):
    """Two half circles that reach into one another."""
    y = random.integers(2, size=rows)
    angle = np.pi * random.uniform(size=rows)
    x = np.stack([np.where(y, 1 - np.cos(angle), np.cos(angle)), np.where(y, 0.5 - np.sin(angle), np.sin(angle))], 1)
    return x + 0.2 * random.normal(size=x.shape), y


def noisy_labels(random, rows):
    """Three classes that have nothing to do with the inputs: their frequencies are the best prediction."""
    return random.normal(size=(rows, 10)), random.choice(3, size=rows, p=[0.5, 0.3, 0.2])


def imbalanced(random, rows):
    """One row of twenty is of the second class, whose inputs are shifted."""
    y = (np.arange(rows) % 20 == 0).astype(int)
    return random.normal(size=(rows, 5)) + 1.2 * y[:, np.newaxis], y


def differences(random, rows):
    """Four correlated inputs, whose differences decide among four classes."""
    x = random.normal(size=(rows, 1)) + 0.1 * random.normal(size=(rows, 4))
    return x, (x[:, 0] > x[:, 1]).astype(int) + 2 * (x[:, 2] > x[:, 3])


def few_of_many(random, rows):
    """Two classes in twenty inputs, of which five matter."""
    x = random.normal(size=(rows, 20))
    score = x[:, 0] * x[:, 1] + x[:, 2] - x[:, 3] + 0.5 * x[:, 4]
    return x, (score + 0.3 * random.normal(size=rows) > 0).astype(int)


def clusters(random, rows):
    """Four overlapping Gaussians."""
    y = random.integers(4, size=rows)
    centres = np.array([[2, 0, 0, 1, 0], [-2, 0, 1, 0, 0], [0, 2, 0, 0, 1], [0, -2, 0, -1, 0.0]])
    return centres[y] + random.normal(size=(rows, 5)), y


def far_line(random, rows):
    """A line whose inputs and targets are far from 0 and of very different scales."""
    x = random.normal(size=(rows, 3)) * [1000, 1, 0.01] + [5e4, 0, 1]
    return x, 2e4 + 30 * (x[:, 0] - 5e4) + 3e3 * random.normal(size=rows)


def drifting_line(random, rows, last):
    """A line that turns by 90 degrees; ``last``: all rows are those of its end."""
    angle = np.full(rows, np.pi / 2) if last else np.linspace(0, np.pi / 2, rows)
    x = random.normal(size=(rows, 5))
    return x, 2 * (np.cos(angle) * x[:, 0] + np.sin(angle) * x[:, 1]) + 0.3 * random.normal(size=rows)


def drifting_clusters(random, rows, last):
    """Two Gaussians that change places half-way round a circle; ``last`` as of drifting_line."""
    y = random.integers(2, size=rows)
    angle = np.pi * (np.ones(rows) if last else np.linspace(0, 1, rows)) + np.pi * y
    return 1.5 * np.stack([np.cos(angle), np.sin(angle)], 1) + random.normal(size=(rows, 2)), y
