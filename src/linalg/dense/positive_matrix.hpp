// A dense symmetric positive definite matrix with its Cholesky factor: the state of the full-covariance
// families, and what they compute with it.
#pragma once

#include "base/scratch.hpp"

namespace bdl {

/// A = C C^T in double; both triangles of A are held, and zeros above C.
class PositiveMatrix {
 public:
  /// The identity.
  explicit PositiveMatrix(Index size);
  Index size() const { return size_; }
  ConstMatrixView<double> matrix() const { return matrix_.matrix(size_, size_); }
  ConstMatrixView<double> lower() const { return lower_.matrix(size_, size_); }
  double log_det() const { return log_det_; }

  /// Writable views: changes are valid after factorize() or accept_factor().
  MatrixView<double> matrix() { return matrix_.matrix(size_, size_); }
  MatrixView<double> lower() { return lower_.matrix(size_, size_); }
  /// Finds C from the lower triangle of A. False unless A is positive definite and finite.
  [[nodiscard]] bool factorize();
  /// Finds C where both triangles of A are filled; only reads A.
  [[nodiscard]] bool find_factor();
  /// Completes A from its lower triangle, for a C that belongs to it.
  [[nodiscard]] bool accept_factor();

  /// A = C C^T again where A's diagonal is not the lengths of C's rows any more: in a covariance that grows
  /// between subtractions, as forgetting makes it, errors of A that C does not share grow without end.
  void follow_factor();

  /// Completes A and C from lower triangles that somebody has kept. False unless C belongs to A, as far as
  /// its rows' lengths tell.
  [[nodiscard]] bool accept_kept_factor();

  void copy(const PositiveMatrix& other);
  void swap(PositiveMatrix& other) noexcept;
  /// A = factor I; false unless the factor is positive and finite.
  [[nodiscard]] bool set_isotropic(double factor);
  /// A = factor B.
  [[nodiscard]] bool set_multiple(const PositiveMatrix& other, double factor);

  /// y = A x.
  void multiply(const double* x, double* y) const;
  /// x = A^-1 x.
  void solve(double* x) const;
  /// x^T A x and x^T A^-1 x; the latter overwrites x by C^-1 x.
  double quadratic(const double* x) const;
  double inverse_quadratic(double* x) const;
  /// out = diag(A^-1).
  template <class T>
  void inverse_diagonal(std::span<T> out, Scratch& scratch) const;

 private:
  bool has_lengths_of_factor() const;

  Index size_;
  Buffer<double> matrix_, lower_;
  double log_det_ = 0;
};

/// Returns the smallest eigenvalue of C^-1 B C^-T for a symmetric B, which is destroyed; NaN if B is not
/// finite.
double smallest_relative_eigenvalue(ConstMatrixView<double> lower, MatrixView<double> b, Scratch& scratch);
/// Returns the largest eigenvalue of a symmetric matrix (lower triangle read); NaN if it is not finite.
double largest_eigenvalue(ConstMatrixView<double> a, Scratch& scratch);

}  // namespace bdl
