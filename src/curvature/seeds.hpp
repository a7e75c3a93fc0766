// Seeds: the vectors at a network's outputs that back-propagation turns into rows, with the rows'
// coefficients.
#pragma once

#include "base/scratch.hpp"
#include "curvature/estimator.hpp"

namespace bdl {

/// Returns the number of seeds per example and sample: C for Gauss-Newton; the gradient and C or 1 others
/// for the kinds with labels. The empirical Fisher has the gradient and one seed per log noise precision that
/// is held, which has curvature but no gradient; sums over one sample (`apart`) need the gradient only.
inline Index seed_count(const Likelihood& likelihood, const BatchSize& size) {
  const Index outputs = likelihood.curved_outputs();
  if (size.kind == CurvatureKind::gauss_newton) return outputs;
  if (size.kind == CurvatureKind::gradient_and_all_labels) return 1 + outputs;
  if (size.kind == CurvatureKind::gradient_and_one_label) return 2;
  return size.apart || likelihood.log_precision_is_free() ? 1 : 1 + outputs - likelihood.means();
}

/// Fills E (C x n K) and the rows' coefficients for outputs F (C x n, column s M + i) and targets Y (. x M).
/// Column k n + j of E is seed k of output column j.
template <class T>
void fill_seeds(const Likelihood& likelihood, const SeedSpec& spec, ConstMatrixView<T> f,
                ConstMatrixView<T> y, MatrixView<T> e, std::span<T> c, std::span<T> w);

/// Returns the mean over the samples of sum_i w_i log p(y_i | f_is), where w_i is the row's weight.
template <class T>
double expected_log_likelihood(const Likelihood& likelihood, ConstMatrixView<T> f, ConstMatrixView<T> y);

/// Writes the mean over the samples of sum_i w_i squared_error(c) for each target c.
template <class T>
void sum_squared_errors(const Likelihood& likelihood, ConstMatrixView<T> f, ConstMatrixView<T> y,
                        std::span<double> out);

/// Returns the sum of the rows' weights: their number, unless rows have weights.
template <class T>
double sum_weights(const Likelihood& likelihood, ConstMatrixView<T> y);

/// Writes the rows' weights; returns none unless rows have weights and these are not all 0.
template <class T>
std::span<T> row_weights(const Likelihood& likelihood, ConstMatrixView<T> y, Scratch& scratch);

/// Merges the n K seeds of a single-index model into M rows x_i, since the rows of one example are multiples
/// of x_i: c_i = sum c_r e_r and w_i = sum w_r e_r^2, in place (first M entries).
template <class T>
void merge_single_index(ConstMatrixView<T> e, Index examples, std::span<T> c, std::span<T> w);

}  // namespace bdl
