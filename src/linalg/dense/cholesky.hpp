// Cholesky factorisation of small symmetric matrices, always in double.
#pragma once

#include "base/view.hpp"

namespace bdl {

/// Overwrites the lower triangle of A with its Cholesky factor and zeroes the rest; false if A is not
/// positive definite (or not finite).
bool cholesky(MatrixView<double> a);

/// log det A = 2 sum log diag(L).
double log_det_from_cholesky(ConstMatrixView<double> lower);

/// X = (L L^T)^-1 X.
void cholesky_solve(ConstMatrixView<double> lower, MatrixView<double> x);

/// Writes (L L^T)^-1, both triangles.
void cholesky_inverse(ConstMatrixView<double> lower, MatrixView<double> inverse);

}  // namespace bdl
