// Natural-gradient steps on the exact ELBO, or fractions of them. A whole step is Lambda' = Lambda_0 + H
// and mu' = mu - Sigma' m, projected to the family if necessary; without projection, its fixed points are
// the stationary points of the ELBO.
#pragma once

#include <functional>
#include <memory>

#include "train/exact/exact_elbo.hpp"

namespace bdl {

/// Function that is called after each iteration with the new posterior; it returns true to end the search.
using Iterated = std::function<bool(const Posterior<double>& q, const ExactElbo::Value& value)>;

/// Ends of a search: the optimum, the caller's wish, or no further progress.
enum class SearchEnd { converged, stopped, stuck };

/// Returns how a search ended that makes no progress at this length of the natural gradient: converged if
/// rounding hides a near optimum, else stuck.
SearchEnd end_of_search(double length);

/// The natural-gradient step from q at the evaluation before it.
class NaturalStep {
 public:
  /// Both arguments must outlive it.
  NaturalStep(ExactElbo& elbo, Posterior<double>& q, const ProjectionOptions& projection);
  /// Makes next() what a fraction of the whole step makes of q. Fails with ERROR_DIVERGED if there is none.
  void take(double part);
  Posterior<double>& next() { return *next_; }
  /// Returns the size of the whole step, of which next() is this fraction: the larger of the mean's shift in
  /// posterior standard deviations, sqrt(dmu^T Sigma^-1 dmu), and the largest relative change of
  /// diag(Sigma^-1).
  double length(double part);

 private:
  ExactElbo& elbo_;
  Posterior<double>& q_;
  ProjectionOptions projection_;
  std::unique_ptr<Posterior<double>> next_;
  Scratch scratch_;
  Buffer<double> shift_, old_diagonal_, new_diagonal_;
};

class FixedPoint {
 public:
  /// Both arguments must outlive it.
  FixedPoint(ExactElbo& elbo, Posterior<double>& q, const ProjectionOptions& projection);

  /// Evaluates the ELBO at q before the first step.
  void begin() { value_ = elbo_.evaluate(q_); }
  /// Does so, and returns true if q was moved to the optimum of the likelihood's quadratic, where the ELBO is
  /// higher.
  bool begin_by_quadratic();

  /// Takes a fraction of the whole step. Returns false, and leaves q unchanged, if the ELBO gains less than
  /// `least_gain`; if that is negative, near the optimum, short steps are always taken.
  bool step(double part, double least_gain);
  /// Returns the size of the whole step from the former q.
  double length() const { return length_; }
  const ExactElbo::Value& value() const { return value_; }

 private:
  bool try_step(double part, double least_gain);
  void accept();
  ExactElbo& elbo_;
  Posterior<double>& q_;
  NaturalStep natural_;
  ExactElbo::Value value_, next_value_;
  double length_ = 0;
};

/// Takes steps until they are shorter than the tolerance, for families that can hold Lambda_0 + H. Returns
/// `stuck` if steps gain little and get no shorter, or if only tiny fractions of a step raise the ELBO.
SearchEnd converge(FixedPoint& point, double tolerance, const Posterior<double>& q, const Iterated& iterated);

}  // namespace bdl
