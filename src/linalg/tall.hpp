// Products with tall, skinny D x L matrices (L << D), block of rows by block: each pass reads them once, and
// sums over D are accumulated in double.
#pragma once

#include "base/view.hpp"

namespace bdl {

/// Memory for the functions below: one block of rows and one small product.
template <class T>
class TallScratch {
 public:
  static constexpr Index block_rows = 512;
  void reserve(Index columns, Index other_columns);
  static Index bytes(Index columns, Index other_columns);
  MatrixView<T> block(Index rows, Index cols) { return block_.matrix(rows, cols); }
  MatrixView<T> small(Index rows, Index cols) { return small_.matrix(rows, cols); }

 private:
  Buffer<T> block_, small_;
};

/// G = U^T diag(1 / divisor) U, both triangles; an empty divisor means 1.
template <class T>
void tall_gram(ConstMatrixView<T> u, ConstSpan<T> divisor, MatrixView<double> gram, TallScratch<T>& scratch);

/// P = U^T X (L x k).
template <class T>
void tall_project(ConstMatrixView<T> u, ConstMatrixView<T> x, MatrixView<double> product,
                  TallScratch<T>& scratch);

/// Y = Y + diag(1 / divisor) U C for a small C (L x k); an empty divisor means 1.
template <class T>
void tall_expand(ConstMatrixView<T> u, ConstMatrixView<double> c, ConstSpan<T> divisor, MatrixView<T> y,
                 TallScratch<T>& scratch);

/// row_norms_i = sum_l ((diag(1 / divisor) U L^-T)_il)^2 for a lower triangular L.
template <class T>
void tall_solved_row_norms(ConstMatrixView<T> u, ConstSpan<T> divisor, ConstMatrixView<double> lower,
                           std::span<T> row_norms, TallScratch<T>& scratch);

/// sums += factor * rowsums(U^2).
template <class T>
void add_row_squares(ConstMatrixView<T> u, double factor, std::span<T> sums);

}  // namespace bdl
