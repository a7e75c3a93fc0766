// A posterior's mean and covariance in the two families that hold any of them: as a whole, or its diagonal.
#pragma once

#include "posterior/diagonal/diagonal_moment.hpp"
#include "posterior/full/full_moment.hpp"

namespace bdl {

/// Returns the same Gaussian with a dense Sigma, exactly but for rounding.
template <class T>
std::unique_ptr<FullMomentPosterior<T>> full_covariance_of(const Posterior<T>& q);

/// Returns independent parameters with the same means and variances, the diagonal p with the smallest KL(q ||
/// p).
template <class T>
std::unique_ptr<DiagonalMomentPosterior<T>> marginals_of(const Posterior<T>& q);

}  // namespace bdl
