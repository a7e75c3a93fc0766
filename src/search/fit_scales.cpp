#include "search/fit_scales.hpp"

#include <algorithm>
#include <limits>

#include "optimize/minimize_within_bounds.hpp"

namespace bdl {
namespace {

/// A normal prior of a logarithm, cut off at its limits: they keep covariances positive definite to rounding.
struct Belief {
  double mean, deviation, low, high;
};

// exp: 1 and 1; 0.01, 1e-6 to 1; 0.5, 0.02 to 50, of a unit cube.
constexpr Belief signal{0, 1, -4, 3}, noise{-4.6, 2, -13.8, 0}, length{-0.7, 1, -3.9, 3.9};

const Belief& belief(std::size_t k) {
  return k == 0 ? signal : k == 1 ? noise : length;
}

// Where ascents begin: noise and length scales, for smooth and for rough functions.
struct Start {
  double noise, length;
};
constexpr Start starts[] = {{-4.6, -0.7}, {-2.3, -1.6}, {-9.2, 0.7}};
constexpr int likelihood_evaluations = 60;

}  // namespace

double log_prior(const LogScales& scales, std::span<double> gradient) {
  double sum = 0;
  for (std::size_t k = 0; k < scales.size(); ++k) {
    const Belief& b = belief(k);
    const double z = (scales[k] - b.mean) / b.deviation;
    sum -= z * z / 2;
    gradient[k] = -z / b.deviation;
  }
  return sum;
}

LogScales fit_scales(GaussianProcess& process) {
  const std::size_t size = 2 + static_cast<std::size_t>(process.observations().coordinates);
  LogScales low(size), high(size), scales(size), best(size), prior_gradient(size);
  for (std::size_t k = 0; k < size; ++k) low[k] = belief(k).low, high[k] = belief(k).high;
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
    const double value = minimise(Minimiser::lbfgs, {low, high, 1}, likelihood_evaluations, loss, x);
    if (value < least) least = value, best = x;
  }
  process.condition(best);
  return best;
}

}  // namespace bdl
