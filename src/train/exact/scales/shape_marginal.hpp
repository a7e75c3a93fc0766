// The posterior of theta alone, where it depends on the shape of the density: cut points c. Under a flat
// prior of c Laplace's method has the joint precision [Lambda, A; A^T, C] at the optimum, with the expected
// second derivatives A = sum_i w_i x_i E[d^2 l_i / df dc]^T and C = sum_i w_i E[d^2 l_i / dc dc^T], so theta
// has the precision Lambda - A C^-1 A^T (the Schur complement), as in the standard errors of maximum
// likelihood.
#pragma once

#include "train/exact/scales/learned_fit.hpp"

namespace bdl {

/// Replaces q's precision at the optimum by this one. Returns false, and leaves q, if nothing depends on the
/// shape, or q has no full covariance to hold it. Fails with ERROR_DIVERGED, and leaves q, if it is not
/// positive definite: data and prior do not tell coefficients from cut points.
bool integrate_shape(const LearnedFit& fit);

}  // namespace bdl
