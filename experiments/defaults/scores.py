"""Scores of predictions on test rows."""
import numpy as np
from scipy import stats

LEVELS = (0.5, 0.9, 0.95)
SMALLEST = 1e-15  # probabilities below count as this, so that one certain mistake does not end a mean


def of_density(mean, log_density, intervals, y):
    """Of a regression; ``intervals``: lower and upper limits for each of LEVELS."""
    inside = [float(np.mean((lower <= y) & (y <= upper))) for lower, upper in intervals]
    return {"log_likelihood": float(np.mean(log_density)), "rmse": float(np.sqrt(np.mean((mean - y) ** 2))),
            **{f"coverage{100 * level:.0f}": share for level, share in zip(LEVELS, inside)}}


def of_gaussian(mean, std, y):
    """Of a regression whose predictions are Gaussian."""
    density = stats.norm(mean, std)
    return of_density(mean, density.logpdf(y), [density.interval(level) for level in LEVELS], y)


def of_probabilities(probabilities, y):
    """Of a classification."""
    right = np.clip(probabilities[np.arange(len(y)), y], SMALLEST, None)
    hits = np.argmax(probabilities, axis=1) == y
    return {"log_likelihood": float(np.mean(np.log(right))), "accuracy": float(np.mean(hits)),
            "ece": calibration_error(np.max(probabilities, axis=1), hits)}


def calibration_error(confidence, hits, bins=15):
    """Expected calibration error: over equal bins of confidence, how far it is from the share of hits."""
    bin_of = np.minimum((confidence * bins).astype(int), bins - 1)
    gaps = np.bincount(bin_of, confidence - hits, minlength=bins)
    return float(np.sum(np.abs(gaps)) / len(hits))
