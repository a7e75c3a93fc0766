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

/// out = diag(scale(divisor)) in, in double, the scales computed once for all columns.
template <class T, class Scale>
void load(ConstMatrixView<T> in, ConstSpan<T> divisor, MatrixView<double> out, Scale scale) {
  double factors[TallScratch::block_rows];
  for (std::size_t i = 0; i < divisor.size(); ++i) factors[i] = scale(static_cast<double>(divisor[i]));
  for (Index j = 0; j < in.cols; ++j) {
    const T* from = in.column_data(j);
    double* to = out.column_data(j);
    if (divisor.empty())
      for (Index i = 0; i < in.rows; ++i) to[i] = static_cast<double>(from[i]);
    else
      for (Index i = 0; i < in.rows; ++i) to[i] = static_cast<double>(from[i]) * factors[i];
  }
}

double inverse(double d) {
  return 1 / d;
}
double inverse_root(double d) {
  return 1 / std::sqrt(d);
}

template <class T>
void store(ConstMatrixView<double> in, MatrixView<T> out) {
  for (Index j = 0; j < in.cols; ++j)
    for (Index i = 0; i < in.rows; ++i) out(i, j) = static_cast<T>(in(i, j));
}

void fill_zero(MatrixView<double> a) {
  for (Index j = 0; j < a.cols; ++j) std::ranges::fill(a.column(j), 0.0);
}

/// Calls visit(first row, number of rows) for each block of rows.
template <class Visit>
void for_blocks(Index rows, Visit&& visit) {
  for (Index first = 0; first < rows; first += TallScratch::block_rows)
    visit(first, std::min(TallScratch::block_rows, rows - first));
}

/// Hands each block of Y + alpha U C, in double, to finish(first row, sum, block of Y).
template <class T, class Finish>
void add_products(ConstMatrixView<T> u, double alpha, ConstMatrixView<double> c, MatrixView<T> y,
                  TallScratch& scratch, Finish&& finish) {
  scratch.reserve(u.cols, c.cols);
  for_blocks(u.rows, [&](Index first, Index count) {
    const auto u_block = scratch.block(count, u.cols), sum = scratch.other_block(count, c.cols);
    const auto target = y.block(first, 0, count, c.cols);
    load(u.block(first, 0, count, u.cols), {}, u_block, inverse);
    load<T>(target, {}, sum, inverse);
    gemm(Op::none, Op::none, alpha, u_block, c, 1.0, sum);
    finish(first, sum, target);
  });
}

}  // namespace

void TallScratch::reserve(Index columns, Index other_columns) {
  block_.reserve(block_rows * columns);
  other_block_.reserve(block_rows * other_columns);
}

Index TallScratch::bytes(Index columns, Index other_columns) {
  return static_cast<Index>(sizeof(double)) * block_rows * (columns + other_columns);
}

template <class T>
void tall_gram(ConstMatrixView<T> u, ConstSpan<T> divisor, MatrixView<double> gram, TallScratch& scratch) {
  fill_zero(gram);
  scratch.reserve(u.cols, 0);
  for_blocks(u.rows, [&](Index first, Index count) {
    const auto block = scratch.block(count, u.cols);
    load(u.block(first, 0, count, u.cols), part(divisor, first, count), block, inverse_root);
    syrk(Op::transpose, 1.0, block, 1.0, gram);
  });
  mirror_lower(gram);
}

template <class T>
void tall_project(ConstMatrixView<T> u, ConstMatrixView<T> x, ConstSpan<T> divisor,
                  MatrixView<double> product, TallScratch& scratch) {
  fill_zero(product);
  scratch.reserve(u.cols, x.cols);
  for_blocks(u.rows, [&](Index first, Index count) {
    const auto u_block = scratch.block(count, u.cols), x_block = scratch.other_block(count, x.cols);
    load(u.block(first, 0, count, u.cols), {}, u_block, inverse);
    load(x.block(first, 0, count, x.cols), part(divisor, first, count), x_block, inverse);
    gemm(Op::transpose, Op::none, 1.0, u_block, x_block, 1.0, product);
  });
}

template <class T>
void tall_expand(ConstMatrixView<T> u, ConstMatrixView<double> c, MatrixView<T> y, TallScratch& scratch) {
  if (u.cols == 0) return;
  add_products(u, 1.0, c, y, scratch,
               [](Index, ConstMatrixView<double> sum, MatrixView<T> target) { store<T>(sum, target); });
}

template <class T>
void tall_residual(ConstMatrixView<T> u, ConstMatrixView<double> c, ConstSpan<T> divisor, MatrixView<T> y,
                   TallScratch& scratch) {
  add_products(u, -1.0, c, y, scratch, [&](Index first, ConstMatrixView<double> sum, MatrixView<T> target) {
    const auto d = part(divisor, first, sum.rows);
    for (Index j = 0; j < sum.cols; ++j)
      for (Index i = 0; i < sum.rows; ++i)
        target(i, j) = static_cast<T>(sum(i, j) / static_cast<double>(d[static_cast<std::size_t>(i)]));
  });
}

template <class T>
void tall_marginals(ConstMatrixView<T> u, ConstSpan<T> d, ConstMatrixView<double> lower, std::span<T> out,
                    TallScratch& scratch) {
  scratch.reserve(u.cols, 0);
  for_blocks(u.rows, [&](Index first, Index count) {
    const auto block = scratch.block(count, u.cols);
    const auto divisor = part(d, first, count);
    load(u.block(first, 0, count, u.cols), divisor, block, inverse);
    solve_lower_right(Op::transpose, lower, block);
    for (Index i = 0; i < count; ++i) {
      double norm = 0;
      for (Index j = 0; j < u.cols; ++j) norm += block(i, j) * block(i, j);
      out[static_cast<std::size_t>(first + i)] =
          static_cast<T>(1 / static_cast<double>(divisor[static_cast<std::size_t>(i)]) - norm);
    }
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

#define BDL_INSTANTIATE(T)                                                                              \
  template void tall_gram(ConstMatrixView<T>, ConstSpan<T>, MatrixView<double>, TallScratch&);          \
  template void tall_project(ConstMatrixView<T>, ConstMatrixView<T>, ConstSpan<T>, MatrixView<double>,  \
                             TallScratch&);                                                             \
  template void tall_expand(ConstMatrixView<T>, ConstMatrixView<double>, MatrixView<T>, TallScratch&);  \
  template void tall_residual(ConstMatrixView<T>, ConstMatrixView<double>, ConstSpan<T>, MatrixView<T>, \
                              TallScratch&);                                                            \
  template void tall_marginals(ConstMatrixView<T>, ConstSpan<T>, ConstMatrixView<double>, std::span<T>, \
                               TallScratch&);                                                           \
  template void add_row_squares(ConstMatrixView<T>, double, std::span<T>);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
