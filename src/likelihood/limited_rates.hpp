// Log rates and log noise variances with a limit, and counts y ~ Poisson(e^g) whose g is a limited Gaussian.
//
// Up to its limit a value is unchanged; beyond it, it bends and never reaches limit + 1, but keeps a slope,
// so that training can recover. The bend has two continuous derivatives.
//
// f ~ N(m, v) with v > 0 and no limit gives the Poisson log-normal distribution, the predictive distribution
// of Poisson regression under a Gaussian. With a limit, g is f below it and bends above: closed forms hold as
// long as the limit is out of reach, panels of Gauss-Legendre rules replace them otherwise.
#pragma once

#include <algorithm>
#include <cmath>

#include "likelihood/special_functions.hpp"

namespace bdl {

/// Limits a log rate or log variance; a limit of infinity changes nothing.
inline double limited(double f, double limit) {
  if (!(f > limit)) return f;
  const double d = f - limit;
  return limit + 1 / std::sqrt(1 + 1 / (d * d));
}

/// First and second derivative of limited().
struct Bend {
  double slope = 1, second = 0;
};

inline Bend bend_at(double f, double limit) {
  if (!(f > limit)) return {};
  const double d = f - limit, r = 1 / std::sqrt(1 + d * d);
  return {r * r * r, r > 0 ? -3 * (d * r) * (r * r) * (r * r) : 0};
}

/// As bend_at(), as a function of the value g = limited(f).
inline Bend bend_of_limited(double g, double limit) {
  if (!(g > limit)) return {};
  const double e = std::min(g - limit, 1.0), square = std::max(0.0, 1 - e * e), r = std::sqrt(square);
  return {r * square, -3 * e * square * square};
}

/// Inverse of limited(); infinite if there is none.
inline double unlimited(double g, double limit) {
  if (!(g > limit)) return g;
  const double e = g - limit;
  return e < 1 ? limit + e / std::sqrt((1 - e) * (1 + e)) : HUGE_VAL;
}

/// Returns log P(Y = count) without a limit.
double log_poisson_lognormal(double m, double v, double count);

/// Returns P(Y <= count) and P(Y > count) without a limit, with absolute errors near 1e-15.
CountTails poisson_lognormal_tails(double m, double v, double count);

/// Moments of the rate e^g.
struct RateMoments {
  double mean = 0, variance = 0;
};

/// Without a limit, mean and variance may be infinite.
RateMoments rate_moments(double m, double v, double limit);

/// True if the limit changes E[e^f], f ~ N(m, v).
bool rates_meet_limit(double m, double v, double limit);

/// Returns E[log P(Y = count | f)] if the limit does.
double expected_log_poisson(double m, double v, double count, double limit);

/// Returns log P(Y = count).
double log_poisson_of_normal(double m, double v, double count, double limit);

/// Returns P(Y <= count) and P(Y > count).
CountTails poisson_tails_of_normal(double m, double v, double count, double limit);

}  // namespace bdl
