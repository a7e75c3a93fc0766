// The shape of the density (likelihood/shape.hpp) that maximises the ELBO, with its best posterior.
#pragma once

#include <vector>

#include "likelihood/shape.hpp"
#include "train/exact/accelerated_steps.hpp"
#include "train/exact/scales/learned_fit.hpp"

namespace bdl {

class ShapeSearch {
 public:
  explicit ShapeSearch(const LearnedFit& fit) : fit_(fit) {}
  /// Alternates between the optimal q, at first roughly, and accelerated steps of the shape.
  SearchEnd run(const Iterated& iterated);
  /// Returns the distance to the best shape for q, in standard deviations of the learned numbers.
  double distance() { return next_shape().distance; }

 private:
  std::vector<double> accelerated(const ShapeStep& step, AcceleratedSteps& steps) const;
  void set(ConstSpan<double> shape);
  ShapeStep next_shape() {
    const InterceptPrior prior = fit_.has_intercept ? fit_.elbo.intercept_prior(fit_.q) : InterceptPrior{};
    return shape_step(fit_.likelihood, fit_.elbo.shape_sums(fit_.q), 1, fit_.has_intercept,
                      fit_.has_intercept ? &prior : nullptr);
  }

  LearnedFit fit_;
};

}  // namespace bdl
