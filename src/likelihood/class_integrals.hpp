// Expectations of a categorical likelihood over Gaussian logits f ~ N(m, V). The classes' probabilities
// depend on contrasts of the logits only, so with C classes the integrals have C - 1 dimensions:
//
//   2 to 4 classes   the trapezoidal rule in a ball. It converges geometrically: for contrasts with standard
//                    deviations s up to 3/2 its errors are below 1e-6 of an expectation, up to 3 below 1e-4.
//   more             the expansion around the mean: slope and Hessian at m, and the loss with its
//   second-order
//                    term l(m) + tr(H V) / 2. Fits are then Newton's method, and the posterior is Laplace's
//                    approximation (MacKay 1992). The relative error of the Hessian is of order s^2.
//
// The nodes are the same for all examples and calls, but coarser where s < 1/4 and finer where s > 3/2, so
// results are deterministic.
#pragma once

#include <vector>

#include "base/view.hpp"

namespace bdl {

class ClassIntegrals {
 public:
  /// Largest number of classes with integrals.
  static constexpr Index most_integrated = 4;
  /// For so many classes, 2 or more.
  explicit ClassIntegrals(Index classes);
  Index classes() const { return classes_; }
  /// False if expectations are expansions around the mean.
  bool integrates() const { return classes_ <= most_integrated; }
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
  double expand(const double* m, ConstMatrixView<double> v, double* slope, MatrixView<double> hessian,
                double* p) const;
  Index classes_;
  std::vector<double> contrasts_;
  Rule wide_, fine_, coarse_;  // without nodes for more than 4 classes
};

}  // namespace bdl
