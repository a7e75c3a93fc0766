// Natural-gradient steps with Anderson's acceleration, for posteriors with full covariance whose ELBO is
// known up to the errors of its integrals only: these can be larger than what a step gains, so nothing here
// looks at the ELBO. Where steps crawl or swing to and fro, combinations of the last ones do not. Source:
// Walker and Ni 2011, "Anderson acceleration for fixed-point iterations".
#pragma once

#include <vector>

#include "posterior/full/full.hpp"
#include "train/exact/accelerated_steps.hpp"
#include "train/exact/fixed_point.hpp"

namespace bdl {

/// Returns q, or its only block, if that has a full covariance of all parameters; else null.
FullPosterior<double>* whole_covariance(Posterior<double>& q);

/// True for posteriors that Accelerated can search: a full covariance of all parameters.
bool has_whole_covariance(const Posterior<double>& q);

class Accelerated {
 public:
  /// Both must outlive it.
  Accelerated(ExactElbo& elbo, Posterior<double>& q);
  /// Takes steps until one is as short as the tolerance, in posterior standard deviations.
  SearchEnd run(double tolerance, const Iterated& iterated);

 private:
  /// The mean, and the lower triangle of the precision, as one vector, with the scales of its elements.
  using Point = std::vector<double>;
  Index size() const { return full_.dimension(); }
  Point point(const FullPosterior<double>& at) const;
  Point scales(const Point& x) const;
  bool move_to(const Point& x);
  bool find_step(const Point& x, Point& step);
  bool restart(const Point& x, Point& step);

  ExactElbo& elbo_;
  Posterior<double>& q_;
  FullPosterior<double>& full_;
  NaturalStep natural_;
  ExactElbo::Value value_;
  AcceleratedSteps steps_;
  double part_ = 1;
};

}  // namespace bdl
