#include "search/expected_improvement.hpp"

#include <cmath>
#include <numbers>

#include "likelihood/special_functions.hpp"

namespace bdl {
namespace {

/// log(phi(z) + z Phi(z)); below, where both almost cancel, by the expansion of Mills' ratio: phi(z) / z^2
/// times 1 - 3 / z^2 + 3 5 / z^4 - ...
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
