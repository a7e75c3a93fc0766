// Coordinates of low-rank posteriors: their chart, and the derivatives of the loss by its coordinates.
#pragma once

#include "train/exact/coordinates.hpp"
#include "train/exact/low_rank/chart.hpp"
#include "train/exact/low_rank/gradient.hpp"

namespace bdl {

class LowRankCoordinates final : public Coordinates {
 public:
  /// Both arguments must outlive it. Moves q a little if it is a stationary point for any data.
  LowRankCoordinates(ExactElbo& elbo, LowRankPosterior<double>& q);
  Index size() const override { return chart_.size(); }
  void center() override { chart_.center(q_); }
  void place(ConstSpan<double> z, double scale) override { chart_.place(z, scale, q_); }
  ExactElbo::Value differentiate(std::span<double> gradient) override;

 private:
  LowRankCoordinates(ExactElbo& elbo, LowRankPosterior<double>& q, std::vector<double> typical);
  ExactElbo& elbo_;
  LowRankPosterior<double>& q_;
  LowRankChart chart_;
  LowRankGradient gradient_;
};

}  // namespace bdl
