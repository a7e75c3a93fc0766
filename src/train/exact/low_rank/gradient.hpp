// The gradient of the exact ELBO over low-rank posteriors, without a D x D matrix.
#pragma once

#include "posterior/low_rank/low_rank.hpp"
#include "train/exact/exact_elbo.hpp"

namespace bdl {

/// Derivatives of the loss -ELBO by mu, U and d.
class LowRankGradient {
 public:
  /// Computes the derivatives at q, in O(N D L), and returns the ELBO there.
  ExactElbo::Value compute(ExactElbo& elbo, const LowRankPosterior<double>& q);
  ConstSpan<double> mean() const { return mean_; }
  ConstMatrixView<double> u() const { return u_; }
  ConstSpan<double> d() const { return d_; }
  void reserve(Index dimension, Index rank);

 private:
  ConstMatrixView<double> solve(const LowRankPosterior<double>& q);
  void add_factor(ExactElbo& elbo, const LowRankPosterior<double>& q);
  ConstSpan<double> mean_;
  ConstMatrixView<double> u_;
  std::span<double> d_;
  Buffer<double> diagonal_, solved_, curved_, mixed_, small_;
  Scratch scratch_;
};

}  // namespace bdl
