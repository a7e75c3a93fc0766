// What the steps of the two families with full covariance share. Both change one matrix, the precision or the
// covariance, and differ in the map from (m, M) to that change (docs/mathematics/natural-gradients.md, "The
// step of each family").
#pragma once

#include <algorithm>

#include "posterior/posterior.hpp"

namespace bdl {

/// Pivots (squared, against the former ones) that are larger leave no doubt about least_kept: they bound the
/// smallest eigenvalue of C^-1 A' C^-T from above, and are near it but for contrived matrices.
inline constexpr double safe_pivot = 1e-4;

/// Memory for settle() where it is in doubt.
void reserve_settle(Index size, DenseScratch& scratch);

/// `next` holds in the lower triangle of its matrix what the whole step makes of `old`: factorises it,
/// shortens it if need be (posterior.hpp), and returns the part taken.
double settle(PositiveMatrix& next, const PositiveMatrix& old, bool may_shorten, DenseScratch& scratch);

/// Lower triangle of next = S + G becomes S + G + G S^-1 G / 2 for S = old, which is S / 2 or more whatever G
/// is (docs/mathematics/guard.md, "The improved Bayesian learning rule"). Memory: that of settle(), which has
/// to follow.
void improve(PositiveMatrix& next, const PositiveMatrix& old, DenseScratch& scratch);

/// Memory for settle_columns() of that many, but for its settle().
void reserve_rotations(Index size, Index columns, DenseScratch& scratch);

/// next = old + Z Z^T for the first `added` columns of Z, - Z Z^T for the others.
double settle_columns(PositiveMatrix& next, const PositiveMatrix& old, ConstMatrixView<double> z, Index added,
                      bool may_shorten, DenseScratch& scratch);

/// Memory for settle_reduction().
void reserve_reduction(Index size, Index columns, DenseScratch& scratch);

/// The part of a step from C C^T to C (I - G) C^T to take, for G in the lower triangle of `gram`, the first
/// half of scratch.gram; the second is overwritten.
double part_of_reduction(MatrixView<double> gram, bool may_shorten, DenseScratch& scratch);

/// next = old - Z Z^T where V = C^-1 Z is known, for C C^T = old: positive definite if and only if I - V^T V
/// is. Z may be scaled.
double settle_reduction(PositiveMatrix& next, const PositiveMatrix& old, MatrixView<double> z,
                        ConstMatrixView<double> v, bool may_shorten, DenseScratch& scratch);

/// Whether a factor is sooner updated by this many rank-one terms than computed anew.
bool suits_rotations(Index size, Index columns, FactorUpdate choice);

/// Fails with ERROR_UNSUPPORTED unless the curvature has off-diagonal elements.
template <class T>
void check_curvature(const Curvature<T>& curvature);

/// Memory for add_curvature(): of a matrix it takes none.
template <class T>
void reserve_curvature(const StepSize& step, UpdateWorkspace<T>& workspace) {
  if (step.has_rows) workspace.weights.reserve(step.rows.count);
}

/// Lower triangle of out += factor H.
template <class T>
void add_curvature(const Curvature<T>& curvature, double factor, MatrixView<double> out,
                   UpdateWorkspace<T>& workspace);

/// Memory for dense_columns() of n rows.
template <class T>
void reserve_dense_columns(Index dimension, Index n, Index spare, UpdateWorkspace<T>& workspace) {
  workspace.root_weights.reserve(n * n);
  workspace.factor.reserve(dimension * n);
  workspace.dense.columns.reserve(dimension * (n + spare));
}

/// Columns sqrt(factor w_r) b_r in workspace.dense.columns, followed by `spare` columns.
template <class T>
MatrixView<double> dense_columns(const Curvature<T>& curvature, double factor, Index spare,
                                 UpdateWorkspace<T>& workspace);

/// diag(out) += factor prior_precision.
template <class T>
void add_prior_diagonal(ConstSpan<T> prior_precision, double factor, MatrixView<double> out);

/// workspace.small becomes a double copy of the values.
template <class T>
double* in_double(ConstSpan<T> values, UpdateWorkspace<T>& workspace);

/// mean = from - rate direction; fails with ERROR_DIVERGED if it is not finite.
template <class T>
void move_mean(ConstSpan<T> from, double rate, const double* direction, std::span<T> mean);

/// The same for mean = values.
template <class T>
void store_mean(const double* values, std::span<T> mean);

/// mean = factor from.
template <class T>
void scale_mean(ConstSpan<T> from, double factor, std::span<T> mean);

/// out = mean + values; an empty mean is 0.
template <class T>
void add_mean(ConstSpan<T> mean, const double* values, std::span<T> out);

/// Columns that share a product in squared_lengths(), which takes 2 D times as many doubles.
inline constexpr Index most_dense_columns = 32;

/// Memory for squared_lengths().
inline void reserve_squared_lengths(Index rows, Index columns, Buffer<double>& work) {
  work.reserve(2 * rows * std::min(most_dense_columns, columns));
}

/// out_j = |y_j|^2 for y = root(x, spare), X in double a few columns at a time.
template <class T, class Root>
void squared_lengths(ConstMatrixView<T> x, Buffer<double>& work, std::span<double> out, Root&& root) {
  const Index most = std::min(most_dense_columns, x.cols);
  reserve_squared_lengths(x.rows, x.cols, work);
  for (Index first = 0; first < x.cols; first += most) {
    const auto some = x.columns(first, std::min(most, x.cols - first));
    const auto columns = work.matrix(x.rows, some.cols);
    for (Index k = 0; k < some.cols; ++k) std::ranges::copy(some.column(k), columns.column_data(k));
    const MatrixView<double> y = root(columns, {columns.data + columns.size(), x.rows, some.cols});
    for (Index k = 0; k < y.cols; ++k) {
      double sum = 0;
      for (const double value : y.column(k)) sum += value * value;
      out[static_cast<std::size_t>(first + k)] = sum;
    }
  }
}

/// tr(P Sigma_q) for a symmetric P.
template <class T>
double trace_of_product(ConstMatrixView<double> p, const Posterior<T>& q, PosteriorScratch<T>& scratch);

[[noreturn]] void fail_not_positive();

/// diag(values) as a matrix, or of their inverses.
template <class T>
Buffer<double> diagonal_matrix(ConstSpan<T> values, bool inverse);

}  // namespace bdl
