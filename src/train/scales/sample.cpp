#include "train/scales/sample.hpp"

#include <algorithm>
#include <vector>

#include "ranks/shard_sums.hpp"

namespace bdl {
namespace {

constexpr Index most_examples = 4096, most_bytes = Index{1} << 24;
/// Largest number of curvature rows: n^3 flops of their matrix are affordable at each look.
constexpr Index most_curved_rows = 192;

/// Returns the position of the i-th of `count` evenly spaced ones among `all`.
Index spaced(Index i, Index count, Index all) {
  return part_of(i, count, all).first;
}

/// Writes the examples of the list that are in the shard to their columns.
void read_shard(DataSet& data, const Standardization& units, ConstSpan<Index> list, const ShardRange& shard,
                MatrixView<double> columns) {
  const auto first = std::ranges::lower_bound(list, shard.first),
             end = std::ranges::lower_bound(list, shard.end);
  const Index count = end - first, before = first - list.begin();
  if (count == 0) return;
  Buffer<double> x(data.inputs() * count), y(data.targets() * count);
  const auto inputs = x.matrix(data.inputs(), count), targets = y.matrix(data.targets(), count);
  data.fetch(RowNumbers(ConstSpan<Index>(first, end)), units, inputs, targets);
  for (Index i = 0; i < count; ++i) {
    const auto column = columns.column(before + i);
    std::ranges::copy(targets.column(i), std::ranges::copy(inputs.column(i), column.begin()).out);
  }
}

}  // namespace

template <class T>
EvidenceSample<T>::EvidenceSample(Optimizer<T>& optimizer, DataSet& data, Index shards)
    : data_rows_(data.rows()), inputs_(data.inputs()), targets_(data.targets()) {
  const Index numbers = inputs_ + targets_,
              by_bytes = std::max<Index>(1, most_bytes / (numbers * static_cast<Index>(sizeof(double))));
  rows_ = std::min({data_rows_, most_examples, by_bytes});
  curved_ = std::clamp<Index>(most_curved_rows / optimizer.model()->likelihood.means(), 1, rows_);
  std::vector<Index> list(static_cast<std::size_t>(rows_));
  for (Index i = 0; i < rows_; ++i) list[static_cast<std::size_t>(i)] = spaced(i, rows_, data_rows_);
  const Standardization& units = optimizer.model()->standardization;
  const ConstSpan<double> sums = sum_over_shards(
      optimizer.team, optimizer.memory.shard_numbers, shards, numbers * rows_,
      [&](Index shard, std::span<double> out) {
        read_shard(data, units, list, part_of(shard, shards, data_rows_), {out.data(), numbers, rows_});
      });
  const ConstMatrixView<double> all(sums.data(), numbers, rows_);
  const auto copy = [&](Index from, MatrixView<T> x, MatrixView<T> y, Index to) {
    const double* const column = all.column_data(from);
    std::transform(column, column + inputs_, x.column_data(to), [](double v) { return static_cast<T>(v); });
    std::transform(column + inputs_, column + numbers, y.column_data(to),
                   [](double v) { return static_cast<T>(v); });
  };
  const auto x = x_.matrix(inputs_, rows_), y = y_.matrix(targets_, rows_);
  for (Index i = 0; i < rows_; ++i) copy(i, x, y, i);
  const auto curved_x = curved_x_.matrix(inputs_, curved_), curved_y = curved_y_.matrix(targets_, curved_);
  for (Index i = 0; i < curved_; ++i) copy(spaced(i, curved_, rows_), curved_x, curved_y, i);
}

template class EvidenceSample<float>;
template class EvidenceSample<double>;

}  // namespace bdl
