#include "likelihood/kinds/student_t.hpp"

#include <limits>
#include <numbers>

#include "likelihood/special_functions.hpp"

namespace bdl::student_t {
namespace {

double log_gamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

}  // namespace

double log_normaliser(double nu) {
  return log_gamma((nu + 1) / 2) - log_gamma(nu / 2) - std::log(nu * std::numbers::pi) / 2;
}

double log_density_at(double square, double nu, Index size) {
  const double d = static_cast<double>(size);
  if (std::isinf(nu)) return -(d * std::log(2 * std::numbers::pi) + square) / 2;
  return log_gamma((nu + d) / 2) - log_gamma(nu / 2) - d * std::log(nu * std::numbers::pi) / 2 -
         (nu + d) / 2 * std::log1p(square / nu);
}

double score(double nu, double q) {
  const double slope = (nu * (digamma((nu + 1) / 2) - digamma(nu / 2)) - 1) / 2;
  return slope - nu / 2 * std::log1p(q / nu) + (nu + 1) / 2 * q / (nu + q);
}

/// The step follows from the singularities of log1p(tau (y - f)^2 / nu), sqrt(nu / tau) from the real line.
double expected_log_density(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s,
                            const double* y) {
  double result = 0;
  for (Index c = 0; c < likelihood.targets(); ++c) {
    if (std::isnan(y[c])) continue;
    const double deviation = std::sqrt(std::max(0.0, s(c, c))), mean = m[static_cast<std::size_t>(c)];
    const double nu = likelihood.degrees_of_freedom(), tau = likelihood.noise_precision(c);
    const double step = std::clamp(0.15 * std::sqrt(nu / tau) / std::max(deviation, 1e-300), 1e-3, 0.4);
    double sum = 0, total = 0;
    place_nodes(-9, 9, step, [&](double z) {
      const double r = mean + deviation * z - y[c], mass = std::exp(-z * z / 2);
      sum += mass * loss(nu, tau * r * r);
      total += mass;
    });
    result += log_normaliser(nu) + std::log(tau) / 2 - sum / total;
  }
  return result;
}

double log_predictive_density(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s,
                              const double* y) {
  return log_normal_mixtures(likelihood.targets(), y,
                             [&](Index c, auto&& add) { visit_components(likelihood, m, s, c, add); });
}

double log_density_at(double square, double degrees) {
  return log_normaliser(degrees) - loss(degrees, square);
}

double density(double z, double nu) {
  return std::exp(log_normaliser(nu) - loss(nu, z * z));
}

}  // namespace bdl::student_t
