// Divides work on rows that every rank holds among the ranks: each shard computes its block of a result, and
// every rank receives the whole. Results are identical for any number of ranks.
#pragma once

#include <memory>
#include <vector>

#include "curvature/blocked_rows.hpp"
#include "network/outer_rows.hpp"
#include "ranks/shard_exchange.hpp"
#include "ranks/tree_sums.hpp"

namespace bdl {

/// The rows of a network, divided: each shard has a range of the outputs of every dense layer; any other
/// layer belongs whole to one shard. All ranks call the same operations in the same order. A divided
/// operation begins with a vote, by which a rank tells the others if it has failed since the last message.
template <class T>
class DividedRows final : public ExampleRows<T> {
 public:
  /// Sets the rows that are divided; they must outlive their use here.
  void assign(BlockedRows<T>& rows, Team& team, Index shards);

  Index dimension() const override { return rows_->dimension(); }
  Index count() const override { return rows_->count(); }
  void sum(ConstSpan<T> c, std::span<T> out) override;
  void sum_squares(ConstSpan<T> w, std::span<T> out) override;
  void gram(MatrixView<double> out) override;
  void project(ConstMatrixView<T> u, MatrixView<T> out) override;
  void combine(ConstMatrixView<T> w, MatrixView<T> out) override;
  void gradient_squares(ConstSpan<T> z, ConstSpan<T> v, std::span<double> out) override;
  RowsCost cost() const override { return rows_->cost(); }

  // Every rank computes these operations whole.
  void add_outer(ConstSpan<T> w, MatrixView<double> out) override { rows_->add_outer(w, out); }
  void write_row(Index r, Index first, std::span<T> out) const override { rows_->write_row(r, first, out); }
  Rows<T>& part(Index offset, Index size) override { return rows_->part(offset, size); }
  ExampleRows<T>& gradients(ConstSpan<T> z, ConstSpan<Index> which, Index n) override {
    return rows_->gradients(z, which, n);
  }

 private:
  /// A range of a dense layer: its weights to the outputs from `first` on, or its bias.
  struct Cut {
    const OuterRows<T>* layer;
    Index first;
    bool is_bias;
    std::unique_ptr<OuterRows<T>> rows;
  };
  struct Shard {
    std::vector<Cut> cuts;
    std::unique_ptr<BlockedRows<T>> rows;
    Index parameters = 0;
  };
  using Block = typename BlockedRows<T>::Block;
  void divide(const BlockedRows<T>& rows, const RowsSize& size, Index shards);
  static void cut(const OuterRows<T>& layer, Index offset, const ShardRange& outputs, bool has_bias,
                  Shard& shard, std::vector<Block>& blocks);
  Index gram_numbers(Index shard, Index count) const;
  template <class U, class Numbers>
  void size_exchange(ShardExchange<U>& exchange, const Team& team, Numbers&& numbers_of);
  template <class Work>
  void attempt(Work&& work);
  template <class Work>
  void begin(Work&& reserve);
  template <class Work>
  void spread(MatrixView<T> out, Work&& work);

  BlockedRows<T>* rows_ = nullptr;
  const BlockedRows<T>* divided_ = nullptr;  // the rows that shards_ were made from
  Team* team_ = nullptr;
  std::vector<Shard> shards_;
  bool divides_gram_ = false;  // true if gram() is divided, since all layers are dense
  TreeSums<T> sums_;
  ShardExchange<T> parameters_;
  ShardExchange<double> columns_;
};

}  // namespace bdl
