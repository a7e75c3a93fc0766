// The Cholesky factor of a matrix to which a few rank-one terms are added or subtracted.
#pragma once

#include "base/view.hpp"

namespace bdl {

/// L L^T <- L L^T + z_1 z_1^T + ... for the first `added` columns of Z, then - z z^T for the others, in
/// O(D^2) each. Z is destroyed. False if a subtraction loses positive definiteness or a value is not finite:
/// L is then of no use.
bool update_cholesky(MatrixView<double> lower, MatrixView<double> z, Index added);

}  // namespace bdl
