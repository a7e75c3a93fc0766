// The gradient of the exact ELBO over low-rank posteriors, without a D x D matrix.
#pragma once

#include "inference/exact/exact_elbo.hpp"
#include "posterior/low_rank/low_rank.hpp"

namespace bdl {

/// Derivatives of the loss -ELBO with respect to mu, U and d.
class LowRankGradient {
 public:
  /// At q, where the ELBO has just been evaluated. O(N D L).
  void compute(ExactElbo& elbo, const LowRankPosterior<double>& q);
  ConstSpan<double> mean() const { return mean_; }
  ConstMatrixView<double> u() const { return u_; }
  ConstSpan<double> d() const { return d_; }
  void reserve(Index dimension, Index rank, Index examples);

 private:
  void add_factor(ExactElbo& elbo, const LowRankPosterior<double>& q);
  ConstSpan<double> mean_;
  ConstMatrixView<double> u_;
  std::span<double> d_;
  Buffer<double> diagonal_, solved_, curved_, mixed_, projected_, weights_, small_;
};

}  // namespace bdl
