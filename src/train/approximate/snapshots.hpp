// Running moments of the parameter vectors that SWAG collects during a descent.
#pragma once

#include "base/view.hpp"

namespace bdl {

/// Running mean t1; sum of squared deviations from it, so that the mean square t2 = t1^2 + sum / n loses no
/// digits; and the last J deviations from the running mean. TrainingState holds their number n.
template <class T>
class Snapshots {
 public:
  /// Takes the memory that add() needs, so that none fails between steps.
  void hold(Index dimension, Index rank) { mean(dimension), squares(dimension), deviations(dimension, rank); }
  /// Adds a snapshot, after n others.
  void add(ConstSpan<T> theta, Index n, Index rank);

  std::span<double> mean(Index dimension) { return mean_.first(dimension); }
  std::span<double> squares(Index dimension) { return squares_.first(dimension); }
  MatrixView<T> deviations(Index dimension, Index rank) { return deviations_.matrix(dimension, rank); }
  ConstSpan<double> mean(Index dimension) const { return mean_.first(dimension); }
  ConstSpan<double> squares(Index dimension) const { return squares_.first(dimension); }
  ConstMatrixView<T> deviations(Index dimension, Index rank) const {
    return deviations_.matrix(dimension, rank);
  }

 private:
  Buffer<double> mean_, squares_;
  Buffer<T> deviations_;
};

}  // namespace bdl
