"""Gaussian posteriors."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np

from . import arrays, lowlevel, names
from .handle import Handle, capsule_of, to_bytes
from .model import Model


class Posterior(Handle):
    """A distribution q(theta) = N(mean, covariance) over D parameters; it needs no model.

    >>> import bdl
    >>> q = bdl.Posterior.low_rank(dimension=3, rank=1)
    >>> q.set_low_rank(mean=[1, 2, 3], low_rank=[[1], [0], [0]], diagonal=[1, 1, 4])
    >>> q.variance
    array([0.5 , 1.  , 0.25])
    >>> q.sample(1000, seed=1).shape
    (1000, 3)
    """

    @classmethod
    def low_rank(cls, dimension: int, rank: int, dtype: str = "float64") -> Posterior:
        """Precision U U^T + diag(d) with U of this rank; rank 0 is diagonal."""
        return cls._of(lowlevel.bdl_posterior_create_low_rank(names.dtypes.number(dtype), dimension, rank))

    @classmethod
    def full(cls, dimension: int, dtype: str = "float64") -> Posterior:
        """Any precision matrix."""
        return cls._of(lowlevel.bdl_posterior_create_full(names.dtypes.number(dtype), dimension))

    @classmethod
    def full_moment(cls, dimension: int, dtype: str = "float64") -> Posterior:
        """Any covariance matrix, which steps change in place of the precision."""
        return cls._of(lowlevel.bdl_posterior_create_full_moment(names.dtypes.number(dtype), dimension))

    @classmethod
    def diagonal_moment(cls, dimension: int, dtype: str = "float64") -> Posterior:
        """Independent parameters, whose variances steps change in place of the precisions."""
        return cls._of(lowlevel.bdl_posterior_create_diagonal_moment(names.dtypes.number(dtype), dimension))

    @classmethod
    def dropout(cls, model: Model, input_rate: float, hidden_rate: float) -> Posterior:
        """A network's weights under random masks of its units."""
        of_model = capsule_of(model, Model, "model")
        return cls._of(lowlevel.bdl_posterior_create_dropout(of_model, input_rate, hidden_rate))

    @classmethod
    def layerwise_full(cls, model: Model) -> Posterior:
        """Any precision matrix within each layer of a model, weights and biases together, and none across layers."""
        return cls._of(lowlevel.bdl_posterior_create_layerwise_full(capsule_of(model, Model, "model")))

    @classmethod
    def blockwise_full(cls, sizes: Sequence[int], dtype: str = "float64") -> Posterior:
        """Creates a blockwise-full posterior of consecutive blocks with these numbers of parameters."""
        return cls._of(lowlevel.bdl_posterior_create_blockwise_full(names.dtypes.number(dtype), sizes))

    @classmethod
    def low_rank_moment(cls, dimension: int, rank: int, dtype: str = "float64") -> Posterior:
        """Covariance diag(s) + W W^T with W of this rank, where low_rank() has a precision of that form."""
        number = names.dtypes.number(dtype)
        return cls._of(lowlevel.bdl_posterior_create_low_rank_moment(number, dimension, rank))

    @classmethod
    def layerwise_low_rank_moment(cls, model: Model, rank: int) -> Posterior:
        """Such a covariance within each layer of a model, weights and biases together, and none across layers."""
        of_model = capsule_of(model, Model, "model")
        return cls._of(lowlevel.bdl_posterior_create_layerwise_low_rank_moment(of_model, rank))

    @classmethod
    def kronecker(cls, model: Model) -> Posterior:
        """A Kronecker-factored precision within each dense layer and convolution of a network, none across layers."""
        return cls._of(lowlevel.bdl_posterior_create_kronecker(capsule_of(model, Model, "model")))

    def as_full(self) -> Posterior:
        """Returns this Gaussian with full moment parameters."""
        return type(self)._of(lowlevel.bdl_posterior_as_full(self._handle))

    def as_diagonal(self) -> Posterior:
        """Independent parameters with the same means and variances."""
        return type(self)._of(lowlevel.bdl_posterior_as_diagonal(self._handle))

    @property
    def dimension(self) -> int:
        """Number of parameters D."""
        return lowlevel.bdl_posterior_dimension(self._handle)

    @property
    def rank(self) -> int:
        """Rank of a low-rank posterior, precision or moment; D of a full one, 0 of others."""
        return lowlevel.bdl_posterior_rank(self._handle)

    @property
    def family(self) -> str:
        return names.families.word(lowlevel.bdl_posterior_family(self._handle))

    @property
    def dtype(self) -> str:
        return names.dtypes.word(lowlevel.bdl_posterior_dtype(self._handle))

    @property
    def is_blank(self) -> bool:
        """Neither set nor trained yet."""
        return bool(lowlevel.bdl_posterior_is_blank(self._handle))

    @property
    def has_covariance(self) -> bool:
        """False of a mode: training by "map" or "sgd" finds a mean and nothing else. What asks for the covariance then raises
        an ``UnsupportedError``."""
        return bool(lowlevel.bdl_posterior_has_covariance(self._handle))

    @property
    def dropout_rates(self) -> tuple[float, float]:
        """Rates of a dropout posterior's inputs and hidden units."""
        return tuple(lowlevel.bdl_posterior_dropout_rates(self._handle))

    def set_low_rank(self, mean: Any, low_rank: Any, diagonal: Any) -> None:
        """Sets a low-rank posterior to mean (D), U (D x L; None for 0) and d (D)."""
        low_rank = None if low_rank is None else arrays.matrix(low_rank, "low_rank")
        lowlevel.bdl_posterior_set_low_rank(
            self._handle, arrays.row(mean, "mean"), low_rank, arrays.row(diagonal, "diagonal")
        )

    def set_low_rank_moment(self, mean: Any, low_rank: Any, diagonal: Any) -> None:
        """Sets a low-rank-moment posterior to mean (D), W (D x K; None for 0) and s (D)."""
        low_rank = None if low_rank is None else arrays.matrix(low_rank, "low_rank")
        lowlevel.bdl_posterior_set_low_rank_moment(
            self._handle, arrays.row(mean, "mean"), low_rank, arrays.row(diagonal, "diagonal")
        )

    def set_full(self, mean: Any, precision: Any) -> None:
        """Sets a full posterior to mean (D) and precision (D x D)."""
        lowlevel.bdl_posterior_set_full(self._handle, arrays.row(mean, "mean"), arrays.matrix(precision, "precision"))

    def set_full_moment(self, mean: Any, covariance: Any) -> None:
        """Sets a full-moment posterior to mean (D) and covariance (D x D)."""
        covariance = arrays.matrix(covariance, "covariance")
        lowlevel.bdl_posterior_set_full_moment(self._handle, arrays.row(mean, "mean"), covariance)

    def set_diagonal_moment(self, mean: Any, variance: Any) -> None:
        """Sets a diagonal-moment posterior to mean and variances (D)."""
        lowlevel.bdl_posterior_set_diagonal_moment(
            self._handle, arrays.row(mean, "mean"), arrays.row(variance, "variance")
        )

    def set_dropout(self, mean: Any) -> None:
        """Sets a dropout posterior's mean (D): the weights without dropout."""
        lowlevel.bdl_posterior_set_dropout(self._handle, arrays.row(mean, "mean"))

    def tensors(self) -> dict[str, np.ndarray]:
        """All that the posterior consists of, by name: the mean, and its family's vectors and matrices.

        >>> import bdl
        >>> list(bdl.Posterior.blockwise_full([2, 1]).tensors())
        ['mean', 'block0.precision', 'block0.factor', 'block1.precision', 'block1.factor']
        """
        found = {}
        for index in range(lowlevel.bdl_posterior_tensor_count(self._handle)):
            name, rows, cols, _ = lowlevel.bdl_posterior_tensor_describe(self._handle, index)
            found[name] = arrays.empty(rows, cols)
            lowlevel.bdl_posterior_get_tensor(self._handle, index, found[name])
            if rows == 1 and name.split(".")[-1] in ("mean", "diagonal", "variance"):
                found[name] = found[name][0]
        return found

    def set_tensors(self, tensors: Mapping[str, Any]) -> None:
        """Sets tensors by name, all or, on an error, none; those that are not named stay. A factor follows from its
        matrix and may be left out."""
        given = [(name, arrays.row(values, name)) for name, values in tensors.items()]
        lowlevel.bdl_posterior_set_tensors(self._handle, [(name, values) for name, values in given if values.size])

    def _row(self, read: Any) -> np.ndarray:
        result = arrays.empty(1, self.dimension)
        read(self._handle, result)
        return result[0]

    @property
    def mean(self) -> np.ndarray:
        return self._row(lowlevel.bdl_posterior_mean)

    @property
    def variance(self) -> np.ndarray:
        """Marginal variances, the covariance's diagonal."""
        return self._row(lowlevel.bdl_posterior_marginal_variance)

    @property
    def precision_diagonal(self) -> np.ndarray:
        return self._row(lowlevel.bdl_posterior_precision_diagonal)

    @property
    def low_rank_parts(self) -> tuple[np.ndarray, np.ndarray]:
        """U (D x L) and d (D) of a low-rank posterior, whose precision is U U^T + diag(d)."""
        u, d = arrays.empty(self.dimension, self.rank), arrays.empty(1, self.dimension)
        lowlevel.bdl_posterior_get_low_rank(self._handle, u if self.rank else None, d)
        return u, d[0]

    def covariance(self, rows: Any = None, cols: Any = None) -> np.ndarray:
        """The block of the covariance with these parameters' rows and columns; None stands for all."""
        rows = range(self.dimension) if rows is None else rows
        cols = range(self.dimension) if cols is None else cols
        block = arrays.empty(len(rows), len(cols))
        lowlevel.bdl_posterior_covariance(self._handle, rows, cols, block)
        return block

    def solve(self, vectors: Any) -> np.ndarray:
        """Covariance times each row."""
        vectors = arrays.rows(vectors, "vectors")
        solution = arrays.empty(*vectors.shape)
        lowlevel.bdl_posterior_solve(self._handle, vectors, solution)
        return solution

    def sample(self, count: int = 1, seed: int = 1, first: int = 0) -> np.ndarray:
        """Draws, one per row; row i depends on seed and first + i only."""
        samples = arrays.empty(count, self.dimension)
        lowlevel.bdl_posterior_sample(self._handle, seed, first, samples)
        return samples

    def log_density(self, parameters: Any) -> np.ndarray:
        """log q(theta) of each row, in nats."""
        parameters = arrays.rows(parameters, "parameters")
        result = arrays.empty(len(parameters), 1)
        lowlevel.bdl_posterior_log_density(self._handle, parameters, result)
        return result[:, 0]

    @property
    def log_det_covariance(self) -> float:
        return lowlevel.bdl_posterior_log_det_covariance(self._handle)

    @property
    def entropy(self) -> float:
        """Differential entropy in nats."""
        return lowlevel.bdl_posterior_entropy(self._handle)

    def kl(self, other: Posterior) -> float:
        """KL(self || other) in nats, of any two families."""
        return lowlevel.bdl_posterior_kl(self._handle, capsule_of(other, Posterior, "other"))

    def kl_prior(self, prior_precision: Any) -> float:
        """KL(self || N(0, 1 / prior_precision)) in nats; one precision for all parameters or one each."""
        return lowlevel.bdl_posterior_kl_prior(self._handle, arrays.row(prior_precision, "prior_precision"))

    def update(
        self,
        rows: Any,
        scale: float = 1.0,
        learning_rate: float = 1.0,
        curvature_rate: float = 0.5,
        prior_precision: Any = 1.0,
    ) -> None:
        """One natural-gradient step from gradient rows of -log p, without a model."""
        lowlevel.bdl_posterior_update(
            self._handle,
            arrays.rows(rows, "rows"),
            scale,
            learning_rate,
            curvature_rate,
            arrays.row(prior_precision, "prior_precision"),
        )

    def copy(self) -> Posterior:
        """An independent copy."""
        return Posterior._of(lowlevel.bdl_posterior_copy(self._handle))

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Posterior:
        return self.copy()

    def __repr__(self) -> str:
        if self.closed:
            return "<closed Posterior>"
        rank = f", rank={self.rank}" if self.family == "low_rank" else ""
        return f"<Posterior {self.family}: dimension={self.dimension}{rank}, dtype={self.dtype!r}>"

    def __reduce__(self) -> Any:
        return _load_posterior, (to_bytes(None, self._handle, None),)


def _load_posterior(data: bytes) -> Posterior:
    return Posterior._of(lowlevel.bdl_load_bytes(data, None, False, True, False)[1])
