"""Coefficients of generalised linear models in the units of the data."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from ..model import Model
from ..posterior import Posterior


class Coefficients(NamedTuple):
    """A table of coefficients, each with a Gaussian posterior; ``print`` shows it.

    >>> print(Coefficients(["intercept", "age"], np.array([1.0, -2.0]), np.array([0.5, 0.1])))
                           mean        std      2.5 %     97.5 %   P(> 0)
    intercept             1.000     0.5000    0.02002      1.980    0.977
    age                  -2.000     0.1000     -2.196     -1.804    0.000
    """

    names: list[str]
    mean: np.ndarray
    std: np.ndarray

    def interval(self, probability: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Limits between which each coefficient is with this probability."""
        width = NormalDist().inv_cdf((1 + probability) / 2) * self.std
        return self.mean - width, self.mean + width

    @property
    def positive(self) -> np.ndarray:
        """Probabilities that they are positive."""
        certain = (self.mean > 0).astype(float)
        return np.array(
            [NormalDist().cdf(m / s) if s > 0 else c for m, s, c in zip(self.mean, self.std, certain)]
        )

    def to_frame(self) -> Any:
        """A pandas DataFrame."""
        import pandas

        lower, upper = self.interval()
        columns = {"mean": self.mean, "std": self.std, "2.5 %": lower, "97.5 %": upper, "P(> 0)": self.positive}
        return pandas.DataFrame(columns, index=self.names)

    def __str__(self) -> str:
        width = max([16, *map(len, self.names)])
        lines = [" " * width + "".join(f"{title:>11}" for title in ("mean", "std", "2.5 %", "97.5 %")) + "   P(> 0)"]
        columns = zip(self.names, self.mean, self.std, *self.interval(), self.positive)
        for name, *values, positive in columns:
            lines.append(f"{name:<{width}}" + "".join(f"{value:>#11.4}" for value in values) + f"{positive:>9.3f}")
        return "\n".join(lines)


class Linear(NamedTuple):
    """f = coef x + intercept in the data's units, per output (C x d and C), as linear functions of the parameters."""

    coef: np.ndarray
    intercept: np.ndarray
    coef_std: np.ndarray
    intercept_std: np.ndarray


def linear_of(model: Model, posterior: Posterior) -> Linear:
    """Undoes the standardisation: f = t_mean + t_scale (w (x - m) / s + b) has coef = t_scale w / s and
    intercept = t_mean + t_scale (b - w m / s)."""
    outputs, inputs = model.outputs, model.inputs
    scaling = model.standardization
    weights = posterior.mean[: outputs * inputs].reshape(outputs, inputs)
    bias, target_scale = posterior.mean[outputs * inputs :], scaling.target_scale
    ratio = scaling.input_mean / scaling.input_scale
    rows = intercept_rows(model)
    return Linear(
        coef=target_scale[:, np.newaxis] * weights / scaling.input_scale,
        intercept=scaling.target_mean + target_scale * (bias - weights @ ratio),
        coef_std=coef_scales(model) * np.sqrt(posterior.variance[: outputs * inputs]).reshape(outputs, inputs),
        intercept_std=np.sqrt(np.einsum("cj,cj->c", rows, posterior.solve(rows))),
    )


def coef_scales(model: Model) -> np.ndarray:
    """C x d: units of a coefficient per unit of its parameter."""
    scaling = model.standardization
    return scaling.target_scale[:, np.newaxis] / scaling.input_scale


def intercept_rows(model: Model) -> np.ndarray:
    """C x D: the intercepts, but for a constant, as combinations of the parameters."""
    outputs, inputs = model.outputs, model.inputs
    scaling, rows = model.standardization, np.zeros((outputs, model.parameters))
    for c, scale in enumerate(scaling.target_scale):
        rows[c, c * inputs : (c + 1) * inputs] = -scale * scaling.input_mean / scaling.input_scale
        rows[c, outputs * inputs + c] = scale
    return rows


def covariance_of(model: Model, posterior: Posterior) -> np.ndarray:
    """Covariance of the intercepts, then the coefficients output by output, in the data's units."""
    to_units = np.vstack(
        [intercept_rows(model), np.eye(model.outputs * model.inputs, model.parameters) * coef_scales(model).reshape(-1, 1)]
    )
    return to_units @ posterior.solve(to_units).T
