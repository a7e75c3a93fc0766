// Rows of a network: in a dense layer with inputs A and output sensitivities E, row r is the outer product
// e_r a_r^T (and e_r for the bias), so every operation is a matrix product of A and E
// (docs/mathematics/rows.md, "Rows of a dense layer").
#pragma once

#include <memory>
#include <vector>

#include "curvature/rows.hpp"
#include "network/graph.hpp"

namespace bdl {

/// One layer's share of the rows. Row r uses input column r mod a.cols: the first layer's inputs are the same
/// for all Monte-Carlo samples and seeds, a hidden layer's for all seeds.
template <class T>
struct LayerRows {
  ConstMatrixView<T> a;  // inputs x (divisor of n)
  ConstMatrixView<T> e;  // outputs x n
  DenseShape layer;
};

template <class T>
class FactoredRows final : public ExampleRows<T> {
 public:
  static Index bytes(const std::vector<DenseShape>& layers, Index examples, Index samples);
  void reserve(const std::vector<DenseShape>& layers, Index examples, Index samples);
  /// Points at a tape whose backward pass is done.
  void assign(const Graph<T>& graph, const Tape<T>& tape, Index seeds);
  /// The same for write_row() alone, which needs no scratch.
  void reserve_views(const Graph<T>& graph) { layers_.reserve(graph.dense().size()); }
  void view(const Graph<T>& graph, const Tape<T>& tape, Index seeds);
  /// Points at given factors (a single layer: merged generalised linear models).
  void assign_single(const Graph<T>& graph, ConstMatrixView<T> a, ConstMatrixView<T> e);

  Index dimension() const override { return dimension_; }
  Index count() const override { return count_; }
  void sum(ConstSpan<T> c, std::span<T> out) override;
  /// The same over part `part` of `parts` equal ones: the rows of one sample.
  void sum_part(Index part, Index parts, ConstSpan<T> c, std::span<T> out);
  void sum_squares(ConstSpan<T> w, std::span<T> out) override;
  void gram(MatrixView<double> out) override;
  void project(ConstMatrixView<T> u, MatrixView<T> out) override;
  void combine(ConstMatrixView<T> w, MatrixView<T> out) override;
  void add_outer(ConstSpan<T> w, MatrixView<double> out) override;
  void write_row(Index r, std::span<T> out) const override;
  void gradient_squares(ConstSpan<T> z, ConstSpan<T> v, std::span<double> out) override;
  ExampleRows<T>& gradients(ConstSpan<T> z, ConstSpan<Index> which, Index n) override;
  void reserve_gradients(Index count) override;
  /// What the last two hold, for this many gradients.
  static Index gradient_bytes(const std::vector<DenseShape>& layers, Index count);
  /// Of one layer, weights and bias: its factors.
  Rows<T>* part(Index offset, Index size) override;
  RowsCost cost() const override { return cost_; }
  static RowsCost cost(const std::vector<DenseShape>& layers, Index examples, Index samples, Index seeds);

 private:
  static void square_inputs(const LayerRows<T>& rows, MatrixView<T> out);
  void fold(const LayerRows<T>& rows, ConstMatrixView<T> weights, bool squared);
  void weighted_products(const LayerRows<T>& rows, ConstMatrixView<T> a, ConstMatrixView<T> weights,
                         bool squared, MatrixView<T> out);
  void project(const LayerRows<T>& rows, ConstMatrixView<T> u, bool add, MatrixView<T> out);
  std::vector<LayerRows<T>> layers_;
  Index dimension_ = 0, count_ = 0;
  RowsCost cost_;
  Buffer<T> folded_, inputs_, product_;
  Buffer<double> outer_;
  std::vector<Buffer<T>> factors_;           // of gradients(): inputs and sensitivities of each layer
  std::unique_ptr<FactoredRows> gradients_;  // which point at them
  std::vector<DenseShape> shapes_;
  std::vector<std::unique_ptr<FactoredRows>> parts_;  // by layer, those that were asked for
};

}  // namespace bdl
