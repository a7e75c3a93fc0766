#include "predict/component_quantile.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "likelihood/heteroscedastic.hpp"
#include "likelihood/normal_mixture.hpp"
#include "likelihood/special_functions.hpp"
#include "likelihood/student_t.hpp"

namespace bdl {
namespace {

struct Density {
  double probability, density;
};

Density standard(double u, double degrees) {
  if (degrees > 0) return {student_t_cdf(u, degrees), student_t::density(u, degrees)};
  return {normal_cdf(u), std::exp(-u * u / 2) / std::sqrt(2 * std::numbers::pi)};
}

/// Of the mixture mirrored by sign, at z.
Density evaluate(const Components& components, double sign, double z) {
  Density sum{0, 0};
  for (const Component& part : components.parts) {
    const Density point = standard((z - sign * part.mean) / part.deviation, components.degrees);
    sum.probability += part.weight * point.probability;
    sum.density += part.weight * point.density / part.deviation;
  }
  return sum;
}

/// Not above the quantile of one component, and within a factor of 2 of it: t has the heavier tail.
double standard_bound(double p, double degrees) {
  double u = normal_quantile(p);
  while (degrees > 0 && u < 0 && standard(u, degrees).probability > p) u *= 2;
  return u;
}

}  // namespace

void find_components(const Likelihood& likelihood, const Mixture& mixture, Index c, Components& out) {
  const bool student = likelihood.kind() == BDL_STUDENT_T;
  out.parts.clear();
  out.degrees = student && !mixture.is_gaussian() ? likelihood.degrees_of_freedom() : 0;
  double total = 0;
  const double widest = std::exp(largest_log_variance);
  const auto add = [&](double mean, double variance, double weight) {
    if (weight < 1e-300) return;
    out.parts.push_back({mean, std::sqrt(std::min(variance, widest)), weight});
    total += weight;
  };
  if (mixture.is_gaussian() && student)
    student_t::visit_components(likelihood, mixture.f.column(0), mixture.covariance, c, add);
  else if (mixture.is_gaussian())
    heteroscedastic::visit_components(likelihood, mixture.f.column(0), mixture.covariance, c, add);
  else
    for (Index k = 0; k < mixture.components(); ++k)
      add(mixture.f(c, k),
          1 / (student ? likelihood.noise_precision(c)
                       : heteroscedastic::noise_precision(likelihood, mixture.f.column_data(k), c)),
          mixture.weight(k));
  for (Component& part : out.parts) part.weight /= total;
}

/// Newton for log P(Z <= z) = log p, in the lower tail of the mirrored mixture if need be. It lies between
/// the smallest and the largest of the components' own quantiles; bisection where Newton leaves the bracket,
/// or does not halve it in three steps.
double component_quantile(const Components& components, Tail tail) {
  const double sign = tail.upper ? -1 : 1, target = std::log(tail.probability),
               far = standard_bound(tail.probability, components.degrees),
               near = components.degrees > 0 ? far / 2 : far;
  double low = HUGE_VAL, high = -HUGE_VAL, mean = 0;
  for (const Component& part : components.parts) {
    low = std::min(low, sign * part.mean + far * part.deviation);
    high = std::max(high, sign * part.mean + (components.degrees > 0 ? 0 : near) * part.deviation);
    mean += part.weight * (sign * part.mean + near * part.deviation);
  }
  double z = std::clamp(mean, low, high), before = high - low;
  for (int i = 1; i < 300 && high - low > 4e-16 * std::abs(z); ++i) {
    const Density point = evaluate(components, sign, z);
    const double error = std::log(point.probability) - target;
    (error < 0 ? low : high) = z;
    const double newton = z - error * point.probability / point.density;
    const bool slow = i % 3 == 0 && high - low > before / 2;
    if (i % 3 == 0) before = high - low;
    const bool inside = newton > low && newton < high && !slow;
    const double next = inside ? newton : low + (high - low) / 2, step = std::abs(next - z);
    z = next;
    if (inside && step * point.density <= 1e-13 * point.probability) break;
  }
  return sign * z;
}

}  // namespace bdl
