// Expectations of a categorical likelihood over Gaussian logits f ~ N(m, V). The classes' probabilities
// depend on contrasts of the logits only, so with C classes the integrals have C - 1 dimensions:
//
//   2 to 4 classes   the trapezoidal rule in a ball. It converges geometrically; for contrasts with standard
//                    deviations s up to 1 its errors are below 1e-9 of an expectation, up to 3 below 1e-6.
//   more             quasi-Monte Carlo: 1,024 points of an additive recurrence (Roberts 2018) with their
//                    mirror images among them, whitened, so that polynomials of degree 3 are exact. The error
//                    of an expectation is some 0.01 s^4 where s is small, and below 0.02 for s = 3.
//
// The points are the same for all examples and calls, so results are deterministic, and expectations of
// gradient and loss belong to each other. Where s < 1/4 a coarser rule has smaller errors than those, and
// where s > 3/2 a finer one has them.
#pragma once

#include <vector>

#include "base/view.hpp"

namespace bdl {

class ClassIntegrals {
 public:
  /// For so many classes, 2 or more.
  explicit ClassIntegrals(Index classes);
  Index classes() const { return classes_; }
  /// Returns an orthonormal basis of the contrasts: C x (C - 1), with columns that add up to 0.
  ConstMatrixView<double> contrasts() const { return {contrasts_.data(), classes_, classes_ - 1}; }
  /// Number of doubles of scratch memory that expect() needs.
  Index memory() const { return classes_ * (classes_ + 1); }
  /// Returns E[-log p(y | f)] for logits with mean m and a covariance of contrasts v ((C - 1) x (C - 1),
  /// lower triangle, destroyed). Writes E[df], C numbers, and E[d^2f], C x C. Allocates nothing; what is not
  /// finite gives numbers that are not.
  double expect(const double* m, MatrixView<double> v, Index y, double* slope, MatrixView<double> hessian,
                double* memory) const;

 private:
  /// Nodes of a normal distribution as columns, and weights that add up to 1.
  struct Rule {
    Index dimension = 0;
    std::vector<double> nodes, weights;
    void add(const std::vector<double>& node, double weight);
    void normalise();
  };
  static Rule ball(Index dimension, double spacing, double radius);
  static Rule recurrence(Index dimension, Index points);
  Index classes_;
  std::vector<double> contrasts_;
  Rule wide_, fine_, coarse_;
};

}  // namespace bdl
