// The line search of streams (spec/defaults.md, part 2): however far an observation's update would move the
// mean, its own posterior, at the mean, does not become less likely.
#pragma once

#include "model/model.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

/// Holds the memory of the search for one model.
template <class T>
class StreamGuard {
 public:
  explicit StreamGuard(const Model<T>& model) : model_(model) {}

  /// With d the way from the mean mu of `prior` to that of `next`: moves next's mean to mu + s d for the
  /// largest s of 1, 1/2, ..., 2^-20, 0 with -log p(y | mu + s d) + s^2 d^T Lambda d / 2 <= -log p(y | mu) up
  /// to rounding, Lambda the precision of `prior`. Examples are columns, missing targets NaN. Says whether s
  /// < 1.
  bool hold_back(const Posterior<T>& prior, ConstMatrixView<T> x, ConstMatrixView<T> y, Posterior<T>& next,
                 PosteriorScratch<T>& scratch);
  Index bytes(Index examples) const;

 private:
  struct Loss {
    double value, rounding;  ///< infinite where an output is not finite; what a term of it may be off by
  };
  Loss loss(ConstSpan<T> theta, ConstMatrixView<T> x, ConstMatrixView<T> y);
  const Model<T>& model_;
  Buffer<T> shift_, outputs_, forward_scratch_;
};

}  // namespace bdl
