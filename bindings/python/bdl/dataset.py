"""Data sets that need not fit in memory."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import arrays, lowlevel
from .handle import Handle


class Dataset(Handle):
    """Rows of data that need not fit in memory.

    Pass it in place of ``x`` and ``y`` to :meth:`Optimizer.fit`, :meth:`Model.standardize` and the ``fit``
    of the estimators. libbdl reads one minibatch at a time, and checks values when it reads them.

    Parameters
    ----------
    x : array of shape (n, inputs)
        NumPy's arrays and ``numpy.memmap`` are used in place, without a copy. Anything else that has a
        length and accepts an array of row numbers as index (HDF5, Zarr) is asked for the rows of each
        minibatch.
    y : array of shape (n, targets), default=None
        Targets likewise. None: the data set has inputs only, for :meth:`read`.
    row_weights : bool, default=False
        True: the last column of y is the weight of each row, for the estimators. A :class:`Model` says this itself.
    offsets : int, default=0
        Number of offsets, the last columns of x, for the estimators likewise.

    Examples
    --------
    >>> import bdl, numpy as np
    >>> x = np.linspace(-1, 1, 50)
    >>> data = bdl.Dataset(x, 2 * x + 1)
    >>> data.rows, data.inputs, data.targets
    (50, 1, 1)
    >>> model, q = bdl.Model.mlp([1, 1]), bdl.Posterior.full(2)
    >>> bdl.Optimizer(model, q, "slang-exact-hess", len(data)).fit(data, epochs=400)
    True
    >>> q.mean.round(1)
    array([2., 1.])
    """

    row_weights: bool = False
    offsets: int = 0

    def __init__(self, x: Any, y: Any = None, *, row_weights: bool = False, offsets: int = 0):
        """Creates a data set of arrays; the class describes the arguments."""
        self._read_arrays(x, y)
        self._has(row_weights, offsets)

    def _read_arrays(self, x: Any, y: Any) -> None:
        if _is_kept(x) and (y is None or _is_kept(y)):
            kept = arrays.matrix(x, "x"), None if y is None else arrays.matrix(y, "y")
            self._capsule = lowlevel.bdl_dataset_from_arrays(*kept)
            self._kept = kept  # the library has their addresses
            return
        if y is not None and len(x) != len(y):
            raise ValueError(f"y has {len(y)} rows, expected {len(x)} as x")
        self._capsule = _from_callable(lambda rows: (_rows_of(x, rows), None if y is None else _rows_of(y, rows)), len(x))

    @classmethod
    def from_callable(
        cls,
        read: Callable[[np.ndarray], tuple[Any, Any]],
        rows: int,
        *,
        row_weights: bool = False,
        offsets: int = 0,
    ) -> Dataset:
        """Returns a data set whose rows a function reads or computes.

        Parameters
        ----------
        read : callable
            ``read(numbers)`` returns the rows with these numbers (an array of int64) as a pair (x, y). y is
            None if there are no targets. It must always return the same values for a row. libbdl calls it at
            once for row 0, to learn the number of columns. An exception stops the fit and reaches you.
        rows : int
            Number of rows.
        row_weights, offsets : bool and int
            Whether y ends with weights, and how many offsets x ends with, as for the class.

        Examples
        --------
        >>> import bdl
        >>> bdl.Dataset.from_callable(lambda rows: (rows / 1e9, rows % 2), 10**9)
        <Dataset of 1000000000 rows: 1 inputs, 1 targets>
        """
        if not callable(read):
            raise TypeError(f"read is a {type(read).__name__}, expected a callable")
        return cls._of(_from_callable(read, rows))._has(row_weights, offsets)

    @classmethod
    def from_npy(cls, x_path: Any, y_path: Any = None, *, row_weights: bool = False, offsets: int = 0) -> Dataset:
        """Returns a data set of NumPy's files (.npy), which libbdl maps instead of reading them.

        Parameters
        ----------
        x_path, y_path : path
            Files of x and y; y_path may be None. Elements are real numbers, integers or truth values of any
            width up to eight bytes. All but the first dimension are columns.
        row_weights, offsets : bool and int
            Whether y ends with weights, and how many offsets x ends with, as for the class.

        Examples
        --------
        >>> import bdl, numpy as np, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "x.npy")
        >>> np.save(path, np.arange(6.0).reshape(3, 2))
        >>> bdl.Dataset.from_npy(path).read([2])[0]
        array([[4., 5.]])
        """
        return cls._of(lowlevel.bdl_dataset_from_npy(x_path, y_path))._has(row_weights, offsets)

    @classmethod
    def from_safetensors(
        cls,
        path: Any,
        x_name: str = "x",
        y_name: str | None = "y",
        *,
        row_weights: bool = False,
        offsets: int = 0,
    ) -> Dataset:
        """Returns a data set of two tensors of a safetensors file, which libbdl maps.

        Parameters
        ----------
        path : path
            The file.
        x_name, y_name : str, default="x", "y"
            Names of the tensors of x and y; y_name may be None. Elements are of type F64, F32, F16, BF16,
            I64, I32, I16, I8, U64, U32, U16, U8 or BOOL.
        row_weights, offsets : bool and int
            Whether y ends with weights, and how many offsets x ends with, as for the class.

        Examples
        --------
        >>> import bdl, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "q.safetensors")
        >>> bdl.save(path, posterior=bdl.Posterior.full(3))
        >>> bdl.Dataset.from_safetensors(path, "posterior.precision", None)
        <Dataset of 3 rows: 3 inputs, 0 targets>
        """
        return cls._of(lowlevel.bdl_dataset_from_safetensors(path, x_name, y_name))._has(row_weights, offsets)

    def _has(self, row_weights: bool, offsets: int) -> Dataset:
        """Sets which columns are weights and offsets, and returns the data set."""
        if not 0 <= offsets < self.inputs:
            raise ValueError(f"offsets is {offsets}, expected 0 or more, and fewer than the {self.inputs} columns of x")
        if row_weights and self.targets < 2:
            raise ValueError(f"row_weights is True, but y has {self.targets} columns: the last one holds weights, others targets")
        self.row_weights, self.offsets = bool(row_weights), int(offsets)
        return self

    @property
    def rows(self) -> int:
        """Number of rows."""
        return lowlevel.bdl_dataset_rows(self._handle)

    @property
    def inputs(self) -> int:
        """Number of columns of x, offsets among them."""
        return lowlevel.bdl_dataset_inputs(self._handle)

    @property
    def targets(self) -> int:
        """Number of columns of y, weights among them; 0 if there is no y."""
        return lowlevel.bdl_dataset_targets(self._handle)

    def __len__(self) -> int:
        return self.rows

    def target_range(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns the smallest and the largest value of each column of y, each of shape (targets,).

        >>> import bdl, numpy as np
        >>> bdl.Dataset(np.zeros((3, 1)), np.array([2, 0, 1])).target_range()
        (array([0.]), array([2.]))
        """
        smallest, largest = arrays.empty(1, self.targets), arrays.empty(1, self.targets)
        lowlevel.bdl_dataset_target_range(self._handle, smallest, largest)
        return smallest[0], largest[0]

    def set_block(self, rows_in_block: int, window: int = 1) -> None:
        """Makes an epoch read blocks of consecutive rows, for sources that are slow in random order.

        An epoch takes the blocks in random order and shuffles the rows of ``window`` blocks at a time.

        Parameters
        ----------
        rows_in_block : int
            Rows of a block. 0: no blocks; all rows are shuffled, as in a new data set.
        window : int, default=1
            Number of blocks whose rows are shuffled together.

        Examples
        --------
        >>> import bdl
        >>> data = bdl.Dataset.from_callable(lambda rows: (rows / 1e6, rows % 2), 10**6)
        >>> data.set_block(1000, window=4)
        """
        lowlevel.bdl_dataset_set_block(self._handle, rows_in_block, window)

    def read(self, rows: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """Returns some rows as a pair (x, y); y is None if the data set has no targets.

        Parameters
        ----------
        rows : sequence of int
            Numbers of the rows.

        Examples
        --------
        >>> import bdl, numpy as np
        >>> bdl.Dataset(np.arange(8.0).reshape(4, 2), np.arange(4)).read([3, 0])
        (array([[6., 7.],
               [0., 1.]]), array([[3.],
               [0.]]))
        """
        numbers = [int(row) for row in rows]
        x = arrays.empty(len(numbers), self.inputs)
        y = arrays.empty(len(numbers), self.targets) if self.targets else None
        lowlevel.bdl_dataset_read(self._handle, numbers, x, y)
        return x, y

    def _alone(self, y: Any) -> Any:
        """Returns the capsule. Fails if y is given, since the data set has its own."""
        if y is not None:
            raise TypeError("y is given, but the data set has its own: pass the data set alone")
        return self._handle

    def __repr__(self) -> str:
        if self.closed:
            return "<closed Dataset>"
        return f"<Dataset of {self.rows} rows: {self.inputs} inputs, {self.targets} targets>"

    def __reduce__(self) -> Any:
        raise TypeError("a data set cannot be pickled: create it again from its arrays or files")


def _is_kept(values: Any) -> bool:
    """True if libbdl can read the values in place, or if they are lists or pandas' tables, which are copied."""
    return arrays.is_readable(values) or not hasattr(values, "dtype") or hasattr(values, "iloc")


def _rows_of(values: Any, rows: np.ndarray) -> Any:
    """Returns rows of the values; each row is read once, in ascending order, as HDF5 requires."""
    numbers, places = np.unique(rows, return_inverse=True)
    return np.asarray(values[numbers])[places]


def _from_callable(read: Callable[[np.ndarray], tuple[Any, Any]], rows: int) -> Any:
    x, y = _pair(read, np.zeros(1, np.int64))

    def call(numbers: memoryview) -> tuple[np.ndarray, np.ndarray | None]:
        return _pair(read, np.asarray(numbers))

    return lowlevel.bdl_dataset_from_callback(rows, x.shape[1], 0 if y is None else y.shape[1], call)


def _pair(read: Callable[[np.ndarray], tuple[Any, Any]], numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    x, y = read(numbers)
    return _doubles(x), None if y is None else _doubles(y)


def _doubles(values: Any) -> np.ndarray:
    array = np.asarray(values, dtype=np.float64)
    return array.reshape(len(array), -1) if array.ndim != 1 else array[:, np.newaxis]
