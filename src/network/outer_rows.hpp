// Rows of a dense layer with inputs A and sensitivities E of its outputs: row r is the outer product e_r
// a_r^T, and e_r for the bias, so every operation is a matrix product of A and E (docs/theory/rows.md,
// "Rows of a dense layer").
#pragma once

#include "network/block_rows.hpp"
#include "network/shape.hpp"

namespace bdl {

/// Number of columns whose products share one loop over the threads, for matrices of `size` numbers each.
Index columns_together(Index size);

template <class T>
class OuterRows final : public BlockRows<T> {
 public:
  /// Weights first, then the bias.
  explicit OuterRows(const DenseShape& layer) : layer_(layer) {}

  Index parameters() const override { return layer_.parameters(); }
  BlockCost cost(Index examples, Index samples, Index seeds) const override;
  void view(ConstMatrixView<T> in, ConstMatrixView<T> sensitivities, Index examples) override;
  void combine(Index first, Index size, ConstMatrixView<T> w, MatrixView<T> out, Scratch& scratch) override;
  void project(ConstMatrixView<T> u, bool add, MatrixView<T> out, Scratch& scratch) override;
  void sum_squares(ConstSpan<T> w, std::span<T> out, Scratch& scratch) override;
  void gram(bool add, MatrixView<double> out, Scratch& scratch) override {
    gram_columns(0, rows_.e.cols, add, out, scratch);
  }
  /// Writes or adds `count` columns of gram() from `first` on.
  void gram_columns(Index first, Index count, bool add, MatrixView<double> out, Scratch& scratch);
  const DenseShape& layer() const { return layer_; }
  ConstMatrixView<T> inputs() const { return rows_.a; }
  ConstMatrixView<T> sensitivities() const { return rows_.e; }
  void write_row(Index r, Index first, std::span<T> out) const override;
  void gradient_squares(ConstSpan<T> z, ConstSpan<T> v, bool add, std::span<double> out,
                        Scratch& scratch) override;
  BlockRows<T>& gradients(ConstSpan<T> z, ConstSpan<Index> which, Index n) override;
  void add_input_factor(double weight, ConstSpan<T> of_examples, MatrixView<double> out,
                        Scratch& scratch) const override;
  void add_output_factor(double weight, ConstSpan<T> w, MatrixView<double> out,
                         Scratch& scratch) const override;
  void add_rotated_squares(ConstSpan<T> w, ConstMatrixView<T> uo, ConstMatrixView<T> ug,
                           MatrixView<double> out, Scratch& scratch) const override;

 private:
  /// Inputs and sensitivities, or their squares.
  struct Factors {
    ConstMatrixView<T> a, e;
  };
  MatrixView<T> squared_inputs(Scratch& scratch) const;
  void weighted_products(const Factors& rows, ConstMatrixView<T> weights, bool squared, MatrixView<T> out,
                         Scratch& scratch) const;
  void project_block(ConstMatrixView<T> u, bool add, MatrixView<T> out, Scratch& scratch) const;

  DenseShape layer_;
  Factors rows_;
  Buffer<T> gathered_a_, gathered_e_;     // inputs and sensitivities that gradients_ points at
  std::unique_ptr<OuterRows> gradients_;  // the result of gradients()
};

}  // namespace bdl
