// Curvature rows of a layer's parameters (docs/theory/rows.md). B has a column b_r for each row r, which
// is never written out as a whole: a layer computes sums, products and Gram matrices in the way that suits
// it.
#pragma once

#include <memory>

#include "base/scratch.hpp"

namespace bdl {

struct BlockCost {
  double gram_flops = 0;     ///< flops of gram()
  double product_flops = 0;  ///< flops of project() or combine() for one column
};

/// Vectors hold the parameters of the layer only. Functions take temporary memory from `scratch`.
template <class T>
class BlockRows {
 public:
  BlockRows() = default;
  BlockRows(const BlockRows&) = delete;
  BlockRows& operator=(const BlockRows&) = delete;
  virtual ~BlockRows() = default;

  virtual Index parameters() const = 0;
  virtual BlockCost cost(Index examples, Index samples, Index seeds) const = 0;

  /// Points at the layer's inputs and at the sensitivities of its outputs, which come in sections of so many
  /// examples. Inputs repeat: column j of the sensitivities has column j mod in.cols of the inputs.
  virtual void view(ConstMatrixView<T> in, ConstMatrixView<T> sensitivities, Index examples) = 0;

  /// out = B W, for `size` rows from `first` on, which are whole sections.
  virtual void combine(Index first, Index size, ConstMatrixView<T> w, MatrixView<T> out,
                       Scratch& scratch) = 0;
  /// out = U^T B, or out += U^T B.
  virtual void project(ConstMatrixView<T> u, bool add, MatrixView<T> out, Scratch& scratch) = 0;
  /// out = sum_r w_r b_r^2.
  virtual void sum_squares(ConstSpan<T> w, std::span<T> out, Scratch& scratch) = 0;
  /// True if sum_and_squares() is cheaper than the two sums one after the other.
  virtual bool has_sums_together() const { return false; }
  /// sum = sum_r c_r b_r and squares = sum_r w_r b_r^2.
  virtual void sum_and_squares(ConstSpan<T> c, std::span<T> sum, ConstSpan<T> w, std::span<T> squares,
                               Scratch& scratch) {
    const auto rows = static_cast<Index>(c.size());
    combine(0, rows, {c.data(), rows, 1}, {sum.data(), parameters(), 1}, scratch);
    sum_squares(w, squares, scratch);
  }
  /// Lower triangle of out = B^T B, or out += B^T B.
  virtual void gram(bool add, MatrixView<double> out, Scratch& scratch) = 0;
  /// Writes parameters `first`, first + 1, ... of b_r.
  virtual void write_row(Index r, Index first, std::span<T> out) const = 0;

  /// out_j = sum_p v_p g_jp^2, or out_j += that, for the n = out.size() gradients g_j = sum_k z_r b_r with
  /// r = j + k n.
  virtual void gradient_squares(ConstSpan<T> z, ConstSpan<T> v, bool add, std::span<double> out,
                                Scratch& scratch) = 0;
  /// Returns the g_j for the j in `which` as rows, which live until the next call.
  virtual BlockRows& gradients(ConstSpan<T> z, ConstSpan<Index> which, Index n) = 0;

  // Kronecker factors (docs/theory/kronecker.md). b_r is a sum over positions of outer products of
  // sensitivities e (o numbers) and inputs u (q numbers, the last one 1 if there is a bias).
  /// Number of positions in that sum.
  virtual Index positions() const { return 1; }
  /// Lower triangle of out += weight times the mean of sum u u^T over examples, by their weights, and
  /// samples; without weights all count alike.
  virtual void add_input_factor(double weight, ConstSpan<T> of_examples, MatrixView<double> out,
                                Scratch& scratch) const = 0;
  /// Lower triangle of out += weight sum_r w_r sum e e^T.
  virtual void add_output_factor(double weight, ConstSpan<T> w, MatrixView<double> out,
                                 Scratch& scratch) const = 0;
  /// out += sum_r w_r (Uo^T B_r Ug)^2 with B_r = sum over positions of u e^T (q x o).
  virtual void add_rotated_squares(ConstSpan<T> w, ConstMatrixView<T> uo, ConstMatrixView<T> ug,
                                   MatrixView<double> out, Scratch& scratch) const = 0;
};

/// Rows of point parameters. No curvature is made of them, so they only need sums.
template <class T>
class PointRows {
 public:
  PointRows() = default;
  PointRows(const PointRows&) = delete;
  PointRows& operator=(const PointRows&) = delete;
  virtual ~PointRows() = default;

  virtual Index parameters() const = 0;
  /// Points at what the layer has kept and at the sensitivities of its outputs, in sections of so many
  /// examples.
  virtual void view(ConstMatrixView<T> kept, ConstMatrixView<T> sensitivities, Index examples) = 0;
  /// out = sum_r c_r b_r over c.size() rows from `first` on, which are whole sections.
  virtual void sum(Index first, ConstSpan<T> c, std::span<T> out) const = 0;
  /// out = sum_r w_r b_r^2.
  virtual void sum_squares(ConstSpan<T> w, std::span<T> out) const = 0;
};

/// Kronecker factors gather about so many numbers at a time, or one example if that has more. Products are
/// taken in T and summed up in double.
inline constexpr Index most_factor_numbers = Index{1} << 18;

/// Lower triangle of out += factor products.
template <class T>
void add_lower(double factor, ConstMatrixView<T> products, MatrixView<double> out) {
  for (Index j = 0; j < out.cols; ++j)
    for (Index i = j; i < out.rows; ++i) out(i, j) += factor * static_cast<double>(products(i, j));
}

}  // namespace bdl
