#include "data/folds.hpp"

#include <algorithm>

#include "rng/philox.hpp"

namespace bdl {
namespace {

/// Sample of Stream::search with step 0; points of trials have samples 0 and 1.
constexpr std::uint32_t fold_stream = 2;

}  // namespace

std::vector<Index> folds_of_rows(Index rows, Index folds, std::uint64_t seed) {
  std::vector<Index> order(static_cast<std::size_t>(rows)), fold(order.size());
  fill_permutation({seed, Stream::search, 0, fold_stream}, order);
  for (Index place = 0; place < rows; ++place)
    fold[static_cast<std::size_t>(order[static_cast<std::size_t>(place)])] = place % folds;
  return fold;
}

Folds::Folds(Index rows, Index folds, std::uint64_t seed) : rows_(rows) {
  const std::vector<Index> fold_of = folds_of_rows(rows, folds, seed);
  order_.reserve(2 * fold_of.size());
  for (Index fold = 0; fold < folds; ++fold) {
    starts_.push_back(static_cast<Index>(order_.size()));
    for (Index row = 0; row < rows; ++row)
      if (fold_of[static_cast<std::size_t>(row)] == fold) order_.push_back(row);
  }
  starts_.push_back(rows);
  order_.resize(2 * fold_of.size());
  std::copy_n(order_.begin(), rows, order_.begin() + rows);
}

ConstSpan<Index> Folds::test(Index fold) const {
  const auto k = static_cast<std::size_t>(fold);
  return ConstSpan<Index>(order_).subspan(static_cast<std::size_t>(starts_[k]),
                                          static_cast<std::size_t>(starts_[k + 1] - starts_[k]));
}

ConstSpan<Index> Folds::train(Index fold) const {
  const auto end = static_cast<std::size_t>(starts_[static_cast<std::size_t>(fold) + 1]);
  return ConstSpan<Index>(order_).subspan(end, static_cast<std::size_t>(rows_) - test(fold).size());
}

}  // namespace bdl
