#include "search/folds.hpp"

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

template <class T>
FoldedData<T>::FoldedData(const Array& x, const Array& y, Index folds, std::uint64_t seed)
    : rows_(x.rows), inputs_(x.cols), targets_(y.cols), x_(2 * x.rows * x.cols), y_(2 * y.rows * y.cols) {
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
  gather(x, order, x_.matrix(inputs_, 2 * rows_));
  gather(y, order, y_.matrix(targets_, 2 * rows_));
}

template <class T>
typename FoldedData<T>::Block FoldedData<T>::test(Index fold) const {
  const auto k = static_cast<std::size_t>(fold);
  return {starts_[k], starts_[k + 1] - starts_[k]};
}

template <class T>
typename FoldedData<T>::Block FoldedData<T>::train(Index fold) const {
  const Block left_out = test(fold);
  return {left_out.first + left_out.count, rows_ - left_out.count};
}

template class FoldedData<float>;
template class FoldedData<double>;

}  // namespace bdl
