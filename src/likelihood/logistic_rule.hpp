// Expectations of functions of a logit f ~ N(m, v), for functions made of logistic functions of f and their
// logarithms: relative errors near rounding for all m and v >= 0, even where the expectation is as small as
// 1e-290. Some 40 to 200 nodes; thousands where |m| is tens of standard deviations.
//
// The trapezoidal rule converges geometrically for functions analytic in a strip around the real line: where
// the nearest singularity has imaginary part a, its error is exp(-2 pi a / h), times exp(a^2 / 2) for a
// complex Gaussian. Logistic functions of f have their singularities at f = +-i pi.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace bdl {

/// Calls place(k h) for all k h in [low, high].
template <class Place>
void place_nodes(double low, double high, double h, Place&& place) {
  const double last = std::ceil(high / h);
  for (double k = std::floor(low / h); k <= last; ++k) place(k * h);
}

/// add(f, weight) for every node; the weights are to be divided by their sum.
///
/// For s < 1 in t, f = m + s t, whose singularities are beyond i pi, or where they are far out of the range.
/// Else in u, f = sinh(u): the bend of width 1 at f = 0 and a Gaussian of any width take about as many nodes
/// each; r = |m| / s makes the Gaussian narrow in u. The one node is nan unless m and v are finite.
template <class Add>
void visit_logistic_nodes(double m, double v, Add&& add) {
  constexpr double reach = 9;       // exp(-9^2 / 2) < 1e-17
  constexpr double underflow = 39;  // exp(-39^2 / 2) is no double
  constexpr double far = 1e4;       // standard deviations: from here on sinh(u) loses digits
  if (!std::isfinite(m) || !std::isfinite(v)) return add(m, std::numeric_limits<double>::quiet_NaN());
  if (v == 0) return add(m, 1.0);
  // The integrand's mass lies between t = 0 and where it is for exp(2 f), or at f = 0 if that is nearer.
  const double s = std::sqrt(v), r = std::abs(m) / s;
  const double shift = std::copysign(std::min({2 * s, r, underflow}), -m);
  const double low = std::min(0.0, shift) - reach, high = std::max(0.0, shift) + reach;
  if (s < 1 || r > far)
    place_nodes(low, high, 0.4, [&](double t) { add(m + s * t, std::exp(-t * t / 2)); });
  else
    place_nodes(std::asinh(m + s * low), std::asinh(m + s * high), 0.4 / std::max(r, 5.0), [&](double u) {
      const double f = std::sinh(u), t = (f - m) / s;
      add(f, std::cosh(u) * std::exp(-t * t / 2));
    });
}

struct NormalRule {
  std::vector<double> nodes, weights;  // the weights add up to 1
  void reserve(std::size_t count) {
    nodes.reserve(count);
    weights.reserve(count);
  }
};

/// The same nodes as a list.
void logistic_rule(double m, double v, NormalRule& rule);

}  // namespace bdl
