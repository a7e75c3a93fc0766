#include "linalg/dense/cholesky.hpp"

#include <algorithm>
#include <cmath>

#include "base/interrupt.hpp"
#include "linalg/blas.hpp"
#include "linalg/lapack.hpp"

namespace bdl {

namespace {

constexpr Index columns_between_questions = 64;

/// True if nothing is beside the diagonal: posteriors begin so, and need no work.
bool is_zero(ConstMatrixView<double> a) {
  for (Index j = 0; j < a.cols; ++j)
    for (const double value : a.column(j))
      if (value != 0) return false;
  return true;
}

/// Halves: A11 = C11 C11^T, C21 = A21 C11^-T, and the rest is A22 - C21 C21^T.
bool factorize(MatrixView<double> a) {
  constexpr Index small = 16;
  static_assert(small <= most_rows_of_potrf);
  if (a.rows <= small) return factorize_positive(a);
  check_loop();
  const Index n = (a.rows / 2 + small - 1) / small * small, rest = a.rows - n;
  const auto first = a.block(0, 0, n, n), beside = a.block(n, 0, rest, n), last = a.block(n, n, rest, rest);
  if (!factorize(first)) return false;
  if (!is_zero(beside)) {
    solve_lower_right(Op::transpose, first, beside);
    syrk(Op::none, -1.0, beside, 1.0, last);
  }
  return factorize(last);
}

}  // namespace

bool cholesky(MatrixView<double> a) {
  if (!factorize(a)) return false;
  for (Index j = 0; j < a.cols; ++j) {
    if (j % columns_between_questions == 0) check_loop();
    std::fill_n(a.column_data(j), j, 0.0);
    if (!std::isfinite(a(j, j))) return false;
  }
  return true;
}

double log_det_from_cholesky(ConstMatrixView<double> lower) {
  double sum = 0;
  for (Index i = 0; i < lower.rows; ++i) sum += std::log(lower(i, i));
  return 2 * sum;
}

void cholesky_solve(ConstMatrixView<double> lower, MatrixView<double> x) {
  solve_lower_left(Op::none, lower, x);
  solve_lower_left(Op::transpose, lower, x);
}

void cholesky_inverse(ConstMatrixView<double> lower, MatrixView<double> inverse) {
  for (Index j = 0; j < inverse.cols; ++j) {
    if (j % columns_between_questions == 0) check_loop();
    std::fill_n(inverse.column_data(j), inverse.rows, 0.0);
    inverse(j, j) = 1;
  }
  cholesky_solve(lower, inverse);
}

}  // namespace bdl
