// Logs of rates and of noise variances that stay within what data can say. Up to its limit a value is taken
// as it is, to the bit; beyond it, it bends and never reaches limit + 1, but keeps a slope, so that training
// can recover. The bend has two continuous derivatives.
#pragma once

#include <algorithm>
#include <cmath>

namespace bdl {

/// limited(f) of a log rate or log variance; a limit of infinity changes nothing.
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

/// bend_at() as a function of the value g = limited(f).
inline Bend bend_of_limited(double g, double limit) {
  if (!(g > limit)) return {};
  const double e = std::min(g - limit, 1.0), square = std::max(0.0, 1 - e * e), r = std::sqrt(square);
  return {r * square, -3 * e * square * square};
}

/// Where limited() has the value g; infinite where it has none.
inline double unlimited(double g, double limit) {
  if (!(g > limit)) return g;
  const double e = g - limit;
  return e < 1 ? limit + e / std::sqrt((1 - e) * (1 + e)) : HUGE_VAL;
}

}  // namespace bdl
