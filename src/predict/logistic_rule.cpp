// The trapezoidal rule converges geometrically for functions analytic in a strip |Im t| <= a around the real
// line: its error is exp(-2 pi a / h) times the size of the integrand at the strip's edge. Logistic functions
// of f have their singularities at f = +-i pi, and are no larger than on the real line where |Im f| <= pi
// / 2.
#include "predict/logistic_rule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bdl {
namespace {

constexpr double reach = 9;       // of N(0, 1): exp(-9^2 / 2) < 1e-17
constexpr double exponent = 37;   // exp(-37) < 1e-16
constexpr double underflow = 39;  // exp(-39^2 / 2) is no double

/// In t, f = m + s t. The edge a = pi / (2 s) costs exp(a^2 / 2) for the complex Gaussian.
double linear_step(double strip) {
  const double a = std::min(strip, reach);
  return std::min(0.5, 2 * std::numbers::pi * a / (exponent + a * a / 2));
}

/// In u, f = sinh(u): the bend of width 1 at f = 0 and a Gaussian of any width s >= 1 take about as many
/// nodes each. The Gaussian costs exp(r^2 tan^2(a) / 2), r = |m| / s.
double sinh_step(double r) {
  return 0.4 / std::max(r, 5.0);
}

/// Nodes k h for all k h in [low, high]; place(k h) appends one.
template <class Place>
void place_nodes(double low, double high, double h, Place place) {
  const double last = std::ceil(high / h);
  for (double k = std::floor(low / h); k <= last; ++k) place(k * h);
}

void normalise(std::vector<double>& weights) {
  double sum = 0;
  for (const double w : weights) sum += w;
  for (double& w : weights) w /= sum;
}

}  // namespace

void logistic_rule(double m, double v, NormalRule& rule) {
  rule.nodes.clear();
  rule.weights.clear();
  const auto add = [&](double f, double weight) {
    rule.nodes.push_back(f);
    rule.weights.push_back(weight);
  };
  if (v == 0) return add(m, 1);
  // The integrand's mass lies between t = 0 and where it is for exp(2 f), beyond which the logistic bends at
  // f = 0.
  const double s = std::sqrt(v), r = std::abs(m) / s;
  const double shift = std::copysign(std::min({2 * s, r, underflow}), -m);
  const double low = std::min(0.0, shift) - reach, high = std::max(0.0, shift) + reach;
  const bool bends = r < std::min(2 * s + reach, underflow);
  if (s < 1 || !bends) {
    const double h = linear_step(bends ? std::numbers::pi / (2 * s) : reach);
    place_nodes(low, high, h, [&](double t) { add(m + s * t, std::exp(-t * t / 2)); });
  } else {
    place_nodes(std::asinh(m + s * low), std::asinh(m + s * high), sinh_step(r), [&](double u) {
      const double f = std::sinh(u), t = (f - m) / s;
      add(f, std::cosh(u) * std::exp(-t * t / 2));
    });
  }
  normalise(rule.weights);
}

}  // namespace bdl
