#include "ranks/sharded_rows.hpp"

#include <algorithm>
#include <limits>

#include "base/interrupt.hpp"

namespace bdl {

template <class T>
ShardedRows<T>::ShardedRows(const Model<T>& model, ConstSpan<T> theta, DataSet& data, const SeedSpec& seeds,
                            Team& team, Index shards)
    : team_(team), shards_(shards), sums_(model, theta, data, seeds, (data.rows() + shards - 1) / shards) {
  weights_.reserve(count());
  share_columns(weights_.matrix(1, count()),
                [&](const ShardRange& examples) { sums_.write_weights(examples, weights_.first(count())); });
}

/// Calls fill(examples), which writes the columns of `all` for the rows of a local shard; other shards'
/// columns come from their ranks.
template <class T>
template <class Fill>
void ShardedRows<T>::share_columns(MatrixView<T> all, Fill&& fill) {
  const auto columns = [&](Index shard) {
    const ShardRange rows = sums_.rows_of(examples_of(shard));
    return all.columns(rows.first, rows.count());
  };
  exchange_.share(
      team_, shards_, [&](Index shard) { return columns(shard).size(); },
      [&](const ShardRange& own) {
        for (Index shard = own.first; shard < own.end; ++shard) fill(examples_of(shard));
      },
      [&](Index shard, T* to) {
        const MatrixView<T> from = columns(shard);
        for (Index r = 0; r < from.cols; ++r) to = std::ranges::copy(from.column(r), to).out;
      },
      [&](Index shard, const T* from) {
        const MatrixView<T> to = columns(shard);
        for (Index r = 0; r < to.cols; ++r, from += to.rows) std::copy_n(from, to.rows, to.column_data(r));
      });
}

/// Returns the sum over all shards. Calls fill(examples, out) for each local shard that has examples.
template <class T>
template <class S, class Fill>
ConstSpan<S> ShardedRows<T>::add_shards(TreeSums<S>& sums, Index values, Fill&& fill) {
  sums.reserve(team_.rank(), team_.size(), shards_, values, 0);
  add_up(team_, sums, [&](Index shard, std::span<S> out) {
    const ShardRange examples = examples_of(shard);
    std::ranges::fill(out, S(0));
    if (examples.count() > 0) fill(examples, out);
  });
  return sums.values();
}

template <class T>
void ShardedRows<T>::sum_squares(ConstSpan<T> w, std::span<T> out) {
  const auto sums = add_shards(vectors_, dimension(), [&](const ShardRange& examples, std::span<T> of_shard) {
    sums_.sum_squares(examples, w, of_shard);
  });
  std::ranges::copy(sums, out.begin());
}

template <class T>
void ShardedRows<T>::project(ConstMatrixView<T> u, MatrixView<T> out) {
  share_columns(out, [&](const ShardRange& examples) { sums_.project(examples, u, out); });
}

template <class T>
void ShardedRows<T>::combine(ConstMatrixView<T> w, MatrixView<T> out) {
  const auto sums =
      add_shards(vectors_, dimension() * w.cols, [&](const ShardRange& examples, std::span<T> of_shard) {
        sums_.combine(examples, w, {of_shard.data(), dimension(), w.cols});
      });
  const ConstMatrixView<T> from(sums.data(), dimension(), w.cols);
  for (Index k = 0; k < w.cols; ++k) std::ranges::copy(from.column(k), out.column_data(k));
}

template <class T>
void ShardedRows<T>::add_outer(ConstSpan<T> w, MatrixView<double> out) {
  const auto sums = add_shards(matrix_, dimension() * dimension(),
                               [&](const ShardRange& examples, std::span<double> of_shard) {
                                 sums_.add_outer(examples, w, {of_shard.data(), dimension(), dimension()});
                               });
  const ConstMatrixView<double> from(sums.data(), dimension(), dimension());
  for (Index j = 0; j < dimension(); ++j)
    for (Index i = j; i < dimension(); ++i) out(i, j) += from(i, j);
}

/// Returns the cost of the rows of all shards, since every rank must choose the same algorithm.
template <class T>
RowsCost ShardedRows<T>::cost() const {
  const DataChunks<T>& chunks = sums_.chunks();
  RowsCost cost = sums_.cost_of_chunk();
  cost.product_flops *= static_cast<double>(chunks.data().rows()) / static_cast<double>(chunks.examples());
  cost.count = count();
  cost.gram_flops = std::numeric_limits<double>::infinity();
  return cost;
}

template <class T>
Estimate<T> ShardEstimates<T>::join(ConstSpan<T> theta, DataSet& data, const SeedSpec& seeds, Team& team,
                                    Index shards) {
  std::vector<Index> sizes(static_cast<std::size_t>(shards));
  for (Index v = 0; v < shards; ++v)
    sizes[static_cast<std::size_t>(v)] = part_of(v, shards, data.rows()).count();
  team.attempt([&] {
    std::ranges::transform(sizes, exchange_.numbers(shards).begin(), [&](Index size) {
      return messages_.count(messages_.form({size, 1, seeds.kind}), size);
    });
    exchange_.reserve(team.rank(), team.size());
  });
  team.vote();
  team.attempt([&] {
    const ShardRange own = shards_of(team.rank(), team.size(), shards);
    for (Index v = own.first; v < own.end; ++v)
      write(theta, data, seeds, part_of(v, shards, data.rows()), exchange_.own(v));
  });
  exchange_.gather(team);
  if (team.size() == 1) team.vote();
  return messages_.join(messages_.form({data.rows(), 1, seeds.kind}), sizes, exchange_.shards());
}

template <class T>
void ShardEstimates<T>::write(ConstSpan<T> theta, DataSet& data, const SeedSpec& seeds,
                              const ShardRange& examples, std::span<T> out) {
  check_interrupt();
  if (examples.count() == 0) return;
  const auto x = x_.matrix(data.inputs(), examples.count()), y = y_.matrix(data.targets(), examples.count());
  data.fetch({examples.first, examples.count()}, model_.standardization, x, y);
  SeedSpec own = seeds;
  own.labels.sample += static_cast<std::uint32_t>(examples.first);
  const Estimate<T> estimate = estimator_->estimate({theta.data(), std::ssize(theta), 1}, x, y, own);
  messages_.write(messages_.form({examples.count(), 1, seeds.kind}), estimate, x, estimator_->outputs(),
                  estimator_->tape(), out);
}

template class ShardedRows<float>;
template class ShardedRows<double>;
template class ShardEstimates<float>;
template class ShardEstimates<double>;

}  // namespace bdl
