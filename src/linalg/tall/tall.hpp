// Products with tall, skinny D x L matrices (L << D), block of rows by block: each pass reads them once, on
// all threads. All arithmetic is in double, whatever the matrices are stored in: Sigma x = (x - U c) / d
// cancels when U U^T dominates d. Rows are shared out the same way for any number of threads: same bits.
#pragma once

#include "base/plan.hpp"

namespace bdl {

class TallRanks;

/// Memory for the functions below: for each part of the rows a block of both matrices and a small product.
class TallScratch {
 public:
  struct Part {
    double *scale, *u, *x, *product;
  };
  /// For D = rows, L = columns and k = other_columns (0: U^T U).
  void reserve(Index rows, Index columns, Index other_columns);
  /// Blocks of the size that tall_gram has for L = rank, of u_columns and x_columns, and a product of that
  /// size.
  void reserve_blocks(Index rows, Index rank, Index u_columns, Index x_columns, Index product);
  static Index bytes(Index rows, Index columns, Index other_columns) {
    return bytes_to_reserve<TallScratch>(rows, columns, other_columns);
  }
  Part part(Index number);
  Index block_rows() const { return block_rows_; }
  Index capacity() const { return memory_.capacity(); }
  /// Ranks that share tall_gram(), tall_project(), tall_residual() and tall_color() from now on; null: none
  /// do.
  void share(TallRanks* ranks) { ranks_ = ranks; }
  TallRanks* ranks() const { return ranks_; }

 private:
  void lay_out(Index rows, Index block_rows, Index u_columns, Index x_columns, Index product);
  Index block_rows_ = 0, columns_ = 0, other_columns_ = 0, part_size_ = 0;
  Buffer<double> memory_;
  TallRanks* ranks_ = nullptr;
};

enum class Divide { by_d, by_root_d };

/// G = U^T diag(1 / divisor) U, both triangles; an empty divisor means 1.
template <class T>
void tall_gram(ConstMatrixView<T> u, ConstSpan<T> divisor, MatrixView<double> gram, TallScratch& scratch);

/// P = U^T diag(1 / divisor) X (L x k), or diag(1 / sqrt(divisor)); an empty divisor means 1.
template <class T>
void tall_project(ConstMatrixView<T> u, ConstMatrixView<T> x, ConstSpan<T> divisor, Divide divide,
                  MatrixView<double> product, TallScratch& scratch);

/// tall_project() whose columns do not depend, to the last bit, on the number k of columns.
template <class T>
void tall_project_each(ConstMatrixView<T> u, ConstMatrixView<T> x, ConstSpan<T> divisor, Divide divide,
                       MatrixView<double> product, TallScratch& scratch);

/// Y = U C for a small C (L x k), or Y = Y + U C; the one product that is computed in T.
template <class T>
void tall_combine(ConstMatrixView<T> u, ConstMatrixView<T> c, bool add, MatrixView<T> y,
                  TallScratch& scratch);

/// Y = diag(1 / d) (Y - U C).
template <class T>
void tall_residual(ConstMatrixView<T> u, ConstMatrixView<double> c, ConstSpan<T> d, MatrixView<T> y,
                   TallScratch& scratch);

/// Y = mean + diag(1 / sqrt(d)) (Y - diag(1 / sqrt(d)) U C).
template <class T>
void tall_color(ConstMatrixView<T> u, ConstMatrixView<double> c, ConstSpan<T> d, ConstSpan<T> mean,
                MatrixView<T> y, TallScratch& scratch);

/// out_i = 1 / d_i - sum_l ((diag(1 / d) U L^-T)_il)^2 for a lower triangular L.
template <class T>
void tall_marginals(ConstMatrixView<T> u, ConstSpan<T> d, ConstMatrixView<double> lower, std::span<T> out,
                    TallScratch& scratch);

/// For a lower triangular L with L L^T = I + U^T diag(1 / d) U: y = diag(1 / d) U (L L^T)^-1 (D x L) and
/// kept_i = 1 - |L^-1 u_i|^2 / d_i, in (0, 1]: 1 less the leverages of a ridge regression on diag(1 /
/// sqrt(d)) U. What is empty is not written.
template <class T>
void tall_ridge(ConstMatrixView<T> u, ConstSpan<T> d, ConstMatrixView<double> lower, MatrixView<T> y,
                std::span<T> kept, TallScratch& scratch);

/// sums += factor * rowsums(U^2).
template <class T>
void add_row_squares(ConstMatrixView<T> u, double factor, std::span<T> sums);

}  // namespace bdl
