// The exact estimate: in a model with f = theta^T x, q(f_i) is N(x_i^T mu, x_i^T Sigma x_i), so the expected
// gradient sum_i E[l'_i] x_i and Hessian sum_i E[l''_i] x_i x_i^T are one-dimensional integrals.
#pragma once

#include "curvature/estimator.hpp"
#include "curvature/factored_rows.hpp"
#include "posterior/linearized_outputs.hpp"

namespace bdl {

template <class T>
class ExactEstimator {
 public:
  /// Fails with ERROR_UNSUPPORTED unless it is such a model. The model must outlive it.
  explicit ExactEstimator(const Model<T>& model);
  /// Rows x_i with c_i = weight E[l'_i] and w_i = weight E[l''_i], and the exact expected log likelihood.
  /// Fails with ERROR_DIVERGED, naming the example, where one is not finite. The view lives until the next
  /// call.
  Estimate<T> estimate(const Posterior<T>& q, ConstMatrixView<T> x, ConstMatrixView<T> y, double weight);
  Index bytes(const Posterior<T>& q, Index examples) const;

 private:
  Index examples_together(Index examples) const;
  void integrate(ConstMatrixView<T> y, Index first, Index count, double weight);
  const Network<T>& network_;
  LinearizedOutputs<T> outputs_;
  FactoredRows<T> rows_;
  Buffer<T> c_, w_, ones_;
  Buffer<double> losses_;
};

}  // namespace bdl
