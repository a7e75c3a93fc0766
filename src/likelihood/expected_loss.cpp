#include "likelihood/expected_loss.hpp"

#include <cmath>
#include <numbers>

#include "likelihood/gaussian_integrals.hpp"
#include "likelihood/special_functions.hpp"

namespace bdl {
namespace {

/// Expectations for l(f) = softplus(z), where z = -f for y = 1 and f for y = 0.
ExpectedLoss expected_logistic_loss(double m, double v, bool positive) {
  ExpectedLoss sums;
  double total = 0;
  visit_logistic_nodes(positive ? -m : m, v, [&](double z, double weight) {
    const double e = std::exp(-std::abs(z)), larger = 1 / (1 + e), smaller = e * larger;
    total += weight;
    sums.loss += weight * (std::max(z, 0.0) + std::log1p(e));
    sums.slope += weight * (z >= 0 ? larger : smaller);
    sums.curvature += weight * larger * smaller;
  });
  return {sums.loss / total, (positive ? -1 : 1) * sums.slope / total, sums.curvature / total};
}

/// Returns exp(f) - y f + log y! as half the deviance above its least value: for large counts the terms of
/// the definition are a million times their sum.
double poisson_loss(double f, double y) {
  return half_poisson_deviance(f, y) - log_poisson(y, y);
}

double gaussian_log_density(const Likelihood& likelihood, double m, double y, Index output) {
  if (likelihood.noise_covariance().given()) return likelihood.log_density(&m, &y);
  const double precision = likelihood.noise_precision(output), residual = y - m;
  return (std::log(precision / (2 * std::numbers::pi)) - precision * residual * residual) / 2;
}

}  // namespace

ExpectedLoss expected_loss(const Likelihood& likelihood, double m, double v, double y, Index output) {
  if (std::isnan(y)) return {};
  if (likelihood.kind() == BDL_BERNOULLI) return expected_logistic_loss(m, v, y > 0);
  if (likelihood.kind() == BDL_GAUSSIAN) {
    const double precision = likelihood.noise_precision(output);
    return {precision * v / 2 - gaussian_log_density(likelihood, m, y, output), precision * (m - y),
            precision};
  }
  const double rate = std::exp(m + v / 2);
  return {poisson_loss(m, y) - rate * std::expm1(-v / 2), rate - y, rate};
}

ExpectedLoss expected_quadratic_loss(double m, double v, double y) {
  if (std::isnan(y)) return {};
  const double curvature = y + 0.5, error = m - std::log(curvature);
  return {curvature * (error * error + v) / 2, curvature * error, curvature};
}

}  // namespace bdl
