// Products with tall, skinny D x L matrices (L << D), block of rows by block: each pass reads them once. All
// arithmetic is in double, whatever the matrices are stored in: Sigma x = (x - U c) / d cancels when U U^T
// dominates d.
#pragma once

#include "base/view.hpp"

namespace bdl {

/// Memory for the functions below: two blocks of rows.
class TallScratch {
 public:
  static constexpr Index block_rows = 512;
  void reserve(Index columns, Index other_columns);
  static Index bytes(Index columns, Index other_columns);
  MatrixView<double> block(Index rows, Index cols) { return block_.matrix(rows, cols); }
  MatrixView<double> other_block(Index rows, Index cols) { return other_block_.matrix(rows, cols); }

 private:
  Buffer<double> block_, other_block_;
};

/// G = U^T diag(1 / divisor) U, both triangles; an empty divisor means 1.
template <class T>
void tall_gram(ConstMatrixView<T> u, ConstSpan<T> divisor, MatrixView<double> gram, TallScratch& scratch);

/// P = U^T diag(1 / divisor) X (L x k); an empty divisor means 1.
template <class T>
void tall_project(ConstMatrixView<T> u, ConstMatrixView<T> x, ConstSpan<T> divisor,
                  MatrixView<double> product, TallScratch& scratch);

/// Y = Y + U C for a small C (L x k).
template <class T>
void tall_expand(ConstMatrixView<T> u, ConstMatrixView<double> c, MatrixView<T> y, TallScratch& scratch);

/// Y = diag(1 / divisor) (Y - U C).
template <class T>
void tall_residual(ConstMatrixView<T> u, ConstMatrixView<double> c, ConstSpan<T> divisor, MatrixView<T> y,
                   TallScratch& scratch);

/// out_i = 1 / d_i - sum_l ((diag(1 / d) U L^-T)_il)^2 for a lower triangular L.
template <class T>
void tall_marginals(ConstMatrixView<T> u, ConstSpan<T> d, ConstMatrixView<double> lower, std::span<T> out,
                    TallScratch& scratch);

/// sums += factor * rowsums(U^2).
template <class T>
void add_row_squares(ConstMatrixView<T> u, double factor, std::span<T> sums);

}  // namespace bdl
