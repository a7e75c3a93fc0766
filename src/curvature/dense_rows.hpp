// Rows given as a plain matrix: a user's own model, the caller's rows, and the reference in tests.
#pragma once

#include "curvature/rows.hpp"

namespace bdl {

template <class T>
class DenseRows final : public Rows<T> {
 public:
  static Index bytes(Index dimension, Index count);
  void reserve(Index dimension, Index count);
  /// The matrix to fill, one row b_r per column (D x n).
  MatrixView<T> resize(Index dimension, Index count);
  ConstMatrixView<T> matrix() const { return rows_.matrix(dimension_, count_); }

  Index dimension() const override { return dimension_; }
  Index count() const override { return count_; }
  void sum(ConstSpan<T> c, std::span<T> out) override;
  void sum_squares(ConstSpan<T> w, std::span<T> out) override;
  void gram(MatrixView<double> out) override;
  void project(ConstMatrixView<T> u, MatrixView<T> out) override;
  void combine(ConstMatrixView<T> w, MatrixView<T> out) override;
  void add_outer(ConstSpan<T> w, MatrixView<double> out) override;
  RowsCost cost() const override { return cost(dimension_, count_); }
  static RowsCost cost(Index dimension, Index count);

 private:
  Index dimension_ = 0, count_ = 0;
  Buffer<T> rows_, product_;
};

/// Lower triangle of out += sum_r w_r b_r b_r^T for the columns b_r of a matrix.
template <class T>
void add_weighted_outer(ConstMatrixView<T> columns, ConstSpan<T> w, MatrixView<double> out);

}  // namespace bdl
