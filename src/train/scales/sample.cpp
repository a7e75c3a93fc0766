#include "train/scales/sample.hpp"

#include <algorithm>
#include <vector>

#include "ranks/shard_sums.hpp"

namespace bdl {
namespace {

constexpr Index most_examples = 2048, most_bytes = Index{1} << 23;
/// Returns the largest number of curvature rows: n^3 flops of their matrix are affordable at each look. Each
/// of several targets needs about as many examples as one.
constexpr Index most_curved_rows(Index targets) {
  return targets == 1 ? 192 : 384;
}

/// Returns the position of the i-th of `count` evenly spaced ones among `all`.
Index spaced(Index i, Index count, Index all) {
  return part_of(i, count, all).first;
}

/// Gives all ranks all columns. Each rank has those of its shards; in sums over shards the others are 0.
template <class T>
void share_columns(Optimizer<T>& optimizer, Index shards, ConstSpan<IndexRange> of_shards,
                   MatrixView<T> columns) {
  const ConstSpan<double> sums = sum_over_shards(
      optimizer.team, optimizer.memory.shard_numbers, shards, columns.size(),
      [&](Index shard, std::span<double> out) {
        const auto [first, end] = of_shards[static_cast<std::size_t>(shard)];
        std::copy(columns.column_data(first), columns.column_data(end), out.begin() + first * columns.rows);
      });
  std::ranges::transform(sums, columns.data, [](double value) { return static_cast<T>(value); });
}

}  // namespace

template <class T>
EvidenceSample<T>::EvidenceSample(Optimizer<T>& optimizer, DataSet& data, Index shards)
    : data_rows_(data.rows()), inputs_(data.inputs()), targets_(data.targets()) {
  const auto bytes = static_cast<Index>(sizeof(T)) * (inputs_ + targets_);
  rows_ = std::min({data_rows_, most_examples, std::max<Index>(1, most_bytes / bytes)});
  curved_ = std::clamp<Index>(
      most_curved_rows(optimizer.model()->likelihood.targets()) / optimizer.model()->likelihood.means(), 1,
      rows_);
  std::vector<Index> list(static_cast<std::size_t>(rows_));
  for (Index i = 0; i < rows_; ++i) list[static_cast<std::size_t>(i)] = spaced(i, rows_, data_rows_);
  std::vector<IndexRange> of_shards;
  for (Index shard = 0, first = 0; shard < shards; ++shard) {
    const auto end = std::ranges::lower_bound(list, part_of(shard, shards, data_rows_).end) - list.begin();
    of_shards.push_back({first, end});
    first = end;
  }
  Team& team = optimizer.team;
  const ShardRange own = shards_of(team.rank(), team.size(), shards);
  const Index first = of_shards[static_cast<std::size_t>(own.first)].first,
              count = of_shards[static_cast<std::size_t>(own.end - 1)].end - first;
  const auto x = x_.matrix(inputs_, rows_), y = y_.matrix(targets_, rows_);
  if (count > 0)
    data.fetch(RowNumbers(ConstSpan<Index>(list).subspan(static_cast<std::size_t>(first),
                                                         static_cast<std::size_t>(count))),
               optimizer.model()->standardization, x.columns(first, count), y.columns(first, count));
  if (team.size() > 1) {
    share_columns(optimizer, shards, of_shards, x);
    share_columns(optimizer, shards, of_shards, y);
  }
  const auto curved_x = curved_x_.matrix(inputs_, curved_), curved_y = curved_y_.matrix(targets_, curved_);
  for (Index i = 0; i < curved_; ++i) {
    const Index from = spaced(i, curved_, rows_);
    std::ranges::copy(x.column(from), curved_x.column(i).begin());
    std::ranges::copy(y.column(from), curved_y.column(i).begin());
  }
}

template class EvidenceSample<float>;
template class EvidenceSample<double>;

}  // namespace bdl
