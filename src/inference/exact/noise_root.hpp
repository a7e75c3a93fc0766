// The noise precision of the greatest ELBO: the root of residual(t) = log best(t) - t over t = log tau, where
// best(t) is the precision that suits the posterior that tau = exp(t) leads to.
#pragma once

#include <cmath>

namespace bdl {

/// Steps t + residual, as in EM, are never too long, but few of the errors' squares that remain may be due to
/// noise, and then they crawl. Secants and brackets make them longer.
class NoiseRoot {
 public:
  /// Where to go on from t, which has this residual.
  double next(double t, double residual);
  /// Rounding has the last word: the residual is small, and has not halved for a while.
  bool is_settled() const;

 private:
  bool is_first_ = true;
  int waiting_ = 0;
  double t_ = 0, residual_ = 0, least_ = HUGE_VAL;
  double low_ = -HUGE_VAL, high_ = HUGE_VAL;  // the root is between them
};

}  // namespace bdl
