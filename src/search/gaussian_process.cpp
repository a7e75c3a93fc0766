#include "search/gaussian_process.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.hpp"
#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"

namespace bdl {
namespace {

double matern(double square) {
  const double s = std::sqrt(5 * square);
  return (1 + s + s * s / 3) * std::exp(-s);
}

/// -2 d matern / d square.
double matern_slope(double square) {
  const double s = std::sqrt(5 * square);
  return 5.0 / 3 * (1 + s) * std::exp(-s);
}

constexpr double mean_variance = 1;

}  // namespace

GaussianProcess::GaussianProcess(Observations observations)
    : data_(std::move(observations)),
      inverse_lengths_(static_cast<std::size_t>(data_.coordinates)),
      root_(data_.size() * data_.size()),
      weights_(data_.values.size()) {}

double GaussianProcess::difference(Index k, double a, double b) const {
  if (data_.is_choice[static_cast<std::size_t>(k)]) return a == b ? 0 : 1;
  return a - b;
}

double GaussianProcess::square_distance(const double* a, const double* b) const {
  double sum = 0;
  for (Index k = 0; k < data_.coordinates; ++k) {
    const double scaled = difference(k, a[k], b[k]) * inverse_lengths_[static_cast<std::size_t>(k)];
    sum += scaled * scaled;
  }
  return sum;
}

double GaussianProcess::signal() const {
  return std::exp(scales_[0]);
}

void GaussianProcess::condition(const LogScales& scales) {
  scales_ = scales;
  for (std::size_t k = 0; k < inverse_lengths_.size(); ++k) inverse_lengths_[k] = std::exp(-scales[2 + k]);
  const Index n = data_.size();
  const auto points = data_.matrix();
  const auto k = root_.matrix(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = j; i < n; ++i)
      k(i, j) =
          mean_variance + signal() * matern(square_distance(points.column_data(i), points.column_data(j)));
    k(j, j) += std::exp(scales[1]);
  }
  if (!cholesky(k)) fail(Status::ERROR_INTERNAL, "the covariance of the scores is not positive definite");
  weights_ = data_.values;
  cholesky_solve(k, {weights_.data(), n, 1});
}

/// -(y^T K^-1 y + log det K + n log 2 pi) / 2.
double GaussianProcess::log_evidence() const {
  const Index n = data_.size();
  double square = 0;
  for (std::size_t i = 0; i < weights_.size(); ++i) square += weights_[i] * data_.values[i];
  return -(square + log_det_from_cholesky(root_.matrix(n, n)) +
           static_cast<double>(n) * std::log(2 * std::numbers::pi)) /
         2;
}

/// tr((a a^T - K^-1) dK) / 2 with a = K^-1 y, and dK elementwise: s^2 g by log s^2, and by a log length scale
/// s^2 (-2 g') (difference / length)^2.
void GaussianProcess::log_evidence_gradient(std::span<double> gradient) const {
  const Index n = data_.size();
  const auto points = data_.matrix();
  Buffer<double> storage(n * n);
  const auto inverse = storage.matrix(n, n);
  cholesky_inverse(root_.matrix(n, n), inverse);
  std::ranges::fill(gradient, 0.0);
  const auto weight = [&](Index i, Index j) {
    return (weights_[static_cast<std::size_t>(i)] * weights_[static_cast<std::size_t>(j)] - inverse(i, j)) /
           2;
  };
  for (Index j = 0; j < n; ++j) {
    gradient[0] += weight(j, j) * signal();
    gradient[1] += weight(j, j) * std::exp(scales_[1]);
    for (Index i = j + 1; i < n; ++i) {
      const double *a = points.column_data(i), *b = points.column_data(j);
      const double square = square_distance(a, b), twice = 2 * weight(i, j) * signal();
      gradient[0] += twice * matern(square);
      for (Index k = 0; k < data_.coordinates; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const double scaled = difference(k, a[k], b[k]) * inverse_lengths_[at];
        gradient[2 + at] += twice * matern_slope(square) * scaled * scaled;
      }
    }
  }
}

void GaussianProcess::predict(ConstMatrixView<double> points, std::span<double> mean,
                              std::span<double> variance) const {
  const Index n = data_.size(), count = points.cols;
  Buffer<double> storage(n * count);
  const auto cross = storage.matrix(n, count);
  for (Index j = 0; j < count; ++j) {
    double sum = 0;
    for (Index i = 0; i < n; ++i) {
      cross(i, j) = mean_variance +
                    signal() * matern(square_distance(data_.matrix().column_data(i), points.column_data(j)));
      sum += cross(i, j) * weights_[static_cast<std::size_t>(i)];
    }
    mean[static_cast<std::size_t>(j)] = sum;
  }
  solve_lower_left(Op::none, root_.matrix(n, n), cross);
  for (Index j = 0; j < count; ++j) {
    double left = mean_variance + signal();
    for (Index i = 0; i < n; ++i) left -= cross(i, j) * cross(i, j);
    variance[static_cast<std::size_t>(j)] = std::max(left, 0.0);
  }
}

}  // namespace bdl
