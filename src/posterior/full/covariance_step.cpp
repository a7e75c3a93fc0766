#include "posterior/full/covariance_step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/simd.hpp"
#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

bool has_positive_diagonal(ConstMatrixView<double> a) {
  for (Index i = 0; i < a.rows; ++i)
    if (!(a(i, i) > 0 && std::isfinite(a(i, i)))) return false;
  return true;
}

/// could_be: sum of |x_i| s_i; is: largest |w_i| / s_i, with s_i^2 = Sigma_ii. They bound the rounding of a
/// row of W.
struct RowSizes {
  double could_be = 0, is = 0;
};
RowSizes sizes_of_row(const double* x, const double* w, const double* scale, Index size) {
  RowSizes sizes;
  for (Index i = 0; i < size; ++i) {
    sizes.could_be += std::abs(x[i]) * scale[i];
    sizes.is = std::max(sizes.is, std::abs(w[i]) / scale[i]);
  }
  return sizes;
}

/// Bound r with |rounding of (Sigma - W W^T)| <= r diag(Sigma) as matrices: an element of Sigma X is off by
/// the rounding of a sum of D terms, those of X that cancel as well, and errors of elements add up like
/// random numbers.
double rounding_of(ConstMatrixView<double> sigma, const CovarianceRows& rows, double* scale) {
  const Index size = sigma.rows;
  for (Index i = 0; i < size; ++i) scale[i] = std::sqrt(sigma(i, i));
  double sum = 1;
  for (Index k = 0; k < rows.x.cols; ++k) {
    const RowSizes sizes = sizes_of_row(rows.x.column_data(k), rows.w.column_data(k), scale, size);
    sum += sizes.could_be * sizes.is / (rows.root.cols > 0 ? rows.root(k, k) : 1);
  }
  return 4 * std::numeric_limits<double>::epsilon() * std::sqrt(static_cast<double>(size)) * sum;
}

/// Column j of sigma - W W^T. Products commute, so that rows are columns to the bit.
void subtract_column(ConstMatrixView<double> sigma, ConstMatrixView<double> w, Index j, double* to) {
  const double *const from = sigma.column_data(j), *const first = w.data;
  const double factor_of_first = first[j];
  with_simd([&](auto) BDL_INLINE_LAMBDA {
    for (Index i = 0; i < sigma.rows; ++i) to[i] = from[i] - first[i] * factor_of_first;
    for (Index k = 1; k < w.cols; ++k) {
      const double* const column = w.column_data(k);
      const double factor = column[j];
      for (Index i = 0; i < sigma.rows; ++i) to[i] -= column[i] * factor;
    }
  });
}

}  // namespace

template <class T>
CovarianceProducts covariance_products(ConstMatrixView<double> sigma, const PosteriorStep<T>& step,
                                       Scratch& scratch) {
  const Index size = sigma.rows, count = step.curvature.rows->count();
  const auto columns = dense_columns(step.curvature, step.curvature_rate, 1, scratch);
  const auto products = scratch.matrix<double>(size, count + 1);
  const auto m = columns.columns(count, 1);
  std::fill_n(m.data, size, 0.0);
  std::ranges::copy(step.m, m.data);
  gemm(Op::none, Op::none, 1.0, sigma, columns, 0.0, products);
  return {{columns.columns(0, count), products.columns(0, count), {}}, m, products.columns(count, 1)};
}

bool find_gain(CovarianceRows& rows, Scratch& scratch) {
  const Index count = rows.x.cols;
  const auto root = scratch.matrix<double>(count, count);
  gemm(Op::transpose, Op::none, 1.0, rows.x, rows.w, 0.0, root);
  for (Index k = 0; k < count; ++k) root(k, k) += 1;
  if (!cholesky(root)) return false;
  solve_lower_right(Op::transpose, root, rows.w);
  rows.root = root;
  return true;
}

bool subtract_rows(ConstMatrixView<double> sigma, const CovarianceRows& rows, MatrixView<double> next,
                   Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const double rounding = rounding_of(sigma, rows, scratch.take<double>(sigma.rows).data());
  parallel_blocks(sigma.cols, task_grain(sigma.rows), [&](Index first, Index count) noexcept {
    for (Index j = first; j < first + count; ++j) {
      subtract_column(sigma, rows.w, j, next.column_data(j));
      next(j, j) += rounding * sigma(j, j);
    }
  });
  return has_positive_diagonal(next);
}

template <class T>
bool inflate_covariance(ConstMatrixView<double> sigma, double inflation, ConstSpan<T> noise,
                        MatrixView<double> next) {
  parallel_blocks(sigma.cols, task_grain(sigma.rows), [&](Index first, Index count) noexcept {
    for (Index j = first; j < first + count; ++j) {
      const double* const from = sigma.column_data(j);
      double* const to = next.column_data(j);
      for (Index i = 0; i < sigma.rows; ++i) to[i] = inflation * from[i];
      if (!noise.empty()) to[j] += static_cast<double>(noise[static_cast<std::size_t>(j)]);
    }
  });
  return has_positive_diagonal(next);
}

template CovarianceProducts covariance_products(ConstMatrixView<double>, const PosteriorStep<float>&,
                                                Scratch&);
template CovarianceProducts covariance_products(ConstMatrixView<double>, const PosteriorStep<double>&,
                                                Scratch&);
template bool inflate_covariance(ConstMatrixView<double>, double, ConstSpan<float>, MatrixView<double>);
template bool inflate_covariance(ConstMatrixView<double>, double, ConstSpan<double>, MatrixView<double>);

}  // namespace bdl
