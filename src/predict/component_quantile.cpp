#include "predict/component_quantile.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "model/heteroscedastic.hpp"
#include "model/special_functions.hpp"

namespace bdl {
namespace {

struct Point {
  double probability, density;
};

/// Of the mixture mirrored by sign, at z.
Point evaluate(ConstSpan<NormalComponent> components, double sign, double z) {
  Point sum{0, 0};
  for (const NormalComponent& part : components) {
    const double u = (z - sign * part.mean) / part.deviation;
    sum.probability += part.weight * normal_cdf(u);
    sum.density += part.weight * std::exp(-u * u / 2) / part.deviation;
  }
  sum.density /= std::sqrt(2 * std::numbers::pi);
  return sum;
}

}  // namespace

void heteroscedastic_components(const Likelihood& likelihood, const Mixture& mixture, Index c,
                                std::vector<NormalComponent>& out) {
  out.clear();
  double total = 0;
  const auto add = [&](double mean, double variance, double weight) {
    out.push_back({mean, std::sqrt(variance), weight});
    total += weight;
  };
  if (mixture.is_gaussian())
    heteroscedastic::visit_components(likelihood, mixture.f.column(0), mixture.covariance, c, add);
  else
    for (Index k = 0; k < mixture.components(); ++k)
      add(mixture.f(c, k), 1 / heteroscedastic::noise_precision(likelihood, mixture.f.column_data(k), c),
          mixture.weight(k));
  for (NormalComponent& part : out) part.weight /= total;
}

/// Newton for log P(Z <= z) = log p, in the lower tail of the mirrored mixture if need be. It lies between
/// the smallest and the largest of the components' own quantiles; bisection where Newton leaves the bracket,
/// or does not halve it in three steps.
double component_quantile(ConstSpan<NormalComponent> components, Tail tail) {
  const double sign = tail.upper ? -1 : 1, target = std::log(tail.probability),
               standard = normal_quantile(tail.probability);
  double low = HUGE_VAL, high = -HUGE_VAL, mean = 0;
  for (const NormalComponent& part : components) {
    const double own = sign * part.mean + standard * part.deviation;
    low = std::min(low, own);
    high = std::max(high, own);
    mean += part.weight * own;
  }
  double z = std::clamp(mean, low, high), before = high - low;
  for (int i = 1; i < 300 && high - low > 4e-16 * std::abs(z); ++i) {
    const Point point = evaluate(components, sign, z);
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
