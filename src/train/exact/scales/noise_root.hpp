// Finds the noise precision of the greatest ELBO: the root of residual(t) = log best(t) - t over t = log
// tau, where best(t) maximises the ELBO for the optimal posterior at tau = exp(t).
#pragma once

#include <cmath>

namespace bdl {

/// A root finder by EM steps to t + residual, which never overshoot. They are short where most of the
/// squared error comes from the posterior's uncertainty; secants within a bracket lengthen them.
class NoiseRoot {
 public:
  /// Returns the next t to try, given the residual at t.
  double next(double t, double residual);
  /// True if only rounding is left: the bracket is narrow, and the residual no longer halves.
  bool is_settled() const;

 private:
  bool is_first_ = true;
  int waiting_ = 0;
  double t_ = 0, residual_ = 0, least_ = HUGE_VAL;
  double low_ = -HUGE_VAL, high_ = HUGE_VAL;  // the root is between them
};

}  // namespace bdl
