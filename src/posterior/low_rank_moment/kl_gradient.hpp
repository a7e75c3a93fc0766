// KL(q || N(m, diag(1 / lambda))) of a low-rank-moment posterior by its parameters
// (docs/mathematics/gaussians.md, "Low rank plus diagonal covariance").
#pragma once

#include "posterior/low_rank_moment/low_rank_moment.hpp"

namespace bdl {

/// Where the derivatives go; what is empty is not computed.
template <class T>
struct LowRankMomentGradient {
  std::span<T> mean{};       ///< lambda (mu - m)
  MatrixView<T> low_rank{};  ///< by W: lambda W - diag(1/s) W C^-1
  std::span<T> log_sigma{};  ///< by log sqrt(s): lambda s - (1 - h), h_d in [0, 1)
};

/// Memory for kl_gradient(), which allocates nothing then.
template <class T>
void reserve_kl_gradient(const LowRankMomentPosterior<T>& q, TallScratch& scratch) {
  scratch.reserve(q.dimension(), q.rank(), 0);
}

/// Writes the derivatives; an empty prior mean is 0. O(D K^2), one pass over W. Points are parameters like
/// others here.
template <class T>
void kl_gradient(const LowRankMomentPosterior<T>& q, ConstSpan<T> prior_mean, ConstSpan<T> prior_precision,
                 const LowRankMomentGradient<T>& out, TallScratch& scratch);

/// By parameters `first` and following, as many as there are prior precisions: the same bits.
template <class T>
void kl_gradient_from(const LowRankMomentPosterior<T>& q, Index first, ConstSpan<T> prior_mean,
                      ConstSpan<T> prior_precision, const LowRankMomentGradient<T>& out,
                      TallScratch& scratch);

}  // namespace bdl
