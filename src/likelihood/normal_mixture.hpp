// Mixtures of normal distributions, whose components come one after the other.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include "base/view.hpp"

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

/// log p(y) of independent targets with a mixture each, visit(c, add); missing ones (NaN) do not count.
template <class Visit>
double log_normal_mixtures(Index targets, const double* y, Visit&& visit) {
  double result = 0;
  for (Index c = 0; c < targets; ++c)
    if (!std::isnan(y[c])) result += log_normal_mixture(y[c], [&](auto&& add) { visit(c, add); });
  return result;
}

}  // namespace bdl
