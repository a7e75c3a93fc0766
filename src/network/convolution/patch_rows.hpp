// Rows of a convolution: row r is the gradient of example r, a sum over positions of outer products of
// sensitivities and patches (docs/theory/rows.md, "Rows of a convolution"). Sums are taken where the
// gradients stand in registers; everything else reads them in blocks of some parameters of all rows.
#pragma once

#include <optional>

#include "network/block_rows.hpp"
#include "network/convolution/factor_sums.hpp"

namespace bdl {

template <class T>
class PatchRows final : public BlockRows<T> {
 public:
  /// Weights first, then the bias. `of_data`: the inputs are the same for all samples.
  PatchRows(const ConvShape& shape, bool of_data);

  Index parameters() const override { return shape_.parameters(); }
  BlockCost cost(Index examples, Index samples, Index seeds) const override;
  void view(ConstMatrixView<T> in, ConstMatrixView<T> sensitivities, Index examples) override;
  void combine(Index first, Index size, ConstMatrixView<T> w, MatrixView<T> out, Scratch& scratch) override;
  void project(ConstMatrixView<T> u, bool add, MatrixView<T> out, Scratch& scratch) override;
  void sum_squares(ConstSpan<T> w, std::span<T> out, Scratch& scratch) override;
  bool has_sums_together() const override { return true; }
  void sum_and_squares(ConstSpan<T> c, std::span<T> sum, ConstSpan<T> w, std::span<T> squares,
                       Scratch& scratch) override;
  void gram(bool add, MatrixView<double> out, Scratch& scratch) override;
  void write_row(Index r, Index first, std::span<T> out) const override;
  void gradient_squares(ConstSpan<T> z, ConstSpan<T> v, bool add, std::span<double> out,
                        Scratch& scratch) override;
  BlockRows<T>& gradients(ConstSpan<T> z, ConstSpan<Index> which, Index n) override;
  Index positions() const override { return shape_.positions(); }
  void add_input_factor(double weight, ConstSpan<T> of_examples, MatrixView<double> out,
                        Scratch& scratch) const override;
  void add_output_factor(double weight, ConstSpan<T> w, MatrixView<double> out,
                         Scratch& scratch) const override;
  void add_rotated_squares(ConstSpan<T> w, ConstMatrixView<T> uo, ConstMatrixView<T> ug,
                           MatrixView<double> out, Scratch& scratch) const override;
  /// Number of values in the largest block of gradients, or of biases.
  Index largest_block(Index rows) const;
  /// True if products of factors take fewer flops than the gradients and their products.
  bool is_gram_factored(const GramSize& size) const;

 private:
  Index columns() const { return shape_.fan_in() + (shape_.has_bias() ? 1 : 0); }
  Index examples_together(Index numbers) const;
  void gather_inputs(Index first, Index count, MatrixView<T> out) const;
  double scale_patches(ConstSpan<T> of_examples, Index first, MatrixView<T> patches) const;
  void gather_sensitivities(Index first, Index count, const T* w, MatrixView<T> out) const;
  /// The maps of rows, in sections of all examples of a sample and seed.
  struct Factors {
    PatchFactors<T> maps;
    Index packets, examples;  ///< numbers in a section
    Index sections() const { return maps.e.cols / packets; }
    Index rows() const { return sections() * examples; }
    /// Number of the packet of E that holds row r, and its lane there.
    Index packet_of(Index r) const { return r / examples * packets + r % examples / packet_size; }
    Index lane_of(Index r) const { return r % examples % packet_size; }
  };
  Factors some(Index first, Index size) const;
  const T* lane_weights(const Factors& rows, const T* w, T* lanes) const;
  void sums(const Factors& rows, const T* c, T* sum, const T* w, T* squares, Scratch& scratch) const;
  void bias_sums(const Factors& rows, const T* c, T* sum, const T* w, T* squares, Scratch& scratch) const;
  void bias_block(const Factors& rows, MatrixView<T> out) const;
  double block_gram_flops(Index rows) const;
  void block_gram(bool add, MatrixView<double> out, Scratch& scratch);
  PatchBlock block_at(Index filter, Index channel, Index rows) const;
  bool is_map_small() const;
  void project_column(const T* u, bool add, MatrixView<T> out, Scratch& scratch) const;
  void multiply_block(ConstMatrixView<T> g, ConstMatrixView<T> w, MatrixView<T> out, Scratch& scratch) const;
  template <class Visit>
  void for_each_block(const Factors& rows, Scratch& scratch, Visit&& visit) const;
  void add_bias_squares(const Factors& rows, const T* v, double* lanes) const;
  Factors joined_seeds(ConstSpan<T> z, Index n, T* e) const;
  T weight_gradient(Index r, Index parameter) const;
  T bias_gradient(Index r, Index filter) const;
  PacketMap in_map() const { return {shape_.input}; }
  PacketMap out_map() const { return {shape_.output}; }
  /// The inputs of row r in a channel, and its sensitivities by a filter: every 16th number.
  const T* inputs_of(Index r, Index channel) const {
    return rows_.maps.in.column_data(rows_.packet_of(r) % rows_.maps.in.cols) +
           channel * in_map().channel_numbers() + rows_.lane_of(r);
  }
  const T* sensitivities_of(Index r, Index filter) const {
    return rows_.maps.e.column_data(rows_.packet_of(r)) + filter * out_map().channel_numbers() +
           rows_.lane_of(r);
  }

  ConvShape shape_;
  bool of_data_;
  std::optional<FactorSums<T>> factor_sums_;  // used if faster than tiles
  Factors rows_{};
  Buffer<T> gathered_in_, gathered_e_;    // inputs and sensitivities that gradients_ points at
  std::unique_ptr<PatchRows> gradients_;  // the result of gradients()
};

}  // namespace bdl
