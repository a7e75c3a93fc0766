// The caller's arrays (bdl_matrix): checks, reading rows into the core's matrices, and writing results back.
#pragma once

#include "base/error.hpp"
#include "base/view.hpp"
#include "bdl/matrix.h"

namespace bdl {

using Array = bdl_matrix;
using OutArray = bdl_matrix_out;
template <class Any>
concept AnyArray = std::is_same_v<Any, Array> || std::is_same_v<Any, OutArray>;

template <AnyArray Any>
bool given(const Any& array) {
  return array.rows != 0 || array.cols != 0 || array.data;
}

template <AnyArray Any>
Any transposed(const Any& array) {
  return {array.data, array.dtype, 0, array.cols, array.rows, array.col_stride, array.row_stride};
}

/// Scales columns as (value - mean) / scale, in double precision; columns without numbers, which come last,
/// are unchanged.
struct ColumnScales {
  ConstSpan<double> mean, scale;
  bool given() const { return !mean.empty(); }
  double apply(Index column, double value) const {
    const auto k = static_cast<std::size_t>(column);
    return k < mean.size() ? (value - mean[k]) / scale[k] : value;
  }
};

/// Fails with ERROR_SHAPE unless the array has data and is rows x cols, where a negative number allows any.
void check_shape(const Array& array, Index rows, Index cols, const char* name);
/// As check_shape(), for an output: it must also be floating point, and its elements must not overlap.
void check_output(const OutArray& array, Index rows, Index cols, const char* name);
/// Fails with ERROR_NOT_FINITE, naming row and column, if a value is NaN or infinite, also as T and when
/// scaled.
template <class T = double>
void check_finite(const Array& array, const char* name, const ColumnScales& scales = {});
/// Fails with ERROR_INVALID_ARGUMENT unless every element is finite and > 0, also in T.
template <class T = double>
void check_positive(const Array& array, const char* name);

/// Returns element (row, col) as a double.
double element(const Array& array, Index row, Index col);

/// Returns rows first, first + 1, ... of the array.
Array rows_of(const Array& array, Index first, Index count);

/// Returns the array's memory as columns of the core if its rows are contiguous and have type T, else no
/// data.
template <class T>
ConstMatrixView<T> in_place(const Array& array);
template <class T>
MatrixView<T> in_place(const OutArray& array);

/// Reads row rows[j] of the array (or row first + j) into column j of out, and scales it.
template <class T>
void gather(const Array& array, ConstSpan<Index> rows, MatrixView<T> out, const ColumnScales& scales = {});
template <class T>
void gather(const Array& array, Index first, MatrixView<T> out, const ColumnScales& scales = {});

/// Writes column j of `in` to row first + j of the array.
template <class T>
void scatter(ConstMatrixView<T> in, const OutArray& array, Index first = 0);

/// Says whether results that are not finite are errors, or documented.
enum class NonFinite { refused, documented };

/// Fails with ERROR_DIVERGED, naming row and column, unless every element of `in` is finite in the array's
/// type. Every result is checked by this or one of the next two functions, so that BDL_OK means finite.
template <class T>
void check_result(ConstMatrixView<T> in, const OutArray& array, const char* name,
                  NonFinite others = NonFinite::refused);
/// True if all of these numbers are finite in the array's type.
template <class T>
bool all_fit(const T* values, Index count, const OutArray& array);
/// Returns the value; fails with ERROR_DIVERGED unless it is finite.
double checked_result(double value, const char* name);

/// Checks all of `in`, then writes it.
template <class T>
void write_result(ConstMatrixView<T> in, const OutArray& array, const char* name,
                  NonFinite others = NonFinite::refused);

/// Returns columns of the core as the rows of an array, as callbacks read them.
template <class T>
Array as_array(ConstMatrixView<T> columns);
/// As as_array(), for a callback to write.
template <class T>
OutArray as_output(MatrixView<T> columns);

}  // namespace bdl
