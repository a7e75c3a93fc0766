// Mixtures of normal distributions, whose components come one after the other.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>

namespace bdl {

/// Of components that are nearly flat: their weights count, their variances must not overflow.
inline constexpr double largest_log_variance = 600;

/// log p(y); visit(add) calls add(mean, variance, weight) for each component, the weights to be divided by
/// their sum.
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

}  // namespace bdl
