// Rows given as a plain matrix: those of a custom model, the caller's rows, and the reference in tests.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/array.hpp"
#include "base/scratch.hpp"
#include "curvature/rows.hpp"
#include "linalg/tall/tall.hpp"

namespace bdl {

template <class T>
class DenseRows final : public ExampleRows<T> {
 public:
  /// Returns the matrix to fill, with one row b_r per column (D x n).
  MatrixView<T> resize(Index dimension, Index count);
  /// Points at rows in the caller's memory, one per column; they must outlive their use.
  void view(ConstMatrixView<T> rows);
  void release() { matrix_ = {}; }
  ConstMatrixView<T> matrix() const { return matrix_; }

  Index dimension() const override { return matrix_.rows; }
  Index count() const override { return matrix_.cols; }
  void sum(ConstSpan<T> c, std::span<T> out) override;
  /// Writes the sum over range `part` of `parts` equal ranges of the rows, such as the rows of a sample.
  void sum_part(Index part, Index parts, ConstSpan<T> c, std::span<T> out);
  void sum_squares(ConstSpan<T> w, std::span<T> out) override;
  void gram(MatrixView<double> out) override;
  void project(ConstMatrixView<T> u, MatrixView<T> out) override;
  void combine(ConstMatrixView<T> w, MatrixView<T> out) override;
  void add_outer(ConstSpan<T> w, MatrixView<double> out) override;
  void write_row(Index r, Index first, std::span<T> out) const override {
    std::copy_n(matrix_.column_data(r) + first, out.size(), out.begin());
  }
  void gradient_squares(ConstSpan<T> z, ConstSpan<T> v, std::span<double> out) override;
  ExampleRows<T>& gradients(ConstSpan<T> z, ConstSpan<Index> which, Index n) override;
  Rows<T>& part(Index offset, Index size) override;
  RowsCost cost() const override { return cost(dimension(), count()); }
  static RowsCost cost(Index dimension, Index count);

 private:
  static bool are_few(Index count, Index others);
  void write_gradient(ConstSpan<T> z, Index j, Index n, std::span<T> out) const;
  void combine(ConstMatrixView<T> rows, ConstMatrixView<T> w, MatrixView<T> out);
  ConstMatrixView<T> matrix_;
  Buffer<T> rows_, product_;
  Buffer<double> projected_;
  Scratch scratch_numbers_;
  Scratch scratch_;
  Buffer<T> gradient_;
  std::unique_ptr<DenseRows> gradients_;
  std::vector<std::pair<Index, std::unique_ptr<DenseRows>>> parts_;  // sorted by their offsets
};

/// Sets `rows` to the caller's n x D array: points at it if its rows are contiguous and of type T, else
/// copies it.
template <class T>
void take_rows(const Array& array, DenseRows<T>& rows);

/// Largest number of rows whose outer products are added up in one product, which needs D times as many
/// doubles.
inline constexpr Index most_outer_rows = 64;

/// Adds sum_r w_r b_r b_r^T for the columns b_r of a matrix to the lower triangle of `out`, in double
/// precision.
template <class T>
void add_weighted_outer(ConstMatrixView<T> columns, ConstSpan<T> w, MatrixView<double> out, Scratch& scratch);

}  // namespace bdl
