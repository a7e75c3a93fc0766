// The two guards of docs/mathematics/guard.md, which option "guard" switches on.
//
// The leverage guard, in batches: no example may throw its own prediction past the point that its own loss
// asks for. Example i moves its own outputs by about -t e, where e = d(-log p) / df is its gradient there and
// t = alpha weight g^T Sigma g / |e|^2 (g its gradient by theta, alpha the rate). The guard scales its
// gradient by the largest s of a falling sequence with
//
//   a(s) = 2 [1 + (l(f - s t e) - l(f)) / (s t |e|^2)] <= c,
//
// so that its own loss would fall by the fraction 1 - c / 2 of what its gradient promises. On a quadratic
// loss, a is the length of the step in units of the Newton step. The guard holds back rare examples whose
// curvature has decayed, and confident mistakes whose curvature is none; directions that many examples share
// pass.
//
// The line search, in streams: with d the way from the mean mu_0 of the prior to the next one, the mean
// becomes mu_0 + s d for the largest s of 1, 1/2, ..., 2^-20, 0 with l(mu_0 + s d) + s^2 d^T Lambda d / 2 <=
// l(mu_0) up to rounding, where l is the loss of the observation and Lambda the precision of the prior.
// However far an update would move the mean, the posterior of that observation does not become less likely
// there.
#pragma once

#include "evidence/evidence.hpp"

namespace bdl {

/// The gradient's coefficients c_r, scaled where the guard holds an example back; in scratch memory.
template <class T>
struct GuardedCoefficients {
  ConstSpan<T> c;
  bool held;  ///< true if any was scaled
};

/// The leverage guard, for a step of the mean by rate Sigma g with the Sigma of `metric`; c is `limit`.
template <class T>
GuardedCoefficients<T> guard_examples(const Likelihood& likelihood, const Evidence<T>& evidence,
                                      const Posterior<T>& metric, double rate, double limit,
                                      Scratch& scratch);

/// Returns s for one example: outputs f, targets y and gradient e (C values each, y as the likelihood has
/// them), t as above. `moved` has room for C values.
double kept_fraction(const Likelihood& likelihood, const double* f, const double* y, const double* e,
                     double t, double limit, double* moved);

/// The line search: l is averaged over the points where the evidence about `from` was found, by an estimate
/// of this kind. Examples x are columns, missing targets NaN. Returns true if s < 1.
template <class T>
bool guard_observation(const Model<T>& model, const Posterior<T>& prior, const Posterior<T>& from,
                       const Evidence<T>& evidence, EstimateKind kind, ConstMatrixView<T> x, Scratch& scratch,
                       Posterior<T>& next);

}  // namespace bdl
