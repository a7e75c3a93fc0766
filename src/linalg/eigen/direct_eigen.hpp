// The largest eigenpairs of a dense symmetric matrix by reduction to tridiagonal form.
#pragma once

#include "base/simd.hpp"
#include "base/view.hpp"
#include "linalg/lapack.hpp"

namespace bdl {

class DirectEigen {
 public:
  void reserve(Index size, Index count);
  /// Writes the vectors.cols largest eigenvalues of A (lower triangle read) in descending order and their
  /// orthonormal vectors. False if A is not finite.
  bool compute(ConstMatrixView<double> a, double* values, MatrixView<double> vectors,
               Simd simd = widest_simd());

 private:
  Buffer<double> matrix_, work_, groups_, products_;
  TridiagonalScratch close_;  // for close eigenvalues
};

}  // namespace bdl
