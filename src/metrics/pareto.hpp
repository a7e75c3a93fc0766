// Pareto-smoothed importance sampling (Vehtari, Simpson, Gelman, Yao, Gabry 2024).
#pragma once

#include <span>
#include <vector>

#include "base/view.hpp"

namespace bdl {

/// A generalised Pareto distribution with location 0: P(X > x) = (1 + k x / sigma)^(-1 / k).
struct ParetoFit {
  double shape, scale;  // k is infinite if there is none
};

/// Fits it to sorted numbers >= 0 by the empirical Bayes estimate of Zhang and Stephens (2009), with k drawn
/// towards 1/2 as ten observations would (Vehtari et al. 2024).
ParetoFit fit_pareto(ConstSpan<double> sorted);

/// Smooths importance ratios, one set after the other.
class ParetoSmoother {
 public:
  explicit ParetoSmoother(Index draws);
  /// Replaces log ratios by the logs of smoothed weights whose sum is 1, and returns the shape k: 0 if the
  /// largest ratios are equal, infinite if there are too few draws.
  double operator()(std::span<double> log_ratios);

 private:
  std::size_t tail_;
  std::vector<std::size_t> order_;
  std::vector<double> excess_;
};

/// Returns log sum_s exp(value_s).
double log_sum_exp(ConstSpan<double> values);

}  // namespace bdl
