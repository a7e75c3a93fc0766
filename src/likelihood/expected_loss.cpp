#include "likelihood/expected_loss.hpp"

#include <cmath>
#include <numbers>

#include "likelihood/gaussian_integrals.hpp"
#include "likelihood/special_functions.hpp"

namespace bdl {
namespace {

/// Calls add(z, weight) for the nodes of Gauss and Hermite of degree 7 for N(m, v). The error for logistic
/// functions is below 7! (s / pi)^14 (Abramowitz, Stegun 25.4.46), rounding for s <= 0.1.
template <class Add>
void visit_few_nodes(double m, double v, Add&& add) {
  constexpr double nodes[] = {1.1544053947399681, 2.3667594107345412, 3.7504397177257422},
                   weights[] = {0.24012317860501272, 0.030757123967586496, 0.00054826885597221779};
  const double s = std::sqrt(v);
  add(m, 16.0 / 35);
  for (int k = 0; k < 3; ++k) {
    add(m + nodes[k] * s, weights[k]);
    add(m - nodes[k] * s, weights[k]);
  }
}

/// Expectations for l(f) = softplus(z), where z = -f for y = 1 and f for y = 0; visit(m, v, add) has the
/// nodes.
template <class Visit>
ExpectedLoss expected_logistic_loss(double m, double v, bool positive, Visit&& visit) {
  ExpectedLoss sums;
  double total = 0;
  visit(positive ? -m : m, v, [&](double z, double weight) {
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
  if (likelihood.kind() == BDL_BERNOULLI)
    return expected_logistic_loss(m, v, y > 0, [](double mean, double variance, auto&& add) {
      visit_logistic_nodes(mean, variance, add);
    });
  if (likelihood.kind() == BDL_GAUSSIAN) {
    const double precision = likelihood.noise_precision(output);
    return {precision * v / 2 - gaussian_log_density(likelihood, m, y, output), precision * (m - y),
            precision};
  }
  const double rate = std::exp(m + v / 2);
  return {poisson_loss(m, y) - rate * std::expm1(-v / 2), rate - y, rate};
}

ExpectedLoss expected_loss_of_many(const Likelihood& likelihood, double m, double v, double y) {
  constexpr double small = 0.01;
  if (likelihood.kind() != BDL_BERNOULLI || std::isnan(y) || !(v <= small))
    return expected_loss(likelihood, m, v, y);
  return expected_logistic_loss(
      m, v, y > 0, [](double mean, double variance, auto&& add) { visit_few_nodes(mean, variance, add); });
}

ExpectedLoss expected_quadratic_loss(double m, double v, double y) {
  if (std::isnan(y)) return {};
  const double curvature = y + 0.5, error = m - std::log(curvature);
  return {curvature * (error * error + v) / 2, curvature * error, curvature};
}

}  // namespace bdl
