// Square roots of small positive semi-definite matrices, singular ones included.
#pragma once

#include "linalg/eigen/direct_eigen.hpp"

namespace bdl {

/// R = R^T with R R = A. Other than a Cholesky factor with pivots it is a continuous function of A: rounding
/// errors cannot choose between different roots where pivots are equal or zero.
class SymmetricRoot {
 public:
  void reserve(Index size);
  /// Eigenvalues below `negligible` times the largest count as 0. False if A is not finite.
  bool compute(ConstMatrixView<double> a, double negligible, MatrixView<double> root);

 private:
  DirectEigen eigen_;
  Buffer<double> values_, vectors_, scaled_;
};

}  // namespace bdl
