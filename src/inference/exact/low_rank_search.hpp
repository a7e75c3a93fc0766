// The ELBO's maximum over low-rank posteriors of one rank (0: diagonal ones), by L-BFGS over (mu, U, d).
#pragma once

#include "inference/exact/fixed_point.hpp"
#include "inference/exact/low_rank_chart.hpp"
#include "inference/exact/low_rank_gradient.hpp"

namespace bdl {

class LowRankSearch {
 public:
  /// All must outlive it. q moves while it runs.
  LowRankSearch(ExactElbo& elbo, LowRankPosterior<double>& q, double tolerance, const Iterated& iterated);
  /// Until the natural gradient is as short as the tolerance, or rounding leaves nothing more to be gained.
  SearchEnd run();
  /// Of one, beside ELBO and q, with what libLBFGS is known to take.
  static Index bytes(Index dimension, Index rank);

 private:
  LowRankSearch(ExactElbo& elbo, LowRankPosterior<double>& q, double tolerance, const Iterated& iterated,
                std::vector<double> typical);
  /// How differences of the loss are found: as they are, or (near the optimum, where that is rounding) from
  /// the gradients at both ends of each step.
  enum class Values { computed, integrated };
  void center();
  bool descend(Values values, double enough);
  double evaluate(ConstSpan<double> z, std::span<double> gradient);
  bool report(ConstSpan<double> z, ConstSpan<double> gradient);
  bool is_stuck(double value, double length);
  double integrated_change(ConstSpan<double> z, ConstSpan<double> gradient) const;

  ExactElbo& elbo_;
  LowRankPosterior<double>& q_;
  double tolerance_;
  const Iterated& iterated_;
  LowRankChart chart_;
  LowRankGradient gradient_;
  ExactElbo::Value start_, last_;
  bool stopped_ = false;

  // Of a descent from the chart's center, where the natural gradient has length scale_. Its variables z are
  // the chart's coordinates / scale_, its function the loss / scale_^2: both begin with a gradient of
  // length 1.
  double scale_ = 0, noise_ = 0, enough_ = 0;
  Values values_ = Values::computed;
  struct Points {
    Buffer<double> memory;
    void reserve(Index coordinates) { memory.reserve(3 * coordinates); }
  } points_;
  std::span<double> z_, here_, gradient_here_;  // points; here: at the last iteration
  double value_here_ = 0, lowest_ = 0, shortest_ = 0;
  int waiting_ = 0;
};

}  // namespace bdl
