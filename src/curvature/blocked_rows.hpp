// Rows that are put together from blocks of parameters: every operation is a sum over blocks, or the blocks'
// results one below the other. A network's are those of its layers. For point parameters, the rows are 0 in
// all that curvature is made of, and only sum() and point_squares() know better.
#pragma once

#include <memory>
#include <vector>

#include "curvature/rows_part.hpp"
#include "network/graph.hpp"

namespace bdl {

inline RowsCost rows_cost(Index count, const BlockCost& products) {
  return {count, products.gram_flops, products.product_flops};
}

/// Of a minibatch: there is a row for each of them.
struct RowsSize {
  Index examples = 0, samples = 0, seeds = 0;
};

template <class T>
class BlockedRows : public ExampleRows<T> {
 public:
  Index dimension() const override { return dimension_; }
  Index count() const override { return count_; }
  void sum(ConstSpan<T> c, std::span<T> out) override;
  /// The same over part `part` of `parts` equal ones: the rows of one sample.
  void sum_part(Index part, Index parts, ConstSpan<T> c, std::span<T> out);
  /// out = sum_r w_r b_r^2 of the point parameters, one after the other.
  void point_squares(ConstSpan<T> w, std::span<T> out) const;
  void sum_squares(ConstSpan<T> w, std::span<T> out) override;
  bool has_sums_together() const override;
  void sum_and_squares(ConstSpan<T> c, std::span<T> sum, ConstSpan<T> w, std::span<T> squares) override;
  void gram(MatrixView<double> out) override;
  void project(ConstMatrixView<T> u, MatrixView<T> out) override;
  void combine(ConstMatrixView<T> w, MatrixView<T> out) override;
  void add_outer(ConstSpan<T> w, MatrixView<double> out) override;
  void write_row(Index r, Index first, std::span<T> out) const override;
  void gradient_squares(ConstSpan<T> z, ConstSpan<T> v, std::span<double> out) override;
  ExampleRows<T>& gradients(ConstSpan<T> z, ConstSpan<Index> which, Index n) override;
  Rows<T>& part(Index offset, Index size) override;
  RowsCost cost() const override { return cost_; }

  struct Block {
    BlockRows<T>* rows;
    Index offset;  ///< of its first parameter
  };
  /// out = sum_r c_r b_r of the point parameters, c_r of row `first` + r; and 0 there.
  void sum_points(Index first, ConstSpan<T> c, std::span<T> out) const;
  void clear_points(MatrixView<T> out) const;
  /// Of other blocks in the same vectors: they have the same number of parameters, rows and scratch. Blocks
  /// must outlive it, and it points at what these point at after follow() only.
  std::unique_ptr<BlockedRows> of_blocks(std::vector<Block> blocks) const;
  const RowsSize& size() const { return size_; }
  void follow(const BlockedRows& rows) { assign(rows.dimension_, rows.size_); }
  Scratch& scratch() const { return *scratch_; }
  /// All but points, in the order of their parameters.
  const std::vector<Block>& blocks() const { return blocks_; }

 protected:
  struct PointBlock {
    PointRows<T>* rows;
    Index offset;
  };
  void assign(Index dimension, const RowsSize& size);

  std::vector<Block> blocks_;
  std::vector<PointBlock> points_;

 private:
  struct Part {
    Index offset, size;
    std::unique_ptr<BlockedRows> blocks;  ///< if it is made of whole ones
    std::unique_ptr<RowsPart<T>> cut;     ///< else
  };
  Part make_part(Index offset, Index size);

  Index dimension_ = 0, count_ = 0;
  RowsSize size_;
  RowsCost cost_;
  std::shared_ptr<Scratch> scratch_ = std::make_shared<Scratch>();  // one for all parts
  std::unique_ptr<BlockedRows> gradients_;
  std::vector<Part> parts_;  // those that were asked for
};

/// Of a network, after a backward pass.
template <class T>
class NetworkRows final : public BlockedRows<T> {
 public:
  /// The graph must outlive it.
  explicit NetworkRows(const Graph<T>& graph);
  RowsCost cost(Index examples, Index samples, Index seeds) const;
  using BlockedRows<T>::cost;

  /// Points at a tape whose backward pass is done.
  void assign(const Tape<T>& tape, Index seeds);
  /// Points at given inputs and sensitivities of a single layer: merged generalised linear models.
  void assign_single(ConstMatrixView<T> in, ConstMatrixView<T> sensitivities);

 private:
  const Graph<T>& graph_;
  /// Of a layer that is node `node`: one of the two is there.
  struct LayerRows {
    Index node;
    std::unique_ptr<BlockRows<T>> rows;
    std::unique_ptr<PointRows<T>> points;
  };
  std::vector<LayerRows> layers_;
};

}  // namespace bdl
