// Regression by a Gaussian process (Rasmussen, Williams 2006, chapters 2 and 5): values y_i = m + f(x_i) +
// noise at points of the unit cube, m ~ N(0, 1), and f of covariance s^2 g(r^2) with the Matern 5/2 function
// g = (1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r) of the distance r, in which each coordinate has a length
// scale of its own. m is integrated out, which adds 1 to every covariance.
#pragma once

#include <vector>

#include "base/view.hpp"

namespace bdl {

/// Values at points, which are columns. Distances along a coordinate that is a choice are 0 or 1.
struct Observations {
  Index coordinates = 0;
  std::vector<double> points;   ///< coordinates x n
  std::vector<double> values;   ///< n, with mean about 0 and variance about 1
  std::vector<char> is_choice;  ///< one for each coordinate

  Index size() const { return static_cast<Index>(values.size()); }
  ConstMatrixView<double> matrix() const { return {points.data(), coordinates, size()}; }
};

/// Logarithms of the signal variance s^2, of the noise variance, and of the length scales.
using LogScales = std::vector<double>;

class GaussianProcess {
 public:
  explicit GaussianProcess(Observations observations);
  const Observations& observations() const { return data_; }

  /// Conditions the process on the values, with these scales; O(n^3).
  void condition(const LogScales& scales);
  /// Returns log p(values | scales).
  double log_evidence() const;
  /// Writes the derivatives of the log evidence with respect to the scales, in their order.
  void log_evidence_gradient(std::span<double> gradient) const;
  /// Writes mean and variance of m + f, without noise, at each point.
  void predict(ConstMatrixView<double> points, std::span<double> mean, std::span<double> variance) const;

 private:
  double difference(Index k, double a, double b) const;
  double square_distance(const double* a, const double* b) const;
  double signal() const;

  Observations data_;
  LogScales scales_;
  std::vector<double> inverse_lengths_;
  Buffer<double> root_;          // Cholesky factor of the values' covariance K, n x n
  std::vector<double> weights_;  // K^-1 values
};

/// Returns the log density of the scales' prior, which are independent normals, up to a constant.
double log_prior(const LogScales& scales, std::span<double> gradient);

/// Conditions the process on its most probable scales, the maximum of its evidence times a weak prior, and
/// returns them.
LogScales fit_scales(GaussianProcess& process);

/// Returns log E[max(0, F - best)] for F ~ N(mean, variance), the expected improvement (Jones, Schonlau,
/// Welch 1998), also where the expectation underflows.
double log_expected_improvement(double mean, double variance, double best);

}  // namespace bdl
