// Checks and conversions of arguments that several files share.
#pragma once

#include <cmath>

#include "base/array.hpp"
#include "c_api/guard.hpp"
#include "model/checked_data.hpp"

namespace bdl {

inline constexpr Index largest_size = INT32_MAX;  // BLAS and LAPACK count in 32 bits

template <class Enum>
void check_enum(const Enum& value, int first, int last, const char* name) {
  if (const int number = enum_number(value); number < first || number > last)
    fail(Status::ERROR_INVALID_ARGUMENT, "%s is %d, expected %d to %d", name, number, first, last);
}

inline void check_range(Index value, Index low, Index high, const char* name) {
  if (value < low || value > high)
    fail(Status::ERROR_INVALID_ARGUMENT, "%s is %lld, expected %lld to %lld", name,
         static_cast<long long>(value), static_cast<long long>(low), static_cast<long long>(high));
}

/// Calls visit(float()) or visit(double()) for a floating dtype.
template <class Visit>
void with_dtype(const bdl_dtype& dtype, Visit&& visit) {
  const int number = enum_number(dtype);
  if (number == BDL_F32) return visit(float());
  if (number == BDL_F64) return visit(double());
  fail(Status::ERROR_INVALID_ARGUMENT, "dtype is %d, expected BDL_F32 or BDL_F64", number);
}

/// True if a D x L matrix argument has columns: it may be absent, or have none at rank 0.
template <AnyArray Any>
bool given_columns(const Any& low_rank, Index rank) {
  return given(low_rank) && !(rank == 0 && low_rank.cols == 0);
}

/// Fails unless the array is symmetric up to rounding in single precision.
inline void check_symmetric(const Array& array, const char* name) {
  for (Index i = 0; i < array.rows; ++i)
    for (Index j = 0; j < i; ++j) {
      const double below = element(array, i, j), above = element(array, j, i);
      if (std::abs(below - above) > 1e-5 * std::sqrt(std::abs(element(array, i, i) * element(array, j, j))))
        fail(Status::ERROR_INVALID_ARGUMENT, "%s is not symmetric at row %lld, column %lld (counting from 0)",
             name, static_cast<long long>(i), static_cast<long long>(j));
    }
}

/// Returns memory for the array's rows as columns of the core.
template <class T>
Buffer<T> columns_for(const Array& array) {
  check_range(array.rows, 1, largest_size, "a number of rows");
  return Buffer<T>(array.rows * array.cols);
}

/// Returns the array's rows as columns of the core.
template <class T>
Buffer<T> gathered(const Array& array) {
  Buffer<T> columns = columns_for<T>(array);
  gather(array, 0, columns.matrix(array.cols, array.rows));
  return columns;
}

/// Returns D positive numbers from an array that is 1 x D, or 1 x 1 for all.
template <class T>
Buffer<T> gathered_precision(const Array& array, Index dimension, const char* name) {
  check_shape(array, 1, array.cols == 1 ? 1 : dimension, name);
  check_positive<T>(array, name);
  Buffer<T> values(dimension);
  for (Index i = 0; i < dimension; ++i)
    values.data()[i] = static_cast<T>(element(array, 0, array.cols == 1 ? 0 : i));
  return values;
}

template <class T>
Buffer<T> checked_parameters(const Model<T>& model, const Array& parameters) {
  check_shape(parameters, 1, model.parameters(), "parameters");
  check_finite<T>(parameters, "parameters");
  return gathered<T>(parameters);
}

/// Returns rows of x or y, which have been checked, as standardised columns of the core.
template <class T>
Buffer<T> gathered_inputs(const Model<T>& model, const Array& x) {
  Buffer<T> columns = columns_for<T>(x);
  gather_inputs(model, x, 0, columns.matrix(x.cols, x.rows));
  return columns;
}
template <class T>
Buffer<T> gathered_targets(const Model<T>& model, const Array& y) {
  Buffer<T> columns = columns_for<T>(y);
  gather_targets(model, y, 0, columns.matrix(y.cols, y.rows));
  return columns;
}

}  // namespace bdl
