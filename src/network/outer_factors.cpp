// Kronecker factors of a dense layer.
#include <algorithm>
#include <cmath>

#include "network/factor_products.hpp"
#include "network/outer_rows.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

Index factors_together(Index rows) {
  return std::max<Index>(1, most_factor_numbers / rows);
}

}  // namespace

/// Of the weights a product; of the bias sums.
template <class T>
void OuterRows<T>::add_input_factor(double weight, MatrixView<double> out, Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const ConstMatrixView<T> a = rows_.a;
  const double each = weight / static_cast<double>(a.cols);
  const MatrixView<T> products = scratch.matrix<T>(a.rows, a.rows);
  syrk(Op::none, T(1), a, T(0), products);
  add_lower(each, ConstMatrixView<T>(products), out.block(0, 0, a.rows, a.rows));
  if (!layer_.has_bias()) return;
  T* const sums = scratch.take<T>(a.rows).data();
  row_sums(a, sums);
  for (Index i = 0; i < a.rows; ++i) out(a.rows, i) += each * static_cast<double>(sums[i]);
  out(a.rows, a.rows) += weight;
}

/// Columns times the roots of their weights, some at a time.
template <class T>
void OuterRows<T>::add_output_factor(double weight, ConstSpan<T> w, MatrixView<double> out,
                                     Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const ConstMatrixView<T> e = rows_.e;
  const MatrixView<T> products = scratch.matrix<T>(e.rows, e.rows);
  const Index together = factors_together(e.rows);
  const MatrixView<T> block = scratch.matrix<T>(e.rows, std::min(together, e.cols));
  for (Index first = 0; first < e.cols; first += together) {
    const Index count = std::min(together, e.cols - first);
    const MatrixView<T> some = block.columns(0, count);
    parallel_blocks(count, task_grain(e.rows), [&](Index begin, Index size) noexcept {
      for (Index j = begin; j < begin + size; ++j) {
        const T root = std::sqrt(w[static_cast<std::size_t>(first + j)]);
        for (Index i = 0; i < e.rows; ++i) some(i, j) = root * e(i, first + j);
      }
    });
    syrk(Op::none, T(1), ConstMatrixView<T>(some), T(first == 0 ? 0 : 1), products);
  }
  add_lower(weight, ConstMatrixView<T>(products), out);
}

/// (Uo^T u e^T Ug)^2 is the outer product of squares.
template <class T>
void OuterRows<T>::add_rotated_squares(ConstSpan<T> w, ConstMatrixView<T> uo, ConstMatrixView<T> ug,
                                       MatrixView<double> out, Scratch& scratch) const {
  const Index q = uo.rows, o = ug.rows, together = factors_together(q + o);
  const Scratch::Frame frame(scratch);
  const MatrixView<T> products = scratch.matrix<T>(q, o);
  T* const columns = scratch.take<T>((2 * q + o) * std::min(together, rows_.a.cols)).data();
  for (Index first = 0, count = 0; first < rows_.e.cols; first += count) {
    const Index input = first % rows_.a.cols;
    count = std::min(together, rows_.a.cols - input);
    const MatrixView<T> u(columns, q, count), us(u.data + u.size(), q, count),
        es(us.data + us.size(), o, count);
    for (Index j = 0; j < count; ++j) {
      std::copy_n(rows_.a.column_data(input + j), layer_.inputs, u.column_data(j));
      if (layer_.has_bias()) u(q - 1, j) = 1;
    }
    gemm(Op::transpose, Op::none, T(1), uo, ConstMatrixView<T>(u), T(0), us);
    gemm(Op::transpose, Op::none, T(1), ug, rows_.e.columns(first, count), T(0), es);
    for (Index j = 0; j < count; ++j) {
      for (T& value : us.column(j)) value *= value;
      for (T& value : es.column(j)) value *= value * w[static_cast<std::size_t>(first + j)];
    }
    gemm(Op::none, Op::transpose, T(1), ConstMatrixView<T>(us), ConstMatrixView<T>(es), T(first == 0 ? 0 : 1),
         products);
  }
  add_all(ConstMatrixView<T>(products), out);
}

#define BDL_INSTANTIATE(T)                                                                                 \
  template void OuterRows<T>::add_input_factor(double, MatrixView<double>, Scratch&) const;                \
  template void OuterRows<T>::add_output_factor(double, ConstSpan<T>, MatrixView<double>, Scratch&) const; \
  template void OuterRows<T>::add_rotated_squares(ConstSpan<T>, ConstMatrixView<T>, ConstMatrixView<T>,    \
                                                  MatrixView<double>, Scratch&) const;
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
