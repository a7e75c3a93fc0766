// Two algorithms of "bong-golden-1" that the official BONG code has and the library has not. The evidence is
// the library's; what differs is computed here.
#pragma once

#include "bong_problem.hpp"

namespace golden {

/// Entries "|literal": plain gradients of the full family before the matrix gradient is made symmetric.
/// Returns the largest error.
double replay_literal(const Json& problem, const Algorithm& algorithm, const Json& result, bdl_model* model);

/// Entries "|jitter": class probabilities p are linearised instead of logits, and jitter is added to their
/// covariance. A Gaussian custom model of unit noise has the outputs L^-1 (p - y) for L L^T = diag p - p p^T
/// + jitter I at the linearisation, with the one-hot y among its inputs and targets 0. It uses `classifier`,
/// which must outlive it.
Owned<bdl_model> make_probability_model(const bdl_model* classifier, double jitter);

}  // namespace golden
