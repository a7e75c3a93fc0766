"""Posteriors: distributions over the parameters of a model."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np

from . import arrays, lowlevel, names
from .handle import Handle, capsule_of, to_bytes
from .model import Model


class Posterior(Handle):
    """A distribution q(theta) over D parameters: its mean, covariance, samples and densities.

    Create one by a family: :meth:`low_rank` (rank 0: diagonal), :meth:`full`, :meth:`layerwise_full`,
    :meth:`kronecker` and others. A new posterior is N(0, I) and uninitialised; an :class:`Optimizer`
    initialises and learns it. It needs no model: you can also set it and update it yourself.

    >>> import bdl
    >>> q = bdl.Posterior.low_rank(dimension=3, rank=1)
    >>> q.family, q.dimension, q.rank, q.dtype, q.is_blank, q.has_covariance
    ('low_rank', 3, 1, 'float64', True, True)
    >>> q.set_low_rank(mean=[1, 2, 3], low_rank=[[1], [0], [0]], diagonal=[1, 1, 4])
    >>> q.mean, q.variance, q.precision_diagonal
    (array([1., 2., 3.]), array([0.5 , 1.  , 0.25]), array([2., 1., 4.]))
    >>> print(round(q.entropy, 3), round(q.log_det_covariance, 3))
    3.217 -2.079
    """

    @classmethod
    def low_rank(cls, dimension: int, rank: int, dtype: str = "float64") -> Posterior:
        """Returns an uninitialised posterior whose precision is U U^T + diag(d).

        Parameters
        ----------
        dimension : int
            Number of parameters D.
        rank : int
            Number of columns of U, 0 to D. Rank 0 is a diagonal posterior.
        dtype : str, default="float64"
            "float64" or "float32"; the type of the model that it is trained with.

        Examples
        --------
        >>> import bdl
        >>> bdl.Posterior.low_rank(dimension=4, rank=2)
        <Posterior low_rank: dimension=4, rank=2, dtype='float64'>
        """
        return cls._of(lowlevel.bdl_posterior_create_low_rank(names.dtypes.number(dtype), dimension, rank))

    @classmethod
    def full(cls, dimension: int, dtype: str = "float64") -> Posterior:
        """Returns an uninitialised posterior with any covariance; it stores the precision matrix.

        It takes about 16 D^2 bytes.

        Parameters
        ----------
        dimension : int
            Number of parameters D.
        dtype : str, default="float64"
            "float64" or "float32"; the type of the model that it is trained with.

        Examples
        --------
        >>> import bdl
        >>> bdl.Posterior.full(3).covariance()
        array([[1., 0., 0.],
               [0., 1., 0.],
               [0., 0., 1.]])
        """
        return cls._of(lowlevel.bdl_posterior_create_full(names.dtypes.number(dtype), dimension))

    @classmethod
    def full_moment(cls, dimension: int, dtype: str = "float64") -> Posterior:
        """Returns an uninitialised posterior with any covariance; it stores the covariance matrix.

        Steps change the covariance, where those of :meth:`full` change the precision, so that results differ.

        Parameters
        ----------
        dimension : int
            Number of parameters D.
        dtype : str, default="float64"
            "float64" or "float32"; the type of the model that it is trained with.

        Examples
        --------
        >>> import bdl
        >>> bdl.Posterior.full_moment(3)
        <Posterior full_moment: dimension=3, dtype='float64'>
        """
        return cls._of(lowlevel.bdl_posterior_create_full_moment(names.dtypes.number(dtype), dimension))

    @classmethod
    def diagonal_moment(cls, dimension: int, dtype: str = "float64") -> Posterior:
        """Returns an uninitialised posterior of independent parameters; it stores their variances.

        Steps change the variances, where those of ``low_rank(dimension, 0)`` change the precisions.

        Parameters
        ----------
        dimension : int
            Number of parameters D.
        dtype : str, default="float64"
            "float64" or "float32"; the type of the model that it is trained with.

        Examples
        --------
        >>> import bdl
        >>> bdl.Posterior.diagonal_moment(3).variance
        array([1., 1., 1.])
        """
        return cls._of(lowlevel.bdl_posterior_create_diagonal_moment(names.dtypes.number(dtype), dimension))

    @classmethod
    def dropout(cls, model: Model, input_rate: float, hidden_rate: float) -> Posterior:
        """Returns an uninitialised dropout posterior: the weights of a network under random masks.

        It is not Gaussian. It has a mean, variances and samples, but no density, entropy or KL divergence.
        Method "mc-dropout" learns it.

        Parameters
        ----------
        model : Model
            Network, not a custom model.
        input_rate, hidden_rate : float
            Probabilities that an input and that a hidden unit is dropped, in [0, 1).

        Examples
        --------
        >>> import bdl
        >>> bdl.Posterior.dropout(bdl.Model.mlp([2, 5, 1]), 0.0, 0.1).dropout_rates
        (0.0, 0.1)
        """
        of_model = capsule_of(model, Model, "model")
        return cls._of(lowlevel.bdl_posterior_create_dropout(of_model, input_rate, hidden_rate))

    @classmethod
    def layerwise_full(cls, model: Model) -> Posterior:
        """Returns an uninitialised posterior with any covariance within each layer, none across layers.

        Parameters
        ----------
        model : Model
            Network whose layers give the blocks. It also gives the dtype.

        Examples
        --------
        >>> import bdl
        >>> bdl.Posterior.layerwise_full(bdl.Model.mlp([2, 5, 1]))
        <Posterior layerwise_full: dimension=21, dtype='float64'>
        """
        return cls._of(lowlevel.bdl_posterior_create_layerwise_full(capsule_of(model, Model, "model")))

    @classmethod
    def blockwise_full(cls, sizes: Sequence[int], dtype: str = "float64") -> Posterior:
        """Returns an uninitialised posterior with any covariance within blocks, none across blocks.

        Parameters
        ----------
        sizes : sequence of int
            Numbers of parameters of the consecutive blocks.
        dtype : str, default="float64"
            "float64" or "float32"; the type of the model that it is trained with.

        Examples
        --------
        >>> import bdl
        >>> bdl.Posterior.blockwise_full([2, 1]).dimension
        3
        """
        return cls._of(lowlevel.bdl_posterior_create_blockwise_full(names.dtypes.number(dtype), sizes))

    @classmethod
    def low_rank_moment(cls, dimension: int, rank: int, dtype: str = "float64") -> Posterior:
        """Returns an uninitialised posterior whose covariance is diag(s) + W W^T.

        Parameters
        ----------
        dimension : int
            Number of parameters D.
        rank : int
            Number of columns of W.
        dtype : str, default="float64"
            "float64" or "float32"; the type of the model that it is trained with.

        Examples
        --------
        >>> import bdl
        >>> bdl.Posterior.low_rank_moment(dimension=4, rank=2).family
        'low_rank_moment'
        """
        number = names.dtypes.number(dtype)
        return cls._of(lowlevel.bdl_posterior_create_low_rank_moment(number, dimension, rank))

    @classmethod
    def layerwise_low_rank_moment(cls, model: Model, rank: int) -> Posterior:
        """Returns an uninitialised posterior with covariance diag(s) + W W^T within each layer.

        Parameters of different layers are independent.

        Parameters
        ----------
        model : Model
            Network whose layers give the blocks. It also gives the dtype.
        rank : int
            Number of columns of each layer's W, 0 to 256.

        Examples
        --------
        >>> import bdl
        >>> model = bdl.Model.mlp([2, 5, 1])
        >>> bdl.Posterior.layerwise_low_rank_moment(model, rank=2).rank
        2
        """
        of_model = capsule_of(model, Model, "model")
        return cls._of(lowlevel.bdl_posterior_create_layerwise_low_rank_moment(of_model, rank))

    @classmethod
    def kronecker(cls, model: Model) -> Posterior:
        """Returns an uninitialised posterior with a Kronecker-factored precision within each layer.

        Parameters of different layers are independent. Methods "laplace", "kfac" and "noisy-kfac" learn it.

        Parameters
        ----------
        model : Model
            Network, not a custom model. It also gives the dtype.

        Examples
        --------
        >>> import bdl
        >>> bdl.Posterior.kronecker(bdl.Model.mlp([2, 5, 1])).family
        'kronecker'
        """
        return cls._of(lowlevel.bdl_posterior_create_kronecker(capsule_of(model, Model, "model")))

    def as_full(self) -> Posterior:
        """Returns a full-moment posterior with the same mean and covariance.

        >>> import bdl
        >>> bdl.Posterior.low_rank(3, 1).as_full().family
        'full_moment'
        """
        return type(self)._of(lowlevel.bdl_posterior_as_full(self._handle))

    def as_diagonal(self) -> Posterior:
        """Returns a diagonal-moment posterior with the same means and variances.

        >>> import bdl
        >>> bdl.Posterior.full(3).as_diagonal().family
        'diagonal_moment'
        """
        return type(self)._of(lowlevel.bdl_posterior_as_diagonal(self._handle))

    @property
    def dimension(self) -> int:
        """Number of parameters D."""
        return lowlevel.bdl_posterior_dimension(self._handle)

    @property
    def rank(self) -> int:
        """Rank of a low-rank or low-rank-moment posterior; D of a full one, 0 of a diagonal one."""
        return lowlevel.bdl_posterior_rank(self._handle)

    @property
    def family(self) -> str:
        """Name of the family, such as "low_rank"; a diagonal posterior is "low_rank" of rank 0."""
        return names.families.word(lowlevel.bdl_posterior_family(self._handle))

    @property
    def dtype(self) -> str:
        """Type of the numbers, "float64" or "float32"."""
        return names.dtypes.word(lowlevel.bdl_posterior_dtype(self._handle))

    @property
    def is_blank(self) -> bool:
        """True if nobody has set the posterior, and no optimizer has trained it."""
        return bool(lowlevel.bdl_posterior_is_blank(self._handle))

    @property
    def has_covariance(self) -> bool:
        """False if the posterior is a point, as methods "map" and "sgd" find it, without a covariance.

        Functions that need the covariance of such a posterior raise an :class:`UnsupportedError`.
        """
        return bool(lowlevel.bdl_posterior_has_covariance(self._handle))

    @property
    def dropout_rates(self) -> tuple[float, float]:
        """Probabilities that an input and that a hidden unit is dropped, of a dropout posterior.

        >>> import bdl
        >>> bdl.Posterior.dropout(bdl.Model.mlp([2, 5, 1]), 0.0, 0.1).dropout_rates
        (0.0, 0.1)
        """
        return tuple(lowlevel.bdl_posterior_dropout_rates(self._handle))

    def set_low_rank(self, mean: Any, low_rank: Any, diagonal: Any) -> None:
        """Sets a low-rank posterior to N(mean, (U U^T + diag(d))^-1).

        Parameters
        ----------
        mean : array of shape (D,)
            Means.
        low_rank : array of shape (D, rank) or None
            Matrix U; None for rank 0.
        diagonal : array of shape (D,)
            Vector d, positive.

        Examples
        --------
        >>> import bdl
        >>> q = bdl.Posterior.low_rank(2, rank=1)
        >>> q.set_low_rank([1.0, 2.0], [[1.0], [0.0]], [1.0, 4.0])
        >>> q.variance
        array([0.5 , 0.25])
        """
        low_rank = None if low_rank is None else arrays.matrix(low_rank, "low_rank")
        lowlevel.bdl_posterior_set_low_rank(
            self._handle, arrays.row(mean, "mean"), low_rank, arrays.row(diagonal, "diagonal")
        )

    def set_low_rank_moment(self, mean: Any, low_rank: Any, diagonal: Any) -> None:
        """Sets a low-rank-moment posterior to N(mean, diag(s) + W W^T).

        Parameters
        ----------
        mean : array of shape (D,)
            Means.
        low_rank : array of shape (D, rank) or None
            Matrix W; None for rank 0.
        diagonal : array of shape (D,)
            Vector s, positive.

        Examples
        --------
        >>> import bdl
        >>> q = bdl.Posterior.low_rank_moment(2, rank=1)
        >>> q.set_low_rank_moment([1.0, 2.0], [[1.0], [0.0]], [1.0, 4.0])
        >>> q.variance
        array([2., 4.])
        """
        low_rank = None if low_rank is None else arrays.matrix(low_rank, "low_rank")
        lowlevel.bdl_posterior_set_low_rank_moment(
            self._handle, arrays.row(mean, "mean"), low_rank, arrays.row(diagonal, "diagonal")
        )

    def set_full(self, mean: Any, precision: Any) -> None:
        """Sets a full posterior to N(mean, precision^-1).

        Parameters
        ----------
        mean : array of shape (D,)
            Means.
        precision : array of shape (D, D)
            Precision matrix, symmetric and positive definite.

        Examples
        --------
        >>> import bdl
        >>> q = bdl.Posterior.full(2)
        >>> q.set_full([1.0, 2.0], [[4.0, 0.0], [0.0, 2.0]])
        >>> q.variance
        array([0.25, 0.5 ])
        """
        lowlevel.bdl_posterior_set_full(self._handle, arrays.row(mean, "mean"), arrays.matrix(precision, "precision"))

    def set_full_moment(self, mean: Any, covariance: Any) -> None:
        """Sets a full-moment posterior to N(mean, covariance).

        Parameters
        ----------
        mean : array of shape (D,)
            Means.
        covariance : array of shape (D, D)
            Covariance matrix, symmetric and positive definite.

        Examples
        --------
        >>> import bdl
        >>> q = bdl.Posterior.full_moment(2)
        >>> q.set_full_moment([1.0, 2.0], [[4.0, 1.0], [1.0, 2.0]])
        >>> q.variance
        array([4., 2.])
        """
        covariance = arrays.matrix(covariance, "covariance")
        lowlevel.bdl_posterior_set_full_moment(self._handle, arrays.row(mean, "mean"), covariance)

    def set_diagonal_moment(self, mean: Any, variance: Any) -> None:
        """Sets a diagonal-moment posterior to independent normal distributions.

        Parameters
        ----------
        mean : array of shape (D,)
            Means.
        variance : array of shape (D,)
            Variances, positive.

        Examples
        --------
        >>> import bdl
        >>> q = bdl.Posterior.diagonal_moment(2)
        >>> q.set_diagonal_moment([1.0, 2.0], [4.0, 2.0])
        >>> q.variance
        array([4., 2.])
        """
        lowlevel.bdl_posterior_set_diagonal_moment(
            self._handle, arrays.row(mean, "mean"), arrays.row(variance, "variance")
        )

    def set_dropout(self, mean: Any) -> None:
        """Sets the mean of a dropout posterior, of shape (D,): the weights without dropout.

        >>> import bdl, numpy as np
        >>> q = bdl.Posterior.dropout(bdl.Model.mlp([1, 1]), 0.5, 0.0)
        >>> q.set_dropout([2.0, 1.0])
        >>> q.mean
        array([2., 1.])
        """
        lowlevel.bdl_posterior_set_dropout(self._handle, arrays.row(mean, "mean"))

    def tensors(self) -> dict[str, np.ndarray]:
        """Returns everything that the posterior stores, by name: a dict of arrays.

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
        """Sets some of the arrays that :meth:`tensors` returns; on an error, none of them.

        Parameters
        ----------
        tensors : dict of str to array
            Arrays by name. Others keep their values. Leave out a "factor": libbdl computes it.

        Examples
        --------
        >>> import bdl
        >>> q = bdl.Posterior.blockwise_full([2, 1])
        >>> q.set_tensors({"mean": [1.0, 2.0, 3.0], "block1.precision": [[4.0]]})
        >>> q.variance
        array([1.  , 1.  , 0.25])
        """
        given = [(name, arrays.row(values, name)) for name, values in tensors.items()]
        lowlevel.bdl_posterior_set_tensors(self._handle, [(name, values) for name, values in given if values.size])

    def _row(self, read: Any) -> np.ndarray:
        result = arrays.empty(1, self.dimension)
        read(self._handle, result)
        return result[0]

    @property
    def mean(self) -> np.ndarray:
        """Mean, of shape (D,)."""
        return self._row(lowlevel.bdl_posterior_mean)

    @property
    def variance(self) -> np.ndarray:
        """Variances of the parameters, the diagonal of the covariance, of shape (D,)."""
        return self._row(lowlevel.bdl_posterior_marginal_variance)

    @property
    def precision_diagonal(self) -> np.ndarray:
        """Diagonal of the precision matrix, of shape (D,)."""
        return self._row(lowlevel.bdl_posterior_precision_diagonal)

    @property
    def low_rank_parts(self) -> tuple[np.ndarray, np.ndarray]:
        """Matrix U, of shape (D, rank), and vector d, of shape (D,), of a low-rank posterior.

        Its precision is U U^T + diag(d).

        >>> import bdl
        >>> q = bdl.Posterior.low_rank(2, rank=1)
        >>> q.set_low_rank([1.0, 2.0], [[1.0], [0.0]], [1.0, 4.0])
        >>> q.low_rank_parts
        (array([[1.],
               [0.]]), array([1., 4.]))
        """
        u, d = arrays.empty(self.dimension, self.rank), arrays.empty(1, self.dimension)
        lowlevel.bdl_posterior_get_low_rank(self._handle, u if self.rank else None, d)
        return u, d[0]

    def covariance(self, rows: Any = None, cols: Any = None) -> np.ndarray:
        """Returns the covariance matrix, or some of its rows and columns.

        Parameters
        ----------
        rows, cols : sequence of int, default=None
            Numbers of the parameters. None stands for all.

        Examples
        --------
        >>> import bdl
        >>> bdl.Posterior.low_rank(1000, 5).covariance(rows=[0, 1], cols=[1])
        array([[0.],
               [1.]])
        """
        rows = range(self.dimension) if rows is None else rows
        cols = range(self.dimension) if cols is None else cols
        block = arrays.empty(len(rows), len(cols))
        lowlevel.bdl_posterior_covariance(self._handle, rows, cols, block)
        return block

    def coefficients(self, model: Any, base_class: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Returns mean (K,) and covariance (K, K) of a generalised linear model's coefficients, in the data's units.

        They are in the order of :meth:`bdl.Model.coefficients`, output by output.

        Parameters
        ----------
        model : Model
            Model of this posterior: a single dense layer.
        base_class : int, default=None
            Number of the base class, for contrasts with it.

        Examples
        --------
        >>> import bdl
        >>> model, q = bdl.Model.mlp([2, 3], likelihood="categorical"), bdl.Posterior.full(9)
        >>> mean, covariance = q.coefficients(model, base_class=0)
        >>> mean.shape, covariance[0, 0], covariance[0, 3]
        ((6,), 2.0, 1.0)
        """
        base = -1 if base_class is None else base_class
        count = lowlevel.bdl_model_coefficient_count(model._handle, base)
        mean, covariance = arrays.empty(1, count), arrays.empty(count, count)
        lowlevel.bdl_posterior_coefficients(self._handle, model._handle, base, mean, covariance)
        return mean[0], covariance

    def solve(self, vectors: Any) -> np.ndarray:
        """Returns the covariance times each vector, of shape (k, D).

        Parameters
        ----------
        vectors : array of shape (k, D) or (D,)
            One vector a row.

        Examples
        --------
        >>> import bdl
        >>> q = bdl.Posterior.full(2)
        >>> q.set_full([0.0, 0.0], [[4.0, 0.0], [0.0, 2.0]])
        >>> q.solve([1.0, 1.0])
        array([[0.25, 0.5 ]])
        """
        vectors = arrays.rows(vectors, "vectors")
        solution = arrays.empty(*vectors.shape)
        lowlevel.bdl_posterior_solve(self._handle, vectors, solution)
        return solution

    def sample(self, count: int = 1, seed: int = 1, first: int = 0) -> np.ndarray:
        """Returns random samples of the parameters, of shape (count, D).

        Parameters
        ----------
        count : int, default=1
            Number of samples.
        seed : int, default=1
            Seed of the random numbers.
        first : int, default=0
            Number of the first sample: row i depends on ``seed`` and ``first + i`` only.

        Examples
        --------
        >>> import bdl
        >>> q = bdl.Posterior.full(3)
        >>> q.sample(1000, seed=1).shape
        (1000, 3)
        >>> bool((q.sample(2)[1] == q.sample(1, first=1)[0]).all())
        True
        """
        samples = arrays.empty(count, self.dimension)
        lowlevel.bdl_posterior_sample(self._handle, seed, first, samples)
        return samples

    def log_density(self, parameters: Any) -> np.ndarray:
        """Returns log q(theta) of each row, of shape (k,), in nats.

        Parameters
        ----------
        parameters : array of shape (k, D) or (D,)
            One vector theta a row.

        Examples
        --------
        >>> import bdl
        >>> bdl.Posterior.full(2).log_density([[0.0, 0.0], [1.0, 0.0]]).round(3)
        array([-1.838, -2.338])
        """
        parameters = arrays.rows(parameters, "parameters")
        result = arrays.empty(len(parameters), 1)
        lowlevel.bdl_posterior_log_density(self._handle, parameters, result)
        return result[:, 0]

    @property
    def log_det_covariance(self) -> float:
        """Logarithm of the determinant of the covariance."""
        return lowlevel.bdl_posterior_log_det_covariance(self._handle)

    @property
    def entropy(self) -> float:
        """Differential entropy, in nats."""
        return lowlevel.bdl_posterior_entropy(self._handle)

    def kl(self, other: Posterior) -> float:
        """Returns KL(q || other) in nats. The two posteriors may have different families.

        >>> import bdl
        >>> q = bdl.Posterior.full_moment(2)
        >>> q.set_full_moment([1.0, 0.0], [[1.0, 0.0], [0.0, 1.0]])
        >>> q.kl(bdl.Posterior.low_rank(2, 0))
        0.5
        """
        return lowlevel.bdl_posterior_kl(self._handle, capsule_of(other, Posterior, "other"))

    def kl_prior(self, prior_precision: Any) -> float:
        """Returns KL(q || N(0, 1 / prior_precision)) in nats.

        Parameters
        ----------
        prior_precision : float or array of shape (D,)
            One precision for all parameters, or one for each.

        Examples
        --------
        >>> import bdl
        >>> print(round(bdl.Posterior.full(2).kl_prior(4.0), 3))
        1.614
        """
        return lowlevel.bdl_posterior_kl_prior(self._handle, arrays.row(prior_precision, "prior_precision"))

    def update(
        self,
        rows: Any,
        scale: float = 1.0,
        learning_rate: float = 1.0,
        curvature_rate: float = 0.5,
        prior_precision: Any = 1.0,
    ) -> None:
        """Takes one natural-gradient step from gradients that you computed, without a model.

        Parameters
        ----------
        rows : array of shape (n, D)
            Gradients of -log p(y_i | theta), one example a row.
        scale : float, default=1.0
            N / n, for n of the N examples of the data set.
        learning_rate : float, default=1.0
            Step length of the mean.
        curvature_rate : float, default=0.5
            Weight of the new curvature in the precision, in [0, 1).
        prior_precision : float or array of shape (D,), default=1.0
            Precision of the prior N(0, 1 / prior_precision).

        Examples
        --------
        >>> import bdl
        >>> q = bdl.Posterior.full(2)
        >>> q.update([[1.0, 0.0], [1.0, 0.0]])
        >>> q.mean, q.variance
        (array([-1.,  0.]), array([0.5, 1. ]))
        """
        lowlevel.bdl_posterior_update(
            self._handle,
            arrays.rows(rows, "rows"),
            scale,
            learning_rate,
            curvature_rate,
            arrays.row(prior_precision, "prior_precision"),
        )

    def copy(self) -> Posterior:
        """Returns an independent copy.

        >>> import bdl
        >>> q = bdl.Posterior.diagonal_moment(2)
        >>> copy = q.copy()
        >>> copy.set_diagonal_moment([1.0, 2.0], [4.0, 2.0])
        >>> q.mean
        array([0., 0.])
        """
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
