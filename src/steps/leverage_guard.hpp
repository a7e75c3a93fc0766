// The leverage guard (docs/mathematics/guard.md): no example may throw its own prediction past the point that
// its own loss asks for. Example i moves its own outputs by about -t e, where e = d(-log p) / df is its
// gradient there and t = alpha weight g^T Sigma g / |e|^2 (g its gradient by theta, alpha the rate). The
// guard scales its gradient by the largest s of a falling sequence with
//
//   a(s) = 2 [1 + (l(f - s t e) - l(f)) / (s t |e|^2)] <= c,
//
// so that its own loss would fall by the fraction 1 - c / 2 of what its gradient promises. On a quadratic
// loss, a is the length of the step in units of the Newton step. The guard holds back rare examples whose
// curvature has decayed and confident mistakes whose curvature is none; directions that many examples share
// pass.
#pragma once

#include "posterior/leverages.hpp"
#include "steps/evidence.hpp"

namespace bdl {

template <class T>
class LeverageGuard {
 public:
  /// Returns the coefficients c_r of the evidence's gradient, scaled where the guard holds an example back,
  /// for a step of the mean by rate Sigma g with the Sigma of `metric`. They live in scratch memory.
  ConstSpan<T> scale(const Likelihood& likelihood, const Evidence<T>& evidence, const Posterior<T>& metric,
                     double rate, double limit, Scratch& scratch);
  /// True if the last scale() held anything back.
  bool has_held() const { return held_; }

 private:
  bool held_ = false;
};

/// Returns s for one example: outputs f, targets y and gradient e (C values each, y as the likelihood has
/// them), t as above. `moved` has room for C values.
double kept_fraction(const Likelihood& likelihood, const double* f, const double* y, const double* e,
                     double t, double limit, double* moved);

}  // namespace bdl
