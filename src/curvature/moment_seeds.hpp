// Seeds that linearise the class probabilities instead of the logits, with jitter on their covariance R, as
// the official BONG code has it (docs/mathematics/curvature.md, "Linearised probabilities"): for the
// probabilities' Jacobian H = R J, g = H^T (R + j I)^-1 (y - p) and G = -H^T (R + j I)^-1 H. With j = 0 they
// are the seeds of the logits; with j > 0 confident wrong predictions teach less.
#pragma once

#include "likelihood/likelihood.hpp"

namespace bdl {

class MomentSeeds {
 public:
  /// A categorical or Bernoulli likelihood.
  MomentSeeds(const Likelihood& likelihood, double jitter);
  /// For one example: with L L^T = R + j I, the root A = R L^-T and z = L^-1 (p - y), so A z is the gradient.
  template <class T>
  void compute(const T* f, const T* y);
  double root(Index i, Index k) const { return root_.matrix(size_, size_)(i, k); }
  double coefficient(Index k) const { return coefficients_.data()[k]; }
  double gradient(Index i) const;

 private:
  const Likelihood& likelihood_;
  double jitter_;
  Index size_;
  Buffer<double> covariance_, root_, coefficients_, mean_, variance_;
};

}  // namespace bdl
