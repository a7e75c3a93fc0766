#include "linalg/dense/cholesky.hpp"

#include <lapacke.h>

#include <algorithm>
#include <cmath>

#include "linalg/blas/blas.hpp"

namespace bdl {

bool cholesky(MatrixView<double> a) {
  const auto n = static_cast<lapack_int>(a.rows);
  if (n == 0) return true;
  if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, a.data, static_cast<lapack_int>(a.ld)) != 0) return false;
  for (Index j = 0; j < a.cols; ++j) {
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
    std::fill_n(inverse.column_data(j), inverse.rows, 0.0);
    inverse(j, j) = 1;
  }
  cholesky_solve(lower, inverse);
}

}  // namespace bdl
