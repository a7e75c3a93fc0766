// The largest eigenpairs of a large dense symmetric positive semi-definite matrix: block Lanczos with full
// orthogonalisation and Rayleigh-Ritz on the whole basis (Golub and Underwood 1977).
#pragma once

#include "linalg/eigen/direct_eigen.hpp"

namespace bdl {

class BlockKrylov {
 public:
  /// Whether the method may pay: few pairs of a large matrix.
  static bool suits(Index size, Index count);
  /// Columns of the basis at most.
  static Index most_columns(Index size, Index count);
  void reserve(Index size, Index count);
  /// Writes the vectors.cols largest eigenvalues of A (both triangles) in descending order and
  /// orthonormal vectors v with |A v - theta v| <= tolerance theta_1. False if that takes too many products,
  /// or A is not finite. `direct` solves the small problems. Starts from the first coordinates where A's
  /// diagonal says they are better than random vectors, which it adds.
  bool compute(ConstMatrixView<double> a, double tolerance, DirectEigen& direct, double* values,
               MatrixView<double> vectors);

 private:
  void start(ConstMatrixView<double> a, Index count);
  void multiply(ConstMatrixView<double> a, Index count);
  void project();
  Index orthonormalize(double least);
  Index orthonormalize_columns(double least);
  bool factorize(double least);
  void extend(Index count);
  bool ritz_pairs(double tolerance, DirectEigen& direct, double* values, MatrixView<double> vectors);

  Buffer<double> basis_memory_, image_memory_, ritz_memory_, ritz_vectors_, coefficients_, gram_, scales_;
  // The basis Q = [..., X]; W = A X, then its part outside Q; H = Q^T A Q.
  MatrixView<double> basis_, image_, ritz_;
  Index columns_ = 0, last_ = 0;  // of Q and X
};

}  // namespace bdl
