// Integrals over a Gaussian output by the trapezoidal rule, and densities of mixtures of normal
// distributions.
//
// Expectations of logistic functions of f ~ N(m, v), and of their logarithms, have relative errors near
// rounding for all m and v >= 0, even if they are as small as 1e-290. They take some 40 to 200 nodes, or
// thousands if |m| is tens of standard deviations.
//
// The trapezoidal rule converges geometrically for functions that are analytic in a strip around the real
// line: if the nearest singularity has imaginary part a, its error is exp(-2 pi a / h), times exp(a^2 / 2)
// for a complex Gaussian. Logistic functions of f have their singularities at f = +-i pi.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "base/view.hpp"

namespace bdl {

/// Calls place(k h) for all k h in [low, high].
template <class Place>
void place_nodes(double low, double high, double h, Place&& place) {
  const double last = std::ceil(high / h);
  for (double k = std::floor(low / h); k <= last; ++k) place(k * h);
}

/// Calls add(f, weight) for every node; the caller divides the weights by their sum.
///
/// For s < 1 the variable is t with f = m + s t, whose singularities lie beyond i pi or far out of the range.
/// Else it is u with f = sinh(u): the bend of width 1 at f = 0 and a Gaussian of any width then need similar
/// numbers of nodes; r = |m| / s makes the Gaussian narrow in u. If m or v is not finite, the only weight is
/// NaN.
template <class Add>
void visit_logistic_nodes(double m, double v, Add&& add) {
  constexpr double reach = 9;       // exp(-9^2 / 2) < 1e-17
  constexpr double underflow = 39;  // exp(-39^2 / 2) underflows
  constexpr double far = 1e4;       // standard deviations beyond which sinh(u) loses digits
  if (!std::isfinite(m) || !std::isfinite(v)) return add(m, std::numeric_limits<double>::quiet_NaN());
  if (v == 0) return add(m, 1.0);
  // The integrand's mass lies between t = 0 and its place for exp(2 f), or f = 0 if that is nearer.
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

/// Calls add(f, weight) for the nodes of Gauss and Hermite of degree 7 for N(m, v); the weights add up to 1.
/// For functions that are analytic and bounded in a strip |Im f| < a, the error is below 7! (s / a)^14
/// (Abramowitz, Stegun 25.4.46).
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

/// True if that error is rounding for a strip of this half width a: s <= a / (10 pi).
inline bool few_nodes_suffice(double v, double strip) {
  constexpr double least_ratio = 10 * std::numbers::pi;
  return v * (least_ratio * least_ratio) <= strip * strip;
}

struct NormalRule {
  std::vector<double> nodes, weights;  // the weights add up to 1
  void reserve(std::size_t count) {
    nodes.reserve(count);
    weights.reserve(count);
  }
};

/// Writes these nodes as a list, with normalised weights.
inline void logistic_rule(double m, double v, NormalRule& rule) {
  rule.nodes.clear();
  rule.weights.clear();
  double sum = 0;
  visit_logistic_nodes(m, v, [&](double f, double weight) {
    rule.nodes.push_back(f);
    rule.weights.push_back(weight);
    sum += weight;
  });
  for (double& weight : rule.weights) weight /= sum;
}

/// Limit of a component's log variance: it is then almost flat, and its variance does not overflow.
inline constexpr double largest_log_variance = 600;

/// Returns log p(y). visit(add) calls add(mean, variance, weight) for each component; the weights need not be
/// normalised.
template <class Visit>
double log_normal_mixture(double y, Visit&& visit) {
  double top = -std::numeric_limits<double>::infinity(), sum = 0, total = 0;
  visit([&](double mean, double variance, double weight) {
    const double term = -(std::pow(y - mean, 2) / variance + std::log(variance)) / 2;
    total += weight;
    if (term > top) {
      sum = sum * std::exp(top - term) + weight;
      top = term;
    } else {
      sum += weight * std::exp(term - top);
    }
  });
  return top + std::log(sum / total) - std::log(2 * std::numbers::pi) / 2;
}

/// Returns log p(y) for independent targets, each with a mixture visit(c, add); missing ones (NaN) do not
/// count.
template <class Visit>
double log_normal_mixtures(Index targets, const double* y, Visit&& visit) {
  double result = 0;
  for (Index c = 0; c < targets; ++c)
    if (!std::isnan(y[c])) result += log_normal_mixture(y[c], [&](auto&& add) { visit(c, add); });
  return result;
}

}  // namespace bdl
