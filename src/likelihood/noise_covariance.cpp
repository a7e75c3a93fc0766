#include "likelihood/noise_covariance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.hpp"
#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"

namespace bdl {
namespace {

bool all_finite(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

/// False if the variance of an output, given the outputs before it, is only rounding error.
bool pivots_are_significant(ConstMatrixView<double> r, ConstMatrixView<double> lower) {
  const double rounding = 4 * std::numeric_limits<double>::epsilon() * static_cast<double>(r.rows);
  for (Index c = 0; c < r.rows; ++c)
    if (!(lower(c, c) * lower(c, c) > rounding * r(c, c))) return false;
  return true;
}

}  // namespace

NoiseCovariance::NoiseCovariance(ConstMatrixView<double> covariance)
    : size_(covariance.rows),
      covariance_(static_cast<std::size_t>(covariance.size())),
      root_(covariance_.size()),
      whitener_(covariance_.size()),
      precision_(covariance_.size()) {
  const MatrixView<double> r(covariance_.data(), size_, size_), l(root_.data(), size_, size_),
      w(whitener_.data(), size_, size_), p(precision_.data(), size_, size_);
  for (Index j = 0; j < size_; ++j) {
    std::copy_n(covariance.column_data(j) + j, size_ - j, r.column_data(j) + j);
    w(j, j) = 1;
  }
  mirror_lower(r);
  std::ranges::copy(covariance_, root_.begin());
  bool regular = cholesky(l) && pivots_are_significant(r, l);
  if (regular) {
    solve_lower_left(Op::none, l, w);
    syrk(Op::transpose, 1.0, w, 0.0, p);
    mirror_lower(p);
    regular = all_finite(precision_);
  }
  if (!regular) fail(Status::ERROR_INVALID_ARGUMENT, "the noise covariance is not positive definite");
  log_normaliser_ =
      -(static_cast<double>(size_) * std::log(2 * std::numbers::pi) + log_det_from_cholesky(l)) / 2;
}

template <class T>
double NoiseCovariance::whitened_residual(const T* f, const T* y, Index k) const {
  double sum = 0;
  for (Index c = 0; c <= k; ++c)
    sum += whitener()(k, c) * (static_cast<double>(f[c]) - static_cast<double>(y[c]));
  return sum;
}

template <class T>
double NoiseCovariance::log_density(const T* f, const T* y) const {
  double squares = 0;
  for (Index k = 0; k < size_; ++k) squares += std::pow(whitened_residual(f, y, k), 2);
  return log_normaliser_ - squares / 2;
}

#define BDL_INSTANTIATE(T)                                                             \
  template double NoiseCovariance::whitened_residual(const T*, const T*, Index) const; \
  template double NoiseCovariance::log_density(const T*, const T*) const;
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
