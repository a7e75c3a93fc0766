#include "data/folds.hpp"

#include <algorithm>

#include "rng/philox.hpp"

namespace bdl {
namespace {

/// Stream::search of step 0; points of trials are samples 0 and 1.
constexpr std::uint32_t fold_stream = 2;

}  // namespace

std::vector<Index> folds_of_rows(Index rows, Index folds, std::uint64_t seed) {
  std::vector<Index> order(static_cast<std::size_t>(rows)), fold(order.size());
  fill_permutation({seed, Stream::search, 0, fold_stream}, order);
  for (Index place = 0; place < rows; ++place)
    fold[static_cast<std::size_t>(order[static_cast<std::size_t>(place)])] = place % folds;
  return fold;
}

std::vector<Index> Folds::order_rows(Index folds, std::uint64_t seed) {
  const std::vector<Index> fold_of = folds_of_rows(rows_, folds, seed);
  std::vector<Index> order;
  order.reserve(2 * fold_of.size());
  for (Index fold = 0; fold < folds; ++fold) {
    starts_.push_back(static_cast<Index>(order.size()));
    for (Index row = 0; row < rows_; ++row)
      if (fold_of[static_cast<std::size_t>(row)] == fold) order.push_back(row);
  }
  starts_.push_back(rows_);
  order.resize(2 * fold_of.size());
  std::copy_n(order.begin(), rows_, order.begin() + rows_);
  return order;
}

Folds::Block Folds::test(Index fold) const {
  const auto k = static_cast<std::size_t>(fold);
  return {starts_[k], starts_[k + 1] - starts_[k]};
}

Folds::Block Folds::train(Index fold) const {
  const Block left_out = test(fold);
  return {left_out.first + left_out.count, rows_ - left_out.count};
}

template <class T>
FoldedData<T>::FoldedData(const Array& x, const Array& y, Index folds, std::uint64_t seed)
    : Folds(x.rows), x_columns_(2 * x.rows * x.cols), y_columns_(2 * y.rows * y.cols) {
  const std::vector<Index> order = order_rows(folds, seed);
  const auto x_all = x_columns_.matrix(x.cols, 2 * x.rows), y_all = y_columns_.matrix(y.cols, 2 * y.rows);
  gather(x, order, x_all);
  gather(y, order, y_all);
  x_ = as_array<T>(x_all);
  y_ = as_array<T>(y_all);
}

template class FoldedData<float>;
template class FoldedData<double>;

}  // namespace bdl
