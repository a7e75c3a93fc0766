#include "curvature/dense_rows.hpp"

#include <algorithm>

#include "linalg/blas.hpp"

namespace bdl {

template <class T>
Index DenseRows<T>::bytes(Index dimension, Index count) {
  return static_cast<Index>(sizeof(T)) * dimension * count;
}

template <class T>
void DenseRows<T>::reserve(Index dimension, Index count) {
  check_row_count(static_cast<double>(count));
  rows_.reserve(dimension * count);
}

template <class T>
MatrixView<T> DenseRows<T>::resize(Index dimension, Index count) {
  reserve(dimension, count);
  dimension_ = dimension;
  count_ = count;
  return rows_.matrix(dimension, count);
}

template <class T>
void DenseRows<T>::sum(ConstSpan<T> c, std::span<T> out) {
  combine({c.data(), count_, 1}, {out.data(), dimension_, 1});
}

template <class T>
void DenseRows<T>::sum_squares(ConstSpan<T> w, std::span<T> out) {
  std::ranges::fill(out, T(0));
  for (Index r = 0; r < count_; ++r) {
    const T* row = rows_.data() + r * dimension_;
    const T weight = w[static_cast<std::size_t>(r)];
    for (Index i = 0; i < dimension_; ++i) out[static_cast<std::size_t>(i)] += weight * row[i] * row[i];
  }
}

template <class T>
void DenseRows<T>::gram(MatrixView<double> out) {
  product_.reserve(count_ * count_);
  auto product = product_.matrix(count_, count_);
  syrk(Op::transpose, T(1), matrix(), T(0), product);
  for (Index j = 0; j < count_; ++j)
    for (Index i = j; i < count_; ++i) out(i, j) = static_cast<double>(product(i, j));
}

template <class T>
void DenseRows<T>::project(ConstMatrixView<T> u, MatrixView<T> out) {
  gemm(Op::transpose, Op::none, T(1), u, matrix(), T(0), out);
}

template <class T>
void DenseRows<T>::combine(ConstMatrixView<T> w, MatrixView<T> out) {
  gemm(Op::none, Op::none, T(1), matrix(), w, T(0), out);
}

template <class T>
void DenseRows<T>::add_outer(ConstSpan<T> w, MatrixView<double> out) {
  add_weighted_outer(matrix(), w, out);
}

template <class T>
RowsCost DenseRows<T>::cost(Index dimension, Index count) {
  const auto n = static_cast<double>(count), d = static_cast<double>(dimension);
  return {count, n * n * d, 2 * n * d, count * count * static_cast<Index>(sizeof(T))};
}

template <class T>
void add_weighted_outer(ConstMatrixView<T> columns, ConstSpan<T> w, MatrixView<double> out) {
  for (Index r = 0; r < columns.cols; ++r) {
    const T* row = columns.column_data(r);
    for (Index j = 0; j < columns.rows; ++j) {
      const double scaled = static_cast<double>(w[static_cast<std::size_t>(r)]) * static_cast<double>(row[j]);
      double* to = out.column_data(j);
      for (Index i = j; i < columns.rows; ++i) to[i] += scaled * static_cast<double>(row[i]);
    }
  }
}

#define BDL_INSTANTIATE(T)     \
  template class DenseRows<T>; \
  template void add_weighted_outer(ConstMatrixView<T>, ConstSpan<T>, MatrixView<double>);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
