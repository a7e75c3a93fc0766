#include "search/gaussian_process.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.hpp"
#include "likelihood/special_functions.hpp"
#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"
#include "optimize/minimize.hpp"

namespace bdl {
namespace {

double matern(double square) {
  const double s = std::sqrt(5 * square);
  return (1 + s + s * s / 3) * std::exp(-s);
}

/// Returns -2 d matern / d square.
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

/// The log evidence is -(y^T K^-1 y + log det K + n log 2 pi) / 2.
double GaussianProcess::log_evidence() const {
  const Index n = data_.size();
  double square = 0;
  for (std::size_t i = 0; i < weights_.size(); ++i) square += weights_[i] * data_.values[i];
  return -(square + log_det_from_cholesky(root_.matrix(n, n)) +
           static_cast<double>(n) * std::log(2 * std::numbers::pi)) /
         2;
}

/// The derivatives are tr((a a^T - K^-1) dK) / 2 with a = K^-1 y; the elements of dK are s^2 g for log s^2,
/// and s^2 (-2 g') (difference / length)^2 for a log length scale.
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

namespace {

/// Normal prior of a log scale, cut off at limits that keep covariances positive definite to rounding.
struct ScalePrior {
  double mean, deviation, low, high;
};

// The scales are exp of these: signal about 1; noise about 0.01, from 1e-6 to 1; lengths about 0.5, from 0.02
// to 50.
constexpr ScalePrior signal{0, 1, -4, 3}, noise{-4.6, 2, -13.8, 0}, length{-0.7, 1, -3.9, 3.9};

const ScalePrior& prior_of(std::size_t k) {
  return k == 0 ? signal : k == 1 ? noise : length;
}

// Points from which ascents begin: noise and length scales for smooth and for rough functions.
struct Start {
  double noise, length;
};
constexpr Start starts[] = {{-4.6, -0.7}, {-2.3, -1.6}, {-9.2, 0.7}};
constexpr int likelihood_evaluations = 60;

}  // namespace

double log_prior(const LogScales& scales, std::span<double> gradient) {
  double sum = 0;
  for (std::size_t k = 0; k < scales.size(); ++k) {
    const ScalePrior& b = prior_of(k);
    const double z = (scales[k] - b.mean) / b.deviation;
    sum -= z * z / 2;
    gradient[k] = -z / b.deviation;
  }
  return sum;
}

LogScales fit_scales(GaussianProcess& process) {
  const std::size_t size = 2 + static_cast<std::size_t>(process.observations().coordinates);
  LogScales low(size), high(size), scales(size), best(size), prior_gradient(size);
  for (std::size_t k = 0; k < size; ++k) low[k] = prior_of(k).low, high[k] = prior_of(k).high;
  const auto loss = [&](ConstSpan<double> x, std::span<double> gradient) {
    scales.assign(x.begin(), x.end());
    process.condition(scales);
    process.log_evidence_gradient(gradient);
    const double value = process.log_evidence() + log_prior(scales, prior_gradient);
    for (std::size_t k = 0; k < size; ++k) gradient[k] = -gradient[k] - prior_gradient[k];
    return -value;
  };
  double least = std::numeric_limits<double>::infinity();
  for (const Start& start : starts) {
    LogScales x(size, start.length);
    x[0] = signal.mean;
    x[1] = start.noise;
    const double value =
        minimize_within_bounds(Minimiser::lbfgs, {low, high, 1}, likelihood_evaluations, loss, x);
    if (value < least) least = value, best = x;
  }
  process.condition(best);
  return best;
}

namespace {

/// Returns log(phi(z) + z Phi(z)). For very negative z both terms almost cancel, and the expansion of Mills'
/// ratio is used: phi(z) / z^2 times 1 - 3 / z^2 + 3 5 / z^4 - ...
double log_unit_improvement(double z) {
  const double log_density = -z * z / 2 - std::log(2 * std::numbers::pi) / 2;
  if (z > -12) return std::log(std::exp(log_density) + z * normal_cdf(z));
  const double u = 1 / (z * z);
  double series = 1;
  for (int k = 20; k >= 1; --k) series = 1 - (2 * k + 1) * u * series;
  return log_density + std::log(u * series);
}

}  // namespace

double log_expected_improvement(double mean, double variance, double best) {
  const double deviation = std::sqrt(variance);
  if (!(deviation > 0)) return std::log(std::fmax(mean - best, 0));
  return std::log(deviation) + log_unit_improvement((mean - best) / deviation);
}

}  // namespace bdl
