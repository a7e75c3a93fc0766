// Kronecker factors of the curvature of each matrix of a posterior: Omega, the mean over examples of sum u
// u^T over positions, and Gamma, the mean of e e^T over examples and positions
// (docs/theory/kronecker.md).
#pragma once

#include <vector>

#include "curvature/blocked_rows.hpp"
#include "linalg/eigen/eigenpairs.hpp"
#include "posterior/kind.hpp"

namespace bdl {

class KroneckerFactors {
 public:
  /// Takes memory for the factors of these matrices; what it holds is lost where they are others.
  void reserve(const std::vector<MatrixShape>& shapes);
  Index size() const { return size_; }
  const std::vector<MatrixShape>& shapes() const { return shapes_; }
  /// All numbers: for each matrix Omega, then Gamma.
  std::span<double> values() { return values_.first(size_); }
  ConstSpan<double> values() const { return values_.first(size_); }
  /// Factors of matrix k, which is one.
  MatrixView<double> omega(std::size_t k);
  MatrixView<double> gamma(std::size_t k);
  void swap(KroneckerFactors& other) noexcept;

 private:
  std::vector<MatrixShape> shapes_;
  Index size_ = 0;
  Buffer<double> values_;
};

/// Adds input_weight times Omega, a mean by the examples' weights (if given), and output_weight times sum_r
/// w_r times the mean of e e^T over positions; only lower triangles.
template <class T>
void add_factors(const BlockedRows<T>& rows, double input_weight, double output_weight, ConstSpan<T> w,
                 KroneckerFactors& out, Scratch& scratch, ConstSpan<T> of_examples = {});
/// visit(block of rows, number of its matrix), for all matrices.
template <class T, class Visit>
void for_each_matrix(const BlockedRows<T>& rows, const std::vector<MatrixShape>& shapes, Visit&& visit) {
  auto block = rows.blocks().begin();
  for (std::size_t k = 0; k < shapes.size(); ++k)
    if (shapes[k].is_matrix()) visit(*(block++)->rows, k);
}

/// Fractions of a damping of Omega (x) Gamma that are added to each of the two.
struct SplitDamping {
  double omega, gamma;
};
/// Returns pi sqrt(damping) and sqrt(damping) / pi, pi^2 the ratio of the mean eigenvalues (Martens and
/// Grosse 2015, section 6.3); 1 where a factor is 0.
SplitDamping split_damping(ConstSpan<double> omega_values, ConstSpan<double> gamma_values, double damping);

/// Eigenvalues, none below 0, and eigenvectors of a symmetric matrix, of which the lower triangle counts.
class FactorEigen {
 public:
  /// Fails with ERROR_DIVERGED if it is not finite. What is returned lives until the next call.
  void compute(ConstMatrixView<double> a, Scratch& scratch);
  ConstSpan<double> values() const { return values_.first(size_); }
  ConstMatrixView<double> vectors() const { return vectors_.matrix(size_, size_); }

 private:
  Index size_ = 0;
  Buffer<double> values_, vectors_;
};

}  // namespace bdl
