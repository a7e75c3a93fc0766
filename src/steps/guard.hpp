// The two guards of docs/theory/guard.md, which option "guard" switches on.
//
// The leverage guard works in batches: no example may move its own outputs beyond what its own loss asks
// for. Example i moves its outputs f by about -t e, where e = d(-log p) / df is the gradient of its loss l
// there and t = alpha weight g^T Sigma g / |e|^2 (g: its gradient by theta, alpha: the rate). The guard
// scales the example's gradient by the first s of a falling sequence that begins with 1 and has
//
//   a(s) = 2 [1 + (l(f - s t e) - l(f)) / (s t |e|^2)] <= c.
//
// Its loss then falls by at least the fraction 1 - c / 2 of what its gradient promises. On a quadratic
// loss, a(s) is the length of the step in units of the Newton step. The guard holds back rare examples
// whose curvature has decayed, and confident mistakes, which have hardly any curvature; it leaves
// directions alone that many examples share.
//
// The line search works in streams. Let d be the next mean minus the prior's mean mu_0, l the loss of the
// observation and Lambda the prior's precision. The mean becomes mu_0 + s d for the largest s of 1, 1/2,
// ..., 2^-20, 0 with l(mu_0 + s d) + s^2 d^T Lambda d / 2 <= l(mu_0) up to rounding. So the posterior
// density of the new mean, after that observation, is not below that of the old mean.
#pragma once

#include "evidence/evidence.hpp"

namespace bdl {

/// Coefficients c_r of the gradient, scaled for examples that the guard holds back.
template <class T>
struct GuardedCoefficients {
  ConstSpan<T> c;
  bool held;  ///< true if any coefficient was scaled
};

/// Applies the leverage guard, with c = limit, to a step of the mean by rate Sigma g, where Sigma is the
/// covariance of `metric`. The result stands in scratch memory, or in the evidence if nothing was scaled.
template <class T>
GuardedCoefficients<T> guard_examples(const Likelihood& likelihood, const Evidence<T>& evidence,
                                      const Posterior<T>& metric, double rate, double limit,
                                      Scratch& scratch);

/// Returns s for one example with outputs f, targets y, gradient e and t as above. f and e have C values, y
/// as many as the likelihood has targets; `moved` is memory for C values.
double kept_fraction(const Likelihood& likelihood, const double* f, const double* y, const double* e,
                     double t, double limit, double* moved);

/// Applies the line search to the mean of `next`; returns true if s < 1. The loss l is estimated as the
/// evidence about `from` was, by this kind. The columns of x are the examples' inputs.
template <class T>
bool guard_observation(const Model<T>& model, const Posterior<T>& prior, const Posterior<T>& from,
                       const Evidence<T>& evidence, EstimateKind kind, ConstMatrixView<T> x, Scratch& scratch,
                       Posterior<T>& next);

}  // namespace bdl
