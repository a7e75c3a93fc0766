// Steps of the two families with full covariance: what both need. They change one matrix, the precision or
// the covariance, and differ in the map from (m, M) to that change (docs/theory/natural-gradients.md,
// "The step of each family").
#pragma once

#include <algorithm>

#include "linalg/dense/positive_matrix.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

/// Pivots (squared, against the former ones) that are larger leave no doubt about least_kept: they bound the
/// smallest eigenvalue of C^-1 A' C^-T from above, and are near it but for contrived matrices.
inline constexpr double safe_pivot = 1e-4;

/// `next` holds in the lower triangle of its matrix what the whole step makes of `old`: factorises it,
/// shortens it if need be (posterior/step.hpp), and returns the fraction taken.
double settle(PositiveMatrix& next, const PositiveMatrix& old, bool may_shorten, Scratch& scratch);

/// Lower triangle of next = S + G becomes S + G + G S^-1 G / 2 for S = old, which is S / 2 or more whatever G
/// is (docs/theory/guard.md, "The improved Bayesian learning rule"). settle() has to follow.
void improve(PositiveMatrix& next, const PositiveMatrix& old, Scratch& scratch);

/// next = old + Z Z^T for the first `added` columns of Z, - Z Z^T for the others; then settle().
double settle_columns(PositiveMatrix& next, const PositiveMatrix& old, ConstMatrixView<double> z, Index added,
                      bool may_shorten, FactorUpdate choice, Scratch& scratch);

/// Returns the fraction of a step from C C^T to C (I - G) C^T to take, for G in the lower triangle of `gram`.
double fraction_of_reduction(ConstMatrixView<double> gram, bool may_shorten, Scratch& scratch);

/// next = old - Z Z^T where V = C^-1 Z is known, for C C^T = old: positive definite if and only if I - V^T V
/// is. Z may be scaled.
double settle_reduction(PositiveMatrix& next, const PositiveMatrix& old, MatrixView<double> z,
                        ConstMatrixView<double> v, bool may_shorten, FactorUpdate choice, Scratch& scratch);

/// True if a factor is sooner updated by this many rank-one terms than computed anew.
bool suits_rotations(Index size, Index columns, FactorUpdate choice);

/// Fails with ERROR_UNSUPPORTED unless the curvature has off-diagonal elements.
template <class T>
void check_curvature(const Curvature<T>& curvature);

/// Lower triangle of out += factor H.
template <class T>
void add_curvature(const Curvature<T>& curvature, double factor, MatrixView<double> out, Scratch& scratch);

/// Returns columns sqrt(factor w_r) b_r, followed by `spare` columns, taken from the scratch.
template <class T>
MatrixView<double> dense_columns(const Curvature<T>& curvature, double factor, Index spare, Scratch& scratch);

/// diag(out) += factor prior_precision.
template <class T>
void add_prior_diagonal(ConstSpan<T> prior_precision, double factor, MatrixView<double> out);

/// Returns a copy of the values in double, taken from the scratch.
template <class T>
double* in_double(ConstSpan<T> values, Scratch& scratch);

/// mean = from - rate direction; fails with ERROR_DIVERGED if it is not finite.
template <class T>
void move_mean(ConstSpan<T> from, double rate, const double* direction, std::span<T> mean);

/// mean = values; fails with ERROR_DIVERGED if it is not finite.
template <class T>
void store_mean(const double* values, std::span<T> mean);

/// mean = factor from.
template <class T>
void scale_mean(ConstSpan<T> from, double factor, std::span<T> mean);

/// out = mean + values; an empty mean is 0.
template <class T>
void add_mean(ConstSpan<T> mean, const double* values, std::span<T> out);

/// Number of columns of squared_lengths() that are in double at a time.
inline constexpr Index lengths_together = 32;

/// out_j = |y_j|^2 for y = root(x, spare), X in double a few columns at a time.
template <class T, class Root>
void squared_lengths(ConstMatrixView<T> x, std::span<double> out, Scratch& scratch, Root&& root) {
  for (Index first = 0; first < x.cols; first += lengths_together) {
    const Scratch::Frame frame(scratch);
    const auto some = x.columns(first, std::min(lengths_together, x.cols - first));
    const auto columns = scratch.matrix<double>(x.rows, some.cols),
               spare = scratch.matrix<double>(x.rows, some.cols);
    for (Index k = 0; k < some.cols; ++k) std::ranges::copy(some.column(k), columns.column_data(k));
    const MatrixView<double> y = root(columns, spare);
    for (Index k = 0; k < y.cols; ++k) {
      double sum = 0;
      for (const double value : y.column(k)) sum += value * value;
      out[static_cast<std::size_t>(first + k)] = sum;
    }
  }
}

/// Returns tr(P Sigma_q) for a symmetric P.
template <class T>
double trace_of_product(ConstMatrixView<double> p, const Posterior<T>& q, Scratch& scratch);

/// Returns diag(values) as a matrix, or the diagonal of their inverses.
template <class T>
Buffer<double> diagonal_matrix(ConstSpan<T> values, bool inverse);

}  // namespace bdl
