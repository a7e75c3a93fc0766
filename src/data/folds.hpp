// Folds of K-fold cross-validation.
#pragma once

#include <vector>

#include "base/view.hpp"

namespace bdl {

/// Returns the fold of each row: the remainder of its place in a random order. Sizes differ by at most one.
std::vector<Index> folds_of_rows(Index rows, Index folds, std::uint64_t seed);

/// Rows of each fold, in their order. Fold k is tested after training on folds k + 1, k + 2, ..., 0, ..., k
/// - 1.
class Folds {
 public:
  Folds(Index rows, Index folds, std::uint64_t seed);
  Index rows() const { return rows_; }
  ConstSpan<Index> train(Index fold) const;
  ConstSpan<Index> test(Index fold) const;

 private:
  Index rows_;
  std::vector<Index> starts_;  // starts of the folds, and the end
  std::vector<Index> order_;   // all rows twice, so that the training rows of a fold follow it without a gap
};

}  // namespace bdl
