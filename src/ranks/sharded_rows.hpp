// Curvature rows of a whole data set of which each rank reads its shards. Sums over rows are added up
// over the shards in the order of their tree; results that have a column per row are sent to all ranks.
#pragma once

#include "curvature/data_rows.hpp"
#include "ranks/row_messages.hpp"
#include "ranks/shard_exchange.hpp"
#include "ranks/tree_sums.hpp"

namespace bdl {

/// All ranks call the same operations in the same order, within Team::telling; each begins with a vote.
template <class T>
class ShardedRows final : public Rows<T> {
 public:
  /// All arguments must outlive it.
  ShardedRows(const Model<T>& model, ConstSpan<T> theta, DataSet& data, const SeedSpec& seeds, Team& team,
              Index shards);

  /// Returns the weights w_r of all rows.
  ConstSpan<T> weights() const { return weights_.first(count()); }

  Index dimension() const override { return sums_.chunks().theta().rows; }
  Index count() const override { return sums_.rows(); }
  void sum_squares(ConstSpan<T> w, std::span<T> out) override;
  void project(ConstMatrixView<T> u, MatrixView<T> out) override;
  void combine(ConstMatrixView<T> w, MatrixView<T> out) override;
  void add_outer(ConstSpan<T> w, MatrixView<double> out) override;
  /// Returns a cost at which no Gram matrix is chosen: data sets with few rows use ShardEstimates.
  RowsCost cost() const override;
  void sum(ConstSpan<T> c, std::span<T> out) override {
    combine({c.data(), count(), 1}, {out.data(), dimension(), 1});
  }

 private:
  ShardRange examples_of(Index shard) const { return part_of(shard, shards_, sums_.chunks().data().rows()); }
  template <class Fill>
  void share_columns(MatrixView<T> all, Fill&& fill);
  template <class S, class Fill>
  ConstSpan<S> add_shards(TreeSums<S>& sums, Index values, Fill&& fill);

  Team& team_;
  Index shards_;
  DataSums<T> sums_;
  TreeSums<T> vectors_;
  TreeSums<double> matrix_;
  ShardExchange<T> exchange_;
  Buffer<T> weights_;
};

/// The rows of a data set that is small enough to hold all of them on every rank: each rank estimates the
/// examples of its shards, and all ranks join the results.
template <class T>
class ShardEstimates {
 public:
  /// The model must outlive it.
  explicit ShardEstimates(const Model<T>& model)
      : model_(model), estimator_(make_estimator(model)), messages_(model) {}
  /// All ranks call it, within Team::telling; the estimate lives until the next call.
  Estimate<T> join(ConstSpan<T> theta, DataSet& data, const SeedSpec& seeds, Team& team, Index shards);

 private:
  void write(ConstSpan<T> theta, DataSet& data, const SeedSpec& seeds, const ShardRange& examples,
             std::span<T> out);
  const Model<T>& model_;
  std::unique_ptr<Estimator<T>> estimator_;
  RowMessages<T> messages_;
  ShardExchange<T> exchange_;
  Buffer<T> x_, y_;
};

}  // namespace bdl
