// q(f | x) of the model linearised at the posterior mean: f(x; mu) + J (theta - mu) ~ N(f(x; mu), J Sigma
// J^T), J = df / dtheta at mu (docs/theory/predictions.md, "The linearised model"; Immer et al. 2021).
#pragma once

#include "curvature/jacobian.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

template <class T>
class LinearizedOutputs {
 public:
  /// The model must outlive it.
  explicit LinearizedOutputs(const Model<T>& model) : model_(model), jacobian_(model) {}
  /// Computes mean and covariances for the columns of x; an overflowing example does not change the others.
  void compute(const Posterior<T>& q, ConstMatrixView<T> x);
  /// Fails with ERROR_DIVERGED, naming the example, unless all is finite.
  void check() const;

  /// Means of the last batch (C x M), and the covariance of an example (C x C), symmetric with a diagonal >=
  /// 0.
  ConstMatrixView<double> mean() const { return mean_.matrix(model_.outputs(), examples_); }
  ConstMatrixView<double> covariance(Index i) const {
    const Index outputs = model_.outputs();
    return {covariances_.data() + i * outputs * outputs, outputs, outputs};
  }

 private:
  void multiply(ConstMatrixView<T> rows, ConstMatrixView<T> solved, double* covariances);
  const Model<T>& model_;
  JacobianRows<T> jacobian_;
  Index examples_ = 0;
  Buffer<double> mean_, covariances_;
  Scratch scratch_;
};

}  // namespace bdl
