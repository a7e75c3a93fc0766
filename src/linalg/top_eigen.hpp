// The largest eigenpairs of a dense symmetric matrix, in double, without allocation once reserved.
#pragma once

#include "base/view.hpp"

namespace bdl {

class TopEigen {
 public:
  void reserve(Index size, Index count);
  static Index bytes(Index size, Index count);
  /// Computes the `count` largest eigenpairs of A (lower triangle read, destroyed). Fails with
  /// ERROR_DIVERGED if A is not finite or LAPACK does not converge.
  void compute(MatrixView<double> a, Index count);
  /// Eigenvalues in descending order.
  ConstSpan<double> values() const { return values_.first(count_); }
  /// Unit eigenvectors, column k belongs to values()[k].
  ConstMatrixView<double> vectors() const { return vectors_.matrix(size_, count_); }

 private:
  Index size_ = 0, count_ = 0;
  Buffer<double> values_, vectors_, work_;
  Buffer<int> integers_;
};

}  // namespace bdl
