#include "linalg/tall.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/blas.hpp"

namespace bdl {
namespace {

template <class T>
ConstSpan<T> part(ConstSpan<T> values, Index first, Index count) {
  return values.empty() ? values
                        : values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

/// out = diag(scale(divisor)) in, the scales computed once for all columns.
template <class T, class Scale>
void scaled_copy(ConstMatrixView<T> in, ConstSpan<T> divisor, MatrixView<T> out, Scale scale) {
  T factors[TallScratch<T>::block_rows];
  for (std::size_t i = 0; i < divisor.size(); ++i) factors[i] = scale(divisor[i]);
  for (Index j = 0; j < in.cols; ++j) {
    const T* from = in.column_data(j);
    T* to = out.column_data(j);
    if (divisor.empty())
      std::copy_n(from, in.rows, to);
    else
      for (Index i = 0; i < in.rows; ++i) to[i] = from[i] * factors[i];
  }
}

template <class T>
void add_to(MatrixView<double> sum, ConstMatrixView<T> term) {
  for (Index j = 0; j < sum.cols; ++j)
    for (Index i = 0; i < sum.rows; ++i) sum(i, j) += static_cast<double>(term(i, j));
}

void fill_zero(MatrixView<double> a) {
  for (Index j = 0; j < a.cols; ++j) std::ranges::fill(a.column(j), 0.0);
}

template <class T>
void copy_small(ConstMatrixView<double> from, MatrixView<T> to) {
  for (Index j = 0; j < from.cols; ++j)
    for (Index i = 0; i < from.rows; ++i) to(i, j) = static_cast<T>(from(i, j));
}

/// Calls visit(first row, number of rows) for each block of rows.
template <class T, class Visit>
void for_blocks(Index rows, Visit&& visit) {
  for (Index first = 0; first < rows; first += TallScratch<T>::block_rows)
    visit(first, std::min(TallScratch<T>::block_rows, rows - first));
}

}  // namespace

template <class T>
void TallScratch<T>::reserve(Index columns, Index other_columns) {
  block_.reserve(block_rows * std::max(columns, other_columns));
  small_.reserve(columns * std::max(columns, other_columns));
}

template <class T>
Index TallScratch<T>::bytes(Index columns, Index other_columns) {
  return static_cast<Index>(sizeof(T)) * (block_rows + columns) * std::max(columns, other_columns);
}

template <class T>
void tall_gram(ConstMatrixView<T> u, ConstSpan<T> divisor, MatrixView<double> gram, TallScratch<T>& scratch) {
  fill_zero(gram);
  scratch.reserve(u.cols, u.cols);
  auto product = scratch.small(u.cols, u.cols);
  for_blocks<T>(u.rows, [&](Index first, Index count) {
    auto scaled = scratch.block(count, u.cols);
    scaled_copy(u.block(first, 0, count, u.cols), part(divisor, first, count), scaled,
                [](T d) { return T(1) / std::sqrt(d); });
    syrk(Op::transpose, T(1), scaled, T(0), product);
    mirror_lower(product);
    add_to<T>(gram, product);
  });
}

template <class T>
void tall_project(ConstMatrixView<T> u, ConstMatrixView<T> x, MatrixView<double> product,
                  TallScratch<T>& scratch) {
  fill_zero(product);
  scratch.reserve(u.cols, x.cols);
  auto term = scratch.small(u.cols, x.cols);
  for_blocks<T>(u.rows, [&](Index first, Index count) {
    gemm(Op::transpose, Op::none, T(1), u.block(first, 0, count, u.cols), x.block(first, 0, count, x.cols),
         T(0), term);
    add_to<T>(product, term);
  });
}

template <class T>
void tall_expand(ConstMatrixView<T> u, ConstMatrixView<double> c, ConstSpan<T> divisor, MatrixView<T> y,
                 TallScratch<T>& scratch) {
  if (u.cols == 0) return;
  scratch.reserve(u.cols, c.cols);
  auto small = scratch.small(u.cols, c.cols);
  copy_small(c, small);
  for_blocks<T>(u.rows, [&](Index first, Index count) {
    auto product = scratch.block(count, c.cols);
    gemm(Op::none, Op::none, T(1), u.block(first, 0, count, u.cols), small, T(0), product);
    const auto d = part(divisor, first, count);
    for (Index j = 0; j < c.cols; ++j) {
      T* to = y.column_data(j) + first;
      const T* add = product.column_data(j);
      if (d.empty())
        for (Index i = 0; i < count; ++i) to[i] += add[i];
      else
        for (Index i = 0; i < count; ++i) to[i] += add[i] / d[static_cast<std::size_t>(i)];
    }
  });
}

template <class T>
void tall_solved_row_norms(ConstMatrixView<T> u, ConstSpan<T> divisor, ConstMatrixView<double> lower,
                           std::span<T> row_norms, TallScratch<T>& scratch) {
  std::ranges::fill(row_norms, T(0));
  scratch.reserve(u.cols, u.cols);
  auto small = scratch.small(u.cols, u.cols);
  copy_small(lower, small);
  for_blocks<T>(u.rows, [&](Index first, Index count) {
    auto scaled = scratch.block(count, u.cols);
    scaled_copy(u.block(first, 0, count, u.cols), part(divisor, first, count), scaled,
                [](T d) { return T(1) / d; });
    solve_lower_right(Op::transpose, small, scaled);
    add_row_squares<T>(scaled, 1.0,
                       row_norms.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
  });
}

template <class T>
void add_row_squares(ConstMatrixView<T> u, double factor, std::span<T> sums) {
  const T scale = static_cast<T>(factor);
  for (Index j = 0; j < u.cols; ++j) {
    const T* column = u.column_data(j);
    for (Index i = 0; i < u.rows; ++i) sums[static_cast<std::size_t>(i)] += scale * column[i] * column[i];
  }
}

#define BDL_INSTANTIATE(T)                                                                                 \
  template class TallScratch<T>;                                                                           \
  template void tall_gram(ConstMatrixView<T>, ConstSpan<T>, MatrixView<double>, TallScratch<T>&);          \
  template void tall_project(ConstMatrixView<T>, ConstMatrixView<T>, MatrixView<double>, TallScratch<T>&); \
  template void tall_expand(ConstMatrixView<T>, ConstMatrixView<double>, ConstSpan<T>, MatrixView<T>,      \
                            TallScratch<T>&);                                                              \
  template void tall_solved_row_norms(ConstMatrixView<T>, ConstSpan<T>, ConstMatrixView<double>,           \
                                      std::span<T>, TallScratch<T>&);                                      \
  template void add_row_squares(ConstMatrixView<T>, double, std::span<T>);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
