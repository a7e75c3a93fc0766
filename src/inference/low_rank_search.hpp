// The ELBO's maximum over low-rank posteriors of one rank (0: diagonal ones), by L-BFGS over (mu, U, log d).
#pragma once

#include "inference/fixed_point.hpp"
#include "inference/low_rank_chart.hpp"

namespace bdl {

/// Derivatives of the loss -ELBO with respect to mu, U and log d.
class LowRankGradient {
 public:
  /// At q, where the ELBO has just been evaluated. O(N D L).
  void compute(const ExactElbo& elbo, const LowRankPosterior<double>& q);
  ConstSpan<double> mean() const { return mean_; }
  ConstMatrixView<double> u() const { return u_; }
  ConstSpan<double> log_d() const { return log_d_; }

 private:
  void add_factor(const ExactElbo& elbo, const LowRankPosterior<double>& q);
  ConstSpan<double> mean_;
  ConstMatrixView<double> u_;
  std::span<double> log_d_;
  Buffer<double> diagonal_, scaled_, solved_, curved_, mixed_, projected_, weights_, small_;
  PosteriorScratch<double> scratch_;
};

class LowRankSearch {
 public:
  /// All must outlive it.
  LowRankSearch(ExactElbo& elbo, LowRankPosterior<double>& q, double tolerance, const Iterated& iterated);
  SearchEnd run();

 private:
  enum class Values { computed, integrated };
  void restart();
  bool descend(Values values, double enough);
  double evaluate(ConstSpan<double> z, std::span<double> gradient);
  bool report(ConstSpan<double> z, ConstSpan<double> gradient);

  ExactElbo& elbo_;
  LowRankPosterior<double>& q_;
  double tolerance_;
  const Iterated& iterated_;
  LowRankChart chart_;
  LowRankGradient gradient_;
  bool stopped_ = false;
  // Of the current descent, whose coordinates are z / scale_ and whose function is the loss / scale_^2.
  double scale_ = 0, enough_ = 0;
  Values values_ = Values::computed;
  ExactElbo::Value start_, last_;
  std::vector<double> z_, here_, slope_here_;
  double value_here_ = 0;
};

}  // namespace bdl
