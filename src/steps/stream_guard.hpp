// The line search of streams (docs/mathematics/guard.md, "The line search of streams"): however far the
// update of an observation would move the mean, the posterior of that observation does not become less likely
// there.
#pragma once

#include "steps/evidence.hpp"

namespace bdl {

/// With d the way from the mean mu of `prior` to that of `next`, and l(mu) the loss -log p(y | mu), averaged
/// over the points where the evidence about `from` was found: moves next's mean to mu + s d for the largest s
/// of 1, 1/2, ..., 2^-20, 0 with l(mu + s d) + s^2 d^T Lambda d / 2 <= l(mu) up to rounding, Lambda the
/// precision of `prior`. Examples x are columns, missing targets NaN. Returns true if s < 1.
template <class T>
bool hold_back(const Model<T>& model, const Posterior<T>& prior, const Posterior<T>& from,
               const Evidence<T>& evidence, EstimateKind kind, ConstMatrixView<T> x, Scratch& scratch,
               Scratch& posterior_scratch, Posterior<T>& next);

}  // namespace bdl
