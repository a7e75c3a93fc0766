// The data of K-fold cross-validation, gathered once: in the order of the folds and twice over, so that
// whatever is not in a fold stands side by side behind it.
#pragma once

#include <vector>

#include "base/array.hpp"

namespace bdl {

/// Which fold each row is in: the remainder of its place in a random order. Sizes differ by at most one.
std::vector<Index> folds_of_rows(Index rows, Index folds, std::uint64_t seed);

/// Rows keep their order within a fold. What trains against fold k are the folds k + 1, k + 2, ... and then
/// 0, 1, ..., k - 1.
template <class T>
class FoldedData {
 public:
  FoldedData(const Array& x, const Array& y, Index folds, std::uint64_t seed);
  Index rows() const { return rows_; }
  Array x_train(Index fold) const { return part(x_, inputs_, train(fold)); }
  Array y_train(Index fold) const { return part(y_, targets_, train(fold)); }
  Array x_test(Index fold) const { return part(x_, inputs_, test(fold)); }
  Array y_test(Index fold) const { return part(y_, targets_, test(fold)); }

 private:
  struct Block {
    Index first, count;
  };
  Block test(Index fold) const;
  Block train(Index fold) const;
  Array part(const Buffer<T>& columns, Index height, Block block) const {
    return as_array(columns.matrix(height, 2 * rows_).columns(block.first, block.count));
  }
  Index rows_, inputs_, targets_;
  std::vector<Index> starts_;  // of the folds, and the end
  Buffer<T> x_, y_;            // one example per column
};

}  // namespace bdl
