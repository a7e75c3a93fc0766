"""Data that need not lie in memory: rows by number."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import arrays, lowlevel
from .handle import Handle


class Dataset(Handle):
    """Rows of arrays, in place of ``x`` and ``y`` in ``Optimizer.fit``, ``laplace``, ``elbo``, ``Model.standardize`` and the estimators' ``fit``.

    ``Dataset(x, y)`` keeps arrays that the library can read (NumPy's, ``numpy.memmap`` among them) without a copy; of anything
    else that has a length and takes an array of row numbers as index (HDF5, Zarr, integers of other widths, float16) it
    asks for the rows of each minibatch. ``from_callable`` takes a function of row numbers, ``from_npy`` and
    ``from_safetensors`` map files. Values are checked when they are read.

    >>> import bdl, numpy as np
    >>> x = np.linspace(-1, 1, 50)
    >>> data = bdl.Dataset(x, 2 * x + 1)
    >>> model = bdl.Model.mlp([1, 1])
    >>> q = bdl.Posterior.full(model.parameters)
    >>> optimizer = bdl.Optimizer(model, q, "slang-exact-hess", len(data), seed=3)
    >>> optimizer.fit(data, epochs=400)
    True
    >>> np.round(q.mean, 1)
    array([2., 1.])
    """

    def __init__(self, x: Any, y: Any = None):
        if _is_kept(x) and (y is None or _is_kept(y)):
            kept = arrays.matrix(x, "x"), None if y is None else arrays.matrix(y, "y")
            self._capsule = lowlevel.bdl_dataset_from_arrays(*kept)
            self._kept = kept  # the library has their addresses
            return
        if y is not None and len(x) != len(y):
            raise ValueError(f"y has {len(y)} rows, expected {len(x)} as x")
        self._capsule = _from_callable(lambda rows: (_rows_of(x, rows), None if y is None else _rows_of(y, rows)), len(x))

    @classmethod
    def from_callable(cls, read: Callable[[np.ndarray], tuple[Any, Any]], rows: int) -> Dataset:
        """``read(numbers)`` returns the rows of these numbers, an array of int64, as a pair (x, y); y may be None if it
        always is. It has to return the same rows whenever it is asked for them; it is asked for row 0 at once, to learn
        how many columns there are. An exception stops the fit and comes out as it was.

        >>> import bdl, numpy as np
        >>> data = bdl.Dataset.from_callable(lambda rows: (rows / 1e9, rows % 2), 10**9)
        >>> data.rows, data.inputs, data.targets
        (1000000000, 1, 1)
        """
        if not callable(read):
            raise TypeError(f"read is a {type(read).__name__}, expected a callable")
        return cls._of(_from_callable(read, rows))

    @classmethod
    def from_npy(cls, x_path: Any, y_path: Any = None) -> Dataset:
        """NumPy's files, mapped and not read: real numbers or truth values of any width up to eight bytes, in either byte order.

        Little-endian float64, float32 and int32, uint8 and bool are read in place; others (float16, int8, int16, int64, uint16,
        uint32, uint64, big-endian ones) are converted row by row, to the values that ``Dataset(array)`` has.
        """
        return cls._of(lowlevel.bdl_dataset_from_npy(x_path, y_path))

    @classmethod
    def from_safetensors(cls, path: Any, x_name: str = "x", y_name: str | None = "y") -> Dataset:
        """Two tensors of a safetensors file, mapped and not read: F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8 or
        BOOL. Other tensors in the file may have any type."""
        return cls._of(lowlevel.bdl_dataset_from_safetensors(path, x_name, y_name))

    @property
    def rows(self) -> int:
        return lowlevel.bdl_dataset_rows(self._handle)

    @property
    def inputs(self) -> int:
        """Columns of x."""
        return lowlevel.bdl_dataset_inputs(self._handle)

    @property
    def targets(self) -> int:
        """Columns of y; 0 without."""
        return lowlevel.bdl_dataset_targets(self._handle)

    def __len__(self) -> int:
        return self.rows

    def target_range(self) -> tuple[np.ndarray, np.ndarray]:
        """Smallest and largest number of each column of y, from one pass over it.

        >>> import bdl, numpy as np
        >>> bdl.Dataset(np.zeros((3, 1)), np.array([2, 0, 1])).target_range()
        (array([0.]), array([2.]))
        """
        smallest, largest = arrays.empty(1, self.targets), arrays.empty(1, self.targets)
        lowlevel.bdl_dataset_target_range(self._handle, smallest, largest)
        return smallest[0], largest[0]

    def set_block(self, rows_in_block: int, window: int = 1) -> None:
        """For sources that are quick in order only: an epoch takes blocks of rows in random order, and shuffles the rows of
        ``window`` blocks at a time. 0 rows: all rows are shuffled."""
        lowlevel.bdl_dataset_set_block(self._handle, rows_in_block, window)

    def read(self, rows: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """These rows as (x, y), for predictions and metrics part by part.

        >>> import bdl, numpy as np
        >>> bdl.Dataset(np.arange(8.0).reshape(4, 2), np.arange(4)).read([3, 0])[0]
        array([[6., 7.],
               [0., 1.]])
        """
        numbers = [int(row) for row in rows]
        x = arrays.empty(len(numbers), self.inputs)
        y = arrays.empty(len(numbers), self.targets) if self.targets else None
        lowlevel.bdl_dataset_read(self._handle, numbers, x, y)
        return x, y

    def _alone(self, y: Any) -> Any:
        """The capsule, where no y may be given beside it."""
        if y is not None:
            raise TypeError("y is given, but the data set has its own")
        return self._handle

    def __repr__(self) -> str:
        if self.closed:
            return "<closed Dataset>"
        return f"<Dataset of {self.rows} rows: {self.inputs} inputs, {self.targets} targets>"

    def __reduce__(self) -> Any:
        raise TypeError("a data set cannot be pickled")


def _is_kept(values: Any) -> bool:
    """Can the library read it where it lies? Lists and pandas' tables are small enough to be copied."""
    return arrays.is_readable(values) or not hasattr(values, "dtype") or hasattr(values, "iloc")


def _rows_of(values: Any, rows: np.ndarray) -> Any:
    """Each once and in order, as HDF5 wants it and disks like it."""
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
