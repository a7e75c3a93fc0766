// K-fold cross-validation: which examples train and which are left out.
#pragma once

#include <vector>

#include "base/view.hpp"

namespace bdl {

/// Which fold each row is in: the remainder of its place in a random order. Sizes differ by at most one.
std::vector<Index> folds_of_rows(Index rows, Index folds, std::uint64_t seed);

/// Rows keep their order within a fold. What trains against fold k are the folds k + 1, k + 2, ... and then
/// 0, 1, ..., k - 1.
class Folds {
 public:
  Folds(Index rows, Index folds, std::uint64_t seed);
  Index rows() const { return rows_; }
  ConstSpan<Index> train(Index fold) const;
  ConstSpan<Index> test(Index fold) const;

 private:
  Index rows_;
  std::vector<Index> starts_;  // of the folds, and the end
  std::vector<Index> order_;   // twice over, so that what is not in a fold stands side by side behind it
};

}  // namespace bdl
