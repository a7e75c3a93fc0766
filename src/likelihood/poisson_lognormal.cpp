// Trapezoidal sums from the mode outwards (compare logistic_rule.cpp for the choice of steps). On the line
// Im f = b, |exp(y f - e^f)| is the same function on the real line, shifted by log cos b, times cos(b)^-y:
// the smaller of the widths of the Gaussian, 1, and of this factor, 1 / sqrt(y), decides.
#include "likelihood/poisson_lognormal.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bdl {
namespace {

constexpr double exponent = 37;  // exp(-37) < 1e-16

/// Step in t for exp(-t^2 / 2) exp(y f - e^f), f = m + s t.
double step_size(double s, double y) {
  const double a = std::min(std::sqrt(2 * exponent / (1 + s * s * y)), 1 / s);
  const double h = 2 * std::numbers::pi * a / (exponent + a * a / 2 - y * std::log(std::cos(s * a)));
  return std::min(h, 0.5);
}

/// h (value(0) + value(h) + value(-h) + ...) until nothing more is added; value is unimodal. Some hundred
/// terms; the bound is for what is no number.
template <class Value>
double sum_outwards(double h, Value value) {
  constexpr double most_terms = 1e5;
  double sum = value(0.0);
  for (const double direction : {h, -h})
    for (double k = 1, term = 1; term > 1e-18 * sum && k < most_terms; ++k)
      sum += term = value(k * direction);
  return h * sum;
}

/// The root of s (y - e^f) - t, f = m + s t, which is decreasing and concave: Newton from its right goes
/// straight to it.
double mode(double m, double s, double y) {
  const double most = 700 - 2 * std::log(std::max(s, 1.0));  // s^2 e^f is a number
  double t = y > 0 ? std::clamp((std::log(y) - m) / s, 0.0, s * y) : 0.0;
  t = std::min(t, (most - m) / s);
  for (int i = 0; i < 2000; ++i) {
    const double rate = std::exp(m + s * t), curvature = 1 + s * s * rate;
    const double step = (s * (y - rate) - t) / curvature;
    t += step;
    if (step * step * curvature <= 1e-6) break;  // small next to the width
  }
  return t;
}

/// E[P(Y > count | f)] and its complement as sums over f: where f is narrow next to what the counts can tell.
CountTails tails_over_f(double m, double s, double count) {
  const double h = step_size(s, count + 1);
  CountTails sums{0, 0};
  double total = 0;
  const double last = std::ceil(9 / h);
  for (double k = -last; k <= last; ++k) {
    const double weight = std::exp(-k * h * k * h / 2);
    const CountTails tails = poisson_tails(count, std::exp(m + s * k * h));
    total += weight;
    sums.at_most += weight * tails.at_most;
    sums.above += weight * tails.above;
  }
  return {sums.at_most / total, sums.above / total};
}

/// Y <= count exactly when a variable G ~ Gamma(count + 1) exceeds e^f: sums over g = log G, whose density is
/// exp(a g - e^g) / Gamma(a) with a = count + 1 and mode log a.
CountTails tails_over_g(double m, double s, double count) {
  const double a = count + 1, center = std::log(a);
  const double density = a * std::exp(log_poisson(a, a));
  const auto tail = [&](double sign) {
    return density * sum_outwards(step_size(1, a + 1 / (s * s)), [&](double d) {
             return std::exp(-a * log_excess(std::expm1(d))) * normal_cdf(sign * (center + d - m) / s);
           });
  };
  return {tail(1), tail(-1)};
}

/// Beyond it, f is so wide that what it is next to a count of 0 takes too many terms.
constexpr double widest_for_zero = 8;

/// log(-z Phi(z) / phi(z)) for z <= -30, by the asymptotic series.
double log_mills(double z) {
  const double s = 1 / (z * z);
  return std::log1p(-s * (1 - s * (3 - s * (15 - s * (105 - s * (945 - s * 10395))))));
}

constexpr double asymptotic = -30;

double log_normal_cdf(double z) {
  if (z > asymptotic) return std::log(normal_cdf(z));
  return log_mills(z) - z * z / 2 - std::log(-z * std::sqrt(2 * std::numbers::pi));
}

/// log Phi(z) - log Phi(w), where z - w = `difference`.
double log_cdf_ratio(double z, double w, double difference) {
  if (z > asymptotic || w > asymptotic) return log_normal_cdf(z) - log_normal_cdf(w);
  return log_mills(z) - log_mills(w) - difference * (z + w) / 2 + std::log(w / z);
}

/// P(Y = 0) = P(f < g), g = log G with G ~ Gamma(1), as in tails_over_g(): the density exp(g - e^g) of g is
/// narrow whatever s is. The density's product with Phi((g - m) / s) has its mode near `center`.
double log_zero_over_g(double m, double s) {
  const double slope = std::max(0.0, m / s / s), center = std::log1p(slope), w = (center - m) / s;
  const double sum = sum_outwards(step_size(1, 1 + slope), [&](double d) {
    return std::exp(d - (1 + slope) * std::expm1(d) + log_cdf_ratio(w + d / s, w, d / s));
  });
  return center - (1 + slope) + log_normal_cdf(w) + std::log(sum);
}

}  // namespace

double log_poisson_lognormal(double m, double v, double count) {
  if (count == 0 && v > widest_for_zero * widest_for_zero) return log_zero_over_g(m, std::sqrt(v));
  const double s = std::sqrt(v), t = mode(m, s, count), f = m + s * t, rate = std::exp(f);
  const double h = step_size(s, count + std::abs(t) / s);
  const double sum = sum_outwards(h, [&](double u) {
    const double d = s * u;
    return std::exp(-u * u / 2 - t * u + count * d - rate * std::expm1(d));
  });
  return log_poisson(count, rate) - t * t / 2 + std::log(sum / std::sqrt(2 * std::numbers::pi));
}

CountTails poisson_lognormal_tails(double m, double v, double count) {
  if (std::isinf(count)) return {1, 0};
  const double s = std::sqrt(v);
  return s * s * (count + 1) < 1 ? tails_over_f(m, s, count) : tails_over_g(m, s, count);
}

}  // namespace bdl
