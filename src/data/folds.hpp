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
class Folds {
 public:
  virtual ~Folds() = default;
  Index rows() const { return rows_; }
  Array x_train(Index fold) const { return part(x_, train(fold)); }
  Array y_train(Index fold) const { return part(y_, train(fold)); }
  Array x_test(Index fold) const { return part(x_, test(fold)); }
  Array y_test(Index fold) const { return part(y_, test(fold)); }

 protected:
  explicit Folds(Index rows) : rows_(rows) {}
  /// Numbers of all rows, twice.
  std::vector<Index> order_rows(Index folds, std::uint64_t seed);
  Array x_, y_;  // in that order

 private:
  struct Block {
    Index first, count;
  };
  Block test(Index fold) const;
  Block train(Index fold) const;
  static Array part(const Array& all, Block block) { return rows_of(all, block.first, block.count); }
  Index rows_;
  std::vector<Index> starts_;  // of the folds, and the end
};

/// Holds the numbers as T, which may be wider than a model's: standardising them there loses nothing.
template <class T>
class FoldedData final : public Folds {
 public:
  FoldedData(const Array& x, const Array& y, Index folds, std::uint64_t seed);
  FoldedData(const FoldedData&) = delete;
  FoldedData& operator=(const FoldedData&) = delete;

 private:
  Buffer<T> x_columns_, y_columns_;  // one example per column
};

}  // namespace bdl
