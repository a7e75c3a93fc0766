// Rows that consist of blocks of parameters: every operation is a sum over blocks, or stacks the blocks'
// results. A network has one block per layer. Rows are 0 at point parameters in every operation but sum()
// and point_squares(), because a point parameter has no curvature in the posterior.
#pragma once

#include <memory>
#include <vector>

#include "curvature/rows_part.hpp"
#include "network/graph.hpp"

namespace bdl {

inline RowsCost rows_cost(Index count, const BlockCost& products) {
  return {count, products.gram_flops, products.product_flops};
}

/// Size of a minibatch: each example has a row for every sample and seed.
struct RowsSize {
  Index examples = 0, samples = 0, seeds = 0;
};

template <class T>
class BlockedRows : public ExampleRows<T> {
 public:
  Index dimension() const override { return dimension_; }
  Index count() const override { return count_; }
  void sum(ConstSpan<T> c, std::span<T> out) override;
  /// Writes the sum over range `part` of `parts` equal ranges of the rows, such as the rows of a sample.
  void sum_part(Index part, Index parts, ConstSpan<T> c, std::span<T> out);
  /// Writes sum_r w_r b_r^2 of the point parameters, without gaps between them.
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
    Index offset;  ///< number of its first parameter
  };
  /// Writes sum_r c_r b_r of the point parameters, where c_r belongs to row `first` + r; 0 for the other
  /// parameters.
  void sum_points(Index first, ConstSpan<T> c, std::span<T> out) const;
  void clear_points(MatrixView<T> out) const;
  /// Returns rows made from other blocks of the same vectors, with equal numbers of parameters and rows, in
  /// the same scratch memory. Blocks must outlive it; follow() must be called whenever these rows point
  /// elsewhere.
  std::unique_ptr<BlockedRows> of_blocks(std::vector<Block> blocks) const;
  const RowsSize& size() const { return size_; }
  void follow(const BlockedRows& rows) { assign(rows.dimension_, rows.size_); }
  Scratch& scratch() const { return *scratch_; }
  /// Returns the blocks without point parameters, in the order of their parameters.
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
    std::unique_ptr<BlockedRows> blocks;  ///< null unless the range consists of whole blocks
    std::unique_ptr<RowsPart<T>> cut;     ///< null if it does
  };
  Part make_part(Index offset, Index size);

  Index dimension_ = 0, count_ = 0;
  RowsSize size_;
  RowsCost cost_;
  std::shared_ptr<Scratch> scratch_ = std::make_shared<Scratch>();  // shared with the rows of ranges
  std::unique_ptr<BlockedRows> gradients_;
  std::vector<Part> parts_;  // the ranges that part() has made
};

/// The rows of a network, after a backward pass.
template <class T>
class NetworkRows final : public BlockedRows<T> {
 public:
  /// The graph must outlive it.
  explicit NetworkRows(const Graph<T>& graph);
  RowsCost cost(Index examples, Index samples, Index seeds) const;
  using BlockedRows<T>::cost;

  /// Points the rows at a tape whose backward pass is done.
  void assign(const Tape<T>& tape, Index seeds);
  /// Points the rows of a single layer at these inputs and sensitivities: merged generalised linear models.
  void assign_single(ConstMatrixView<T> in, ConstMatrixView<T> sensitivities);

 private:
  const Graph<T>& graph_;
  /// The rows of one layer: curvature rows, or those of its point parameters; the other pointer is null.
  struct LayerRows {
    Index node;
    std::unique_ptr<BlockRows<T>> rows;
    std::unique_ptr<PointRows<T>> points;
  };
  std::vector<LayerRows> layers_;
};

}  // namespace bdl
