// Cholesky factors of symmetric matrices, always in double: factorisation, solutions, and updates by rank-one
// terms.
#pragma once

#include "base/view.hpp"

namespace bdl {

/// Overwrites the lower triangle of A with its Cholesky factor and zeroes the rest; false if A is not
/// positive definite (or not finite).
bool cholesky(MatrixView<double> a);

/// Returns log det A = 2 sum log diag(L).
double log_det_from_cholesky(ConstMatrixView<double> lower);

/// X = (L L^T)^-1 X.
void cholesky_solve(ConstMatrixView<double> lower, MatrixView<double> x);

/// Writes L^-1.
void lower_inverse(ConstMatrixView<double> lower, MatrixView<double> inverse);

/// Writes (L L^T)^-1, both triangles.
void cholesky_inverse(ConstMatrixView<double> lower, MatrixView<double> inverse);

/// L L^T <- L L^T + z_1 z_1^T + ... for the first `added` columns of Z, then - z z^T for the others, in
/// O(D^2) each. Z is destroyed. False if a subtraction loses positive definiteness or a value is not finite:
/// L is then of no use.
bool update_cholesky(MatrixView<double> lower, MatrixView<double> z, Index added);

}  // namespace bdl
