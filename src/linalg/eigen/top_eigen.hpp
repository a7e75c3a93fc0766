// The largest eigenpairs of a dense symmetric positive semi-definite matrix, in double, without allocation
// once reserved and with nothing carried from one call to the next.
#pragma once

#include "linalg/eigen/block_krylov.hpp"

namespace bdl {

class TopEigen {
 public:
  void reserve(Index size, Index count);
  /// Computes the `count` largest eigenpairs of A (lower triangle read, upper one overwritten by it).
  /// Orthonormal vectors v have residuals |A v - theta v| <= tolerance theta_1 or at rounding level;
  /// eigenvalues are accurate to the square of that over the gap. Few pairs of a large matrix come sooner the
  /// larger the tolerance, and if the first coordinates are near them. Fails with ERROR_DIVERGED if A is not
  /// finite.
  void compute(MatrixView<double> a, Index count, double tolerance = 1e-12);
  /// Eigenvalues in descending order.
  ConstSpan<double> values() const { return values_.first(count_); }
  /// Unit eigenvectors, column k belongs to values()[k].
  ConstMatrixView<double> vectors() const;

 private:
  Index size_ = 0, count_ = 0;
  DirectEigen direct_;
  BlockKrylov krylov_;
  Buffer<double> values_, vectors_;
};

}  // namespace bdl
