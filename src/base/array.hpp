// The caller's arrays (bdl_matrix): shape checks, gathering into and scattering out of the core's matrices.
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

/// Columns as (value - mean) / scale, in double whatever the array holds; by default as they are.
struct ColumnScales {
  ConstSpan<double> mean, scale;
  bool given() const { return !mean.empty(); }
  double apply(Index column, double value) const {
    const auto k = static_cast<std::size_t>(column);
    return given() ? (value - mean[k]) / scale[k] : value;
  }
};

/// Fails with ERROR_SHAPE unless the array is rows x cols (a negative number allows any) with data in it.
void check_shape(const Array& array, Index rows, Index cols, const char* name);
/// As check_shape, for an output: additionally floating point and non-overlapping.
void check_output(const OutArray& array, Index rows, Index cols, const char* name);
/// Fails with ERROR_NOT_FINITE naming the first row and column that hold NaN, infinity, or what is infinity
/// in T, before or after scaling.
template <class T = double>
void check_finite(const Array& array, const char* name, const ColumnScales& scales = {});
/// Fails with ERROR_INVALID_ARGUMENT unless every element is finite and > 0, also in T.
template <class T = double>
void check_positive(const Array& array, const char* name);

/// Element (row, col) as a double.
double element(const Array& array, Index row, Index col);

/// Rows first, first + 1, ... of the array.
Array rows_of(const Array& array, Index first, Index count);

/// The array's memory as columns of the core if its rows are contiguous and of type T; without data if not.
template <class T>
ConstMatrixView<T> in_place(const Array& array);
template <class T>
MatrixView<T> in_place(const OutArray& array);

/// Column j of out becomes row rows[j] of the array (row first + j without a list), scaled on the way.
template <class T>
void gather(const Array& array, ConstSpan<Index> rows, MatrixView<T> out, const ColumnScales& scales = {});
template <class T>
void gather(const Array& array, Index first, MatrixView<T> out, const ColumnScales& scales = {});

/// Row first + j of the array becomes column j of in. It asks the interrupt and goes on: who asked for a stop
/// meets it at the next check_loop().
template <class T>
void scatter(ConstMatrixView<T> in, const OutArray& array, Index first = 0);

/// Numbers that are documented not to be finite, or none.
enum class NonFinite { refused, documented };

/// Fails with ERROR_DIVERGED, naming row and column, where an element of `in` is no finite number in the
/// array's type. This, and the function below, is where every result is checked: BDL_OK means finite.
template <class T>
void check_result(ConstMatrixView<T> in, const OutArray& array, const char* name,
                  NonFinite others = NonFinite::refused);
/// The same of numbers one behind the other, without a message.
template <class T>
bool all_fit(const T* values, Index count, const OutArray& array);
/// The value, unless it is not finite.
double checked_result(double value, const char* name);

/// Scatters what is all good.
template <class T>
void write_result(ConstMatrixView<T> in, const OutArray& array, const char* name,
                  NonFinite others = NonFinite::refused);

/// Columns of the core as seen by a callback: one example per row.
template <class T>
Array as_array(ConstMatrixView<T> columns);
/// The same for a callback to write.
template <class T>
OutArray as_output(MatrixView<T> columns);

}  // namespace bdl
