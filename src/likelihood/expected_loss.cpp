#include "likelihood/expected_loss.hpp"

#include <cmath>

#include "likelihood/logistic_rule.hpp"

namespace bdl {
namespace {

/// l(f) = softplus(z), z = -f for y = 1 and f for y = 0.
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

}  // namespace

ExpectedLoss expected_loss(const Likelihood& likelihood, double m, double v, double y) {
  if (std::isnan(y)) return {};
  if (likelihood.kind() == BDL_BERNOULLI) return expected_logistic_loss(m, v, y > 0);
  const double at_mean = -likelihood.log_density(&m, &y);
  if (likelihood.kind() == BDL_GAUSSIAN) {
    const double precision = likelihood.noise_precision(0);
    return {at_mean + precision * v / 2, precision * (m - y), precision};
  }
  const double rate = std::exp(m + v / 2);
  return {at_mean - rate * std::expm1(-v / 2), rate - y, rate};
}

}  // namespace bdl
