#include "base/array.hpp"

#include <cmath>
#include <limits>
#include <type_traits>

#include "base/interrupt.hpp"
#include "base/overlap.hpp"
#include "base/simd.hpp"

namespace bdl {
namespace {

/// Calls visit(pointer to element type) for the array's dtype.
template <class Visitor>
decltype(auto) with_type(const Array& array, Visitor&& visit) {
  switch (array.dtype) {
    case BDL_F32:
      return visit(static_cast<const float*>(array.data));
    case BDL_F64:
      return visit(static_cast<const double*>(array.data));
    case BDL_U8:
      return visit(static_cast<const std::uint8_t*>(array.data));
    default:
      return visit(static_cast<const std::int32_t*>(array.data));
  }
}

/// True if the array's rows are contiguous and have type T.
template <class T, class Any>
bool is_in_place(const Any& array) {
  const bool same_type = array.dtype == (sizeof(T) == sizeof(float) ? BDL_F32 : BDL_F64);
  const bool contiguous = array.col_stride == 1 && array.row_stride >= array.cols;
  return same_type && contiguous && array.row_stride <= INT32_MAX;  // BLAS counts in 32 bits
}

/// Calls visit(step), with a constant if elements are adjacent, so that its loop is vectorised.
template <class Visit>
void with_step(Index step, Visit&& visit) {
  if (step == 1)
    visit(std::integral_constant<Index, 1>{});
  else
    visit(step);
}

template <class T, class S>
void scatter_columns(ConstMatrixView<T> in, const OutArray& array, S* data) {
  for (Index j = 0; j < in.cols; ++j) {
    S* row = data + j * array.row_stride;
    const T* column = in.column_data(j);
    with_step(array.col_stride, [&](auto step) {
      for (Index i = 0; i < in.rows; ++i) row[i * step] = static_cast<S>(column[i]);
    });
  }
}

/// Converts elements in a loop for each column of out, with a stride in the array.
template <class T, class RowOf>
void gather_rows(const Array& array, MatrixView<T> out, const ColumnScales& scales, RowOf row_of) {
  const double *mean = scales.mean.data(), *scale = scales.scale.data();
  const Index scaled = std::min(out.rows, std::ssize(scales.mean));
  with_type(array, [&](const auto* data) {
    for (Index j = 0; j < out.cols; ++j) {
      const auto* row = data + row_of(j) * array.row_stride;
      T* column = out.column_data(j);
      with_step(array.col_stride, [&](auto step) {
        for (Index i = 0; i < scaled; ++i)
          column[i] = static_cast<T>((static_cast<double>(row[i * step]) - mean[i]) / scale[i]);
        for (Index i = scaled; i < out.rows; ++i) column[i] = static_cast<T>(row[i * step]);
      });
    }
  });
}

/// True if the array has integers and is finite whatever they are, also when scaled.
template <class T, class S>
bool is_always_finite(const ColumnScales& scales) {
  if constexpr (std::is_integral_v<S>)
    for (std::size_t c = 0; c < scales.mean.size(); ++c)
      for (const S end : {std::numeric_limits<S>::min(), std::numeric_limits<S>::max()})
        if (!std::isfinite(static_cast<T>(scales.apply(static_cast<Index>(c), static_cast<double>(end)))))
          return false;
  return std::is_integral_v<S>;
}

/// Checks scaled values: a finite value may become infinite when it is scaled, or in T.
template <class T>
void check_finite_scaled(const Array& array, const char* name, const ColumnScales& scales) {
  in_chunks(array.rows, array.cols, [&](Index i) {
    for (Index j = 0; j < array.cols; ++j)
      if (const double value = element(array, i, j); !std::isfinite(static_cast<T>(scales.apply(j, value))))
        fail(Status::ERROR_NOT_FINITE, "%s is not finite at row %lld, column %lld (counting from 0): %g%s",
             name, static_cast<long long>(i), static_cast<long long>(j), value,
             std::isfinite(value) ? " before it is standardised" : "");
  });
}

void check_count(Index got, Index expected, const char* name, const char* what) {
  if (expected >= 0 && got != expected)
    fail(Status::ERROR_SHAPE, "%s has %lld %s, expected %lld", name, static_cast<long long>(got), what,
         static_cast<long long>(expected));
}

}  // namespace

void check_shape(const Array& array, Index rows, Index cols, const char* name) {
  if (array.dtype < BDL_F32 || array.dtype > BDL_U8)
    fail(Status::ERROR_SHAPE, "%s has unknown dtype %d, expected BDL_F32, BDL_F64, BDL_I32 or BDL_U8", name,
         static_cast<int>(array.dtype));
  if (array.reserved != 0)
    fail(Status::ERROR_INVALID_ARGUMENT, "%s has %d in its reserved field, expected 0", name, array.reserved);
  if (array.rows < 0 || array.cols < 0)
    fail(Status::ERROR_SHAPE, "%s is %lld x %lld, sizes must not be negative", name,
         static_cast<long long>(array.rows), static_cast<long long>(array.cols));
  if (array.rows == 0 || array.cols == 0)
    fail(Status::ERROR_SHAPE, "%s is empty (%lld x %lld)", name, static_cast<long long>(array.rows),
         static_cast<long long>(array.cols));
  check_count(array.rows, rows, name, "rows");
  check_count(array.cols, cols, name, "columns");
  if (!array.data) fail(Status::ERROR_INVALID_ARGUMENT, "%s has NULL data", name);
  check_extent(array, name);
}

void check_output(const OutArray& array, Index rows, Index cols, const char* name) {
  const Array same{array.data, array.dtype,      array.reserved,  array.rows,
                   array.cols, array.row_stride, array.col_stride};  // whatever number its dtype is
  check_shape(same, rows, cols, name);
  if (array.dtype != BDL_F32 && array.dtype != BDL_F64)
    fail(Status::ERROR_SHAPE, "%s is an output of dtype %s, expected f32 or f64", name,
         array.dtype == BDL_U8 ? "u8" : "i32");
  if (overlaps_itself(same))
    fail(Status::ERROR_SHAPE, "%s is an output whose elements overlap (strides %lld, %lld)", name,
         static_cast<long long>(array.row_stride), static_cast<long long>(array.col_stride));
}

template <class T>
void check_finite(const Array& array, const char* name, const ColumnScales& scales) {
  with_type(array, [&](const auto* data) {
    if (is_always_finite<T, std::remove_const_t<std::remove_pointer_t<decltype(data)>>>(scales)) return;
    if (scales.given()) return check_finite_scaled<T>(array, name, scales);
    in_chunks(array.rows, array.cols, [&](Index i) {
      const auto* row = data + i * array.row_stride;
      bool finite = true;  // accumulated over the row, so that the loop has no branch
      with_step(array.col_stride, [&](auto step) {
        for (Index j = 0; j < array.cols; ++j)
          finite &= std::abs(static_cast<T>(row[j * step])) <= std::numeric_limits<T>::max();
      });
      for (Index j = 0; j < array.cols && !finite; ++j)
        if (const auto value = data[i * array.row_stride + j * array.col_stride];
            !std::isfinite(static_cast<T>(value)))
          fail(Status::ERROR_NOT_FINITE, "%s is not finite at row %lld, column %lld (counting from 0): %g%s",
               name, static_cast<long long>(i), static_cast<long long>(j), static_cast<double>(value),
               sizeof(T) == sizeof(float) ? " as a float" : "");
    });
  });
}

template <class T>
void check_positive(const Array& array, const char* name) {
  for (Index i = 0; i < array.rows; ++i)
    for (Index j = 0; j < array.cols; ++j)
      if (const double value = element(array, i, j);
          !(static_cast<T>(value) > 0 && std::isfinite(static_cast<T>(value))))
        fail(Status::ERROR_INVALID_ARGUMENT,
             "%s is %g at row %lld, column %lld (counting from 0), expected a positive finite %s", name,
             value, static_cast<long long>(i), static_cast<long long>(j),
             sizeof(T) == sizeof(float) ? "float" : "number");
}

double element(const Array& array, Index row, Index col) {
  return with_type(array, [&](const auto* data) {
    return static_cast<double>(data[row * array.row_stride + col * array.col_stride]);
  });
}

Array rows_of(const Array& array, Index first, Index count) {
  Array rows = array;
  rows.data =
      with_type(array, [&](const auto* data) -> const void* { return data + first * array.row_stride; });
  rows.rows = count;
  return rows;
}

template <class T>
ConstMatrixView<T> in_place(const Array& array) {
  if (!is_in_place<T>(array)) return {};
  return {static_cast<const T*>(array.data), array.cols, array.rows, array.row_stride};
}

template <class T>
MatrixView<T> in_place(const OutArray& array) {
  if (!is_in_place<T>(array)) return {};
  return {static_cast<T*>(array.data), array.cols, array.rows, array.row_stride};
}

template <class T>
void gather(const Array& array, ConstSpan<Index> rows, MatrixView<T> out, const ColumnScales& scales) {
  gather_rows(array, out, scales, [&](Index j) { return rows[static_cast<std::size_t>(j)]; });
}

template <class T>
void gather(const Array& array, Index first, MatrixView<T> out, const ColumnScales& scales) {
  gather_rows(array, out, scales, [&](Index j) { return first + j; });
}

template <class T>
void scatter(ConstMatrixView<T> in, const OutArray& array, Index first) {
  const Index start = first * array.row_stride;
  if (array.dtype == BDL_F32)
    scatter_columns(in, array, static_cast<float*>(array.data) + start);
  else
    scatter_columns(in, array, static_cast<double*>(array.data) + start);
}

template <class T>
bool all_fit(const T* values, Index count, const OutArray& array) {
  using Flag =
      std::conditional_t<sizeof(T) == sizeof(float), std::int32_t, std::int64_t>;  // vectors of T's width
  const T largest =
      array.dtype == BDL_F32 ? T{std::numeric_limits<float>::max()} : std::numeric_limits<T>::max();
  Flag outside = 0;
  with_simd([&](auto) BDL_INLINE_LAMBDA {
    for (Index i = 0; i < count; ++i) outside |= std::abs(values[i]) <= largest ? Flag{0} : Flag{1};
  });
  return outside == 0;
}

template <class T>
void check_result(ConstMatrixView<T> in, const OutArray& array, const char* name, NonFinite others) {
  check_loop();
  if (in.ld == in.rows && all_fit(in.data, in.size(), array)) return;
  for (Index j = 0; j < in.cols; ++j) {
    const T* const column = in.column_data(j);
    if (all_fit(column, in.rows, array)) continue;
    for (Index i = 0; i < in.rows; ++i) {
      const auto value = static_cast<double>(column[i]);
      const bool documented = others == NonFinite::documented && !std::isfinite(value);
      if (!documented && !all_fit(column + i, 1, array))
        fail(Status::ERROR_DIVERGED, "%s would be %g at row %lld, column %lld (counting from 0)%s", name,
             value, static_cast<long long>(j), static_cast<long long>(i),
             std::isfinite(value) ? ", which no float can hold" : "");
    }
  }
}

double checked_result(double value, const char* name) {
  if (!std::isfinite(value)) fail(Status::ERROR_DIVERGED, "%s would be %g", name, value);
  return value;
}

template <class T>
void write_result(ConstMatrixView<T> in, const OutArray& array, const char* name, NonFinite others) {
  check_result(in, array, name, others);
  scatter(in, array);
  check_loop();
}

template <class T>
Array as_array(ConstMatrixView<T> columns) {
  return bdl_strided(columns.data, std::is_same_v<T, float> ? BDL_F32 : BDL_F64, columns.cols, columns.rows,
                     columns.ld, 1);
}

template <class T>
OutArray as_output(MatrixView<T> columns) {
  return bdl_strided_out(columns.data, std::is_same_v<T, float> ? BDL_F32 : BDL_F64, columns.cols,
                         columns.rows, columns.ld, 1);
}

#define BDL_INSTANTIATE(T)                                                                  \
  template void check_finite<T>(const Array&, const char*, const ColumnScales&);            \
  template void check_positive<T>(const Array&, const char*);                               \
  template ConstMatrixView<T> in_place(const Array&);                                       \
  template MatrixView<T> in_place(const OutArray&);                                         \
  template void gather(const Array&, ConstSpan<Index>, MatrixView<T>, const ColumnScales&); \
  template void gather(const Array&, Index, MatrixView<T>, const ColumnScales&);            \
  template void scatter(ConstMatrixView<T>, const OutArray&, Index);                        \
  template bool all_fit(const T*, Index, const OutArray&);                                  \
  template void check_result(ConstMatrixView<T>, const OutArray&, const char*, NonFinite);  \
  template void write_result(ConstMatrixView<T>, const OutArray&, const char*, NonFinite);  \
  template Array as_array(ConstMatrixView<T>);                                              \
  template OutArray as_output(MatrixView<T>);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
