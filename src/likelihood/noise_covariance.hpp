// Gaussian noise that is correlated between outputs: a full covariance R = L L^T
// (docs/theory/likelihoods.md, "Gaussian").
#pragma once

#include <vector>

#include "base/view.hpp"

namespace bdl {

class NoiseCovariance {
 public:
  /// Makes no covariance.
  NoiseCovariance() = default;
  /// Reads R from its lower triangle; fails with ERROR_INVALID_ARGUMENT unless it is positive definite.
  explicit NoiseCovariance(ConstMatrixView<double> covariance);

  bool given() const { return size_ > 0; }
  Index size() const { return size_; }
  ConstMatrixView<double> covariance() const { return {covariance_.data(), size_, size_}; }
  /// Returns the lower triangular L.
  ConstMatrixView<double> root() const { return {root_.data(), size_, size_}; }
  /// Returns the lower triangular L^-1, which whitens residuals.
  ConstMatrixView<double> whitener() const { return {whitener_.data(), size_, size_}; }
  /// Returns R^-1 = L^-T L^-1.
  ConstMatrixView<double> precision() const { return {precision_.data(), size_, size_}; }

  /// Returns element k of L^-1 (f - y).
  template <class T>
  double whitened_residual(const T* f, const T* y, Index k) const;
  /// Returns log N(y; f, R).
  template <class T>
  double log_density(const T* f, const T* y) const;

 private:
  Index size_ = 0;
  double log_normaliser_ = 0;  // -(C log 2 pi + log det R) / 2
  std::vector<double> covariance_, root_, whitener_, precision_;
};

}  // namespace bdl
