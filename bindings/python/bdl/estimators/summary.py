"""The table of coefficients."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from ..prior import Normal


class Coefficients(NamedTuple):
    """A table of coefficients with their posterior means and standard deviations; print it.

    ``BayesianGLM.summary`` returns one. ``prior`` has the locations and scales of normal priors, in the same
    units, where the estimator was given some; the table has them, too.

    >>> import numpy as np
    >>> from bdl.estimators import Coefficients
    >>> mean, std = np.array([1.0, -2.0]), np.array([0.5, 0.1])
    >>> table = Coefficients(["intercept", "age"], mean, std)
    >>> print(table)
                           mean        std      2.5 %     97.5 %   P(> 0)
    intercept             1.000     0.5000    0.02002      1.980    0.977
    age                  -2.000     0.1000     -2.196     -1.804    0.000
    >>> table.names, table.mean, table.std, table.prior is None
    (['intercept', 'age'], array([ 1., -2.]), array([0.5, 0.1]), True)
    """

    names: list[str]
    mean: np.ndarray
    std: np.ndarray
    prior: Normal | None = None

    def interval(self, probability: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Returns the lower and upper limits of central intervals of the coefficients.

        Parameters
        ----------
        probability : float, default=0.95
            Probability of the intervals.

        Examples
        --------
        >>> import numpy as np
        >>> from bdl.estimators import Coefficients
        >>> mean, std = np.array([1.0, -2.0]), np.array([0.5, 0.1])
        >>> table = Coefficients(["intercept", "age"], mean, std)
        >>> lower, upper = table.interval(0.9)
        >>> lower.round(2), upper.round(2)
        (array([ 0.18, -2.16]), array([ 1.82, -1.84]))
        """
        width = NormalDist().inv_cdf((1 + probability) / 2) * self.std
        return self.mean - width, self.mean + width

    @property
    def positive(self) -> np.ndarray:
        """Probability that each coefficient is positive, an array.

        >>> import numpy as np
        >>> from bdl.estimators import Coefficients
        >>> mean, std = np.array([1.0, -2.0]), np.array([0.5, 0.1])
        >>> table = Coefficients(["intercept", "age"], mean, std)
        >>> table.positive.round(3)
        array([0.977, 0.   ])
        """
        certain = (self.mean > 0).astype(float)
        return np.array(
            [NormalDist().cdf(m / s) if s > 0 else c + s for m, s, c in zip(self.mean, self.std, certain)]
        )

    def to_frame(self) -> Any:
        """Returns the table as a pandas DataFrame.

        >>> import numpy as np
        >>> from bdl.estimators import Coefficients
        >>> mean, std = np.array([1.0, -2.0]), np.array([0.5, 0.1])
        >>> table = Coefficients(["intercept", "age"], mean, std)
        >>> table.to_frame().shape
        (2, 5)
        """
        import pandas

        lower, upper = self.interval()
        columns = {"mean": self.mean, "std": self.std, "2.5 %": lower, "97.5 %": upper, "P(> 0)": self.positive}
        if self.prior is not None:
            columns |= {"prior location": self.prior.location, "prior scale": self.prior.scale}
        return pandas.DataFrame(columns, index=self.names)

    def __str__(self) -> str:
        width = max([16, *map(len, self.names)])
        titles = ("mean", "std", "2.5 %", "97.5 %")
        lines = [" " * width + "".join(f"{title:>11}" for title in titles) + "   P(> 0)"]
        columns = zip(self.names, self.mean, self.std, *self.interval(), self.positive)
        for name, *values, positive in columns:
            lines.append(f"{name:<{width}}" + "".join(f"{value:>#11.4}" for value in values) + f"{positive:>9.3f}")
        if self.prior is not None:
            lines[0] += "   prior"
            for i, (location, scale) in enumerate(zip(self.prior.location, self.prior.scale), 1):
                lines[i] += f"   normal({location:.4g}, {scale:.4g})"
        return "\n".join(lines)
