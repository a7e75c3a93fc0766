// The line search of streams (docs/mathematics/guard.md, "The line search of streams"): however far an
// observation's update would move the mean, the observation's own posterior does not become less likely
// there.
#pragma once

#include "inference/evidence.hpp"

namespace bdl {

/// Holds the memory of the search for one model.
template <class T>
class StreamGuard {
 public:
  explicit StreamGuard(const Model<T>& model) : model_(model) {}

  /// With d the way from the mean mu of `prior` to that of `next`, and l(mu) the loss -log p(y | mu),
  /// averaged over the points where the update's evidence was found: moves next's mean to mu + s d for the
  /// largest s of 1, 1/2,
  /// ..., 2^-20, 0 with l(mu + s d) + s^2 d^T Lambda d / 2 <= l(mu) up to rounding, Lambda the precision of
  /// `prior`. Examples are columns, missing targets NaN. Says whether s < 1.
  bool hold_back(const Posterior<T>& prior, ConstMatrixView<T> x, ConstMatrixView<T> y,
                 const EvidencePoints<T>& points, Posterior<T>& next, PosteriorScratch<T>& scratch);
  /// Memory for hold_back() of so many examples, with evidence at samples or not.
  void reserve(const Posterior<T>& prior, Index examples, bool sampled, PosteriorScratch<T>& scratch);

 private:
  struct Loss {
    double value = 0, rounding = 0;  ///< infinite if an output is not finite; what the value may be off by
  };
  Loss loss(ConstSpan<T> mean, ConstMatrixView<T> x, ConstMatrixView<T> y, const EvidencePoints<T>& points);
  ConstMatrixView<T> outputs(ConstSpan<T> theta, ConstMatrixView<T> x);
  void add(ConstMatrixView<T> f, ConstMatrixView<T> y, ConstSpan<double> variances, Loss& sum);
  const Model<T>& model_;
  Buffer<T> shift_, theta_, outputs_, slope_;
  Scratch forward_scratch_;
};

}  // namespace bdl
