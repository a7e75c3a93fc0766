// Tall matrices: D x L with L << D, such as the factor U of a low-rank precision U U^T + diag(d). Each pass
// reads them once, block of rows by block (tall_blocks.hpp), on all threads, and does all that is to be done
// with a block while it is in the cache (tall_kernels.hpp). Arithmetic is in double, whatever the matrices
// are stored in: Sigma x = (x - U c) / d cancels where U U^T dominates d. The folder, from below:
//
//   tall_kernels.hpp          inner loops: sums of products of columns, combinations of columns
//   tall_blocks.hpp           how rows are divided, and the memory of a pass
//   tall.hpp                  single products: U^T U, U^T X, U C, (X - U C) / d ...
//   tall_step.hpp             two fused passes of the low-rank step by few rows
//   woodbury.hpp              Sigma = (U U^T + diag(d))^-1: solve, draw, variances, log|Sigma|
//   low_rank_projection.hpp   the L leading eigenpairs of a factor that is never formed
//
// docs/theory/gaussians.md, "Woodbury through a Cholesky factor", and natural-gradients.md, "The
// low-rank step and its projection", have the formulas.
#pragma once

#include <atomic>

#include "base/scratch.hpp"

namespace bdl {

/// Counts, while it lives, the finite numbers that tall_residual() and tall_color() of this thread write:
/// asked while these are in the cache, it costs no pass of its own.
class FiniteCount {
 public:
  FiniteCount() noexcept : outer_(current_) { current_ = this; }
  ~FiniteCount() { current_ = outer_; }
  FiniteCount(const FiniteCount&) = delete;
  FiniteCount& operator=(const FiniteCount&) = delete;

  /// The innermost counter of this thread, or null.
  static FiniteCount* current() { return current_; }
  void add(Index numbers) { numbers_.fetch_add(numbers, std::memory_order_relaxed); }
  /// Returns the count since the last call.
  Index take() { return numbers_.exchange(0); }

 private:
  static inline constinit thread_local FiniteCount* current_ = nullptr;
  FiniteCount* outer_;
  std::atomic<Index> numbers_{0};
};

enum class Divide { by_d, by_root_d };

/// G = U^T diag(1 / divisor) U, both triangles; an empty divisor means 1.
template <class T>
void tall_gram(ConstMatrixView<T> u, ConstSpan<T> divisor, MatrixView<double> gram, Scratch& scratch);

/// P = U^T diag(1 / divisor) X (L x k), or diag(1 / sqrt(divisor)); an empty divisor means 1.
template <class T>
void tall_project(ConstMatrixView<T> u, ConstMatrixView<T> x, ConstSpan<T> divisor, Divide divide,
                  MatrixView<double> product, Scratch& scratch);

/// tall_project(), but the result of each column is identical for any number k of columns.
template <class T>
void tall_project_each(ConstMatrixView<T> u, ConstMatrixView<T> x, ConstSpan<T> divisor, Divide divide,
                       MatrixView<double> product, Scratch& scratch);

/// Y = U C for a small C (L x k), or Y = Y + U C if `add`; the one product that is computed in T.
template <class T>
void tall_combine(ConstMatrixView<T> u, ConstMatrixView<T> c, bool add, MatrixView<T> y, Scratch& scratch);

/// Y = diag(1 / d) (Y - U C).
template <class T>
void tall_residual(ConstMatrixView<T> u, ConstMatrixView<double> c, ConstSpan<T> d, MatrixView<T> y,
                   Scratch& scratch);

/// Y = mean + diag(1 / sqrt(d)) (Y - diag(1 / sqrt(d)) U C).
template <class T>
void tall_color(ConstMatrixView<T> u, ConstMatrixView<double> c, ConstSpan<T> d, ConstSpan<T> mean,
                MatrixView<T> y, Scratch& scratch);

/// out_i = 1 / d_i - sum_l ((diag(1 / d) U L^-T)_il)^2 for a lower triangular L.
template <class T>
void tall_marginals(ConstMatrixView<T> u, ConstSpan<T> d, ConstMatrixView<double> lower, std::span<T> out,
                    Scratch& scratch);

/// For a lower triangular L with L L^T = I + U^T diag(1 / d) U: y = diag(1 / d) U (L L^T)^-1 (D x L) and
/// kept_i = 1 - |L^-1 u_i|^2 / d_i in (0, 1], 1 less the leverages of a ridge regression. Empty ones are
/// skipped.
template <class T>
void tall_ridge(ConstMatrixView<T> u, ConstSpan<T> d, ConstMatrixView<double> lower, MatrixView<T> y,
                std::span<T> kept, Scratch& scratch);

/// sums += factor * rowsums(U^2).
template <class T>
void add_row_squares(ConstMatrixView<T> u, double factor, std::span<T> sums);

}  // namespace bdl
