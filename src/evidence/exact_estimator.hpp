// The exact estimate (docs/theory/curvature.md, "Exact expectations"): in a model with f = theta^T x the
// output f_i is N(x_i^T mu, x_i^T Sigma x_i) under q, so the expected gradient sum_i E[l'_i] x_i and Hessian
// sum_i E[l''_i] x_i x_i^T need only one-dimensional integrals.
#pragma once

#include "curvature/blocked_rows.hpp"
#include "curvature/estimator.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

/// Returns the only layer of the model; fails with ERROR_UNSUPPORTED if the model has no exact expectations.
template <class T>
const DenseShape& exact_layer(const Model<T>& model);

/// Function of an output whose expectation is computed: the loss, with fewer nodes where there are many
/// examples; or (for log means only) a quadratic near it, whose optimum is a start for searches
/// (expected_quadratic_loss()); or the loss at the mean, as if outputs had no variance.
enum class ExampleLoss { exact, of_many, quadratic, at_mean };

/// Number of elements of the rows x_i that are written at a time, so that they stay in the cache.
inline constexpr Index exact_numbers_together = Index{1} << 16;

template <class T>
class ExactEstimator {
 public:
  /// Fails with ERROR_UNSUPPORTED if the model has no exact expectations. The model must outlive it.
  explicit ExactEstimator(const Model<T>& model);
  /// Returns rows x_i with c_i = weight E[l'_i] and w_i = weight E[l''_i], and the sum of -E[l_i]. Fails with
  /// ERROR_DIVERGED, counting the examples from `first`, if one is not finite. It lives until the next call.
  Estimate<T> estimate(const Posterior<T>& q, ConstMatrixView<T> x, ConstMatrixView<T> y, double weight,
                       Index first = 0, ExampleLoss loss = ExampleLoss::exact);
  /// Finds the distributions of the outputs alone.
  void find_outputs(const Posterior<T>& q, ConstMatrixView<T> x);
  /// Returns the variances x_i^T Sigma x_i of the outputs that were found last.
  ConstSpan<double> variances(Index examples) const { return variances_.first(examples); }

  /// Returns their means.
  ConstSpan<T> means(Index examples) const { return f_.first(examples); }

  const BlockedRows<T>& blocks() const { return rows_; }

 private:
  Index examples_together(Index examples) const;
  void find_means(const Posterior<T>& q, ConstMatrixView<T> x);
  void find_variances(const Posterior<T>& q, ConstMatrixView<T> x);
  void integrate(ConstMatrixView<T> y, double weight, Index first, ExampleLoss loss);
  Estimate<T> estimate_of(ConstMatrixView<T> x, double expected_log_likelihood);
  const Model<T>& model_;
  const DenseShape& layer_;
  NetworkRows<T> rows_;
  Buffer<T> f_, c_, w_, ones_, inputs_;
  Scratch scratch_;
  Buffer<double> variances_, losses_;
  Scratch posterior_scratch_;
};

}  // namespace bdl
