// The optimum over the posterior, and over everything else that a fit learns: the prior's precisions, and the
// noise or the shape of the density.
#pragma once

#include <optional>

#include "train/exact/scales/covariance_search.hpp"
#include "train/exact/scales/noise_search.hpp"
#include "train/exact/scales/prior_search.hpp"
#include "train/exact/scales/shape_marginal.hpp"
#include "train/exact/scales/shape_search.hpp"

namespace bdl {

template <class T>
class ScaleSearch {
 public:
  /// All must outlive it. The units of the data must have been chosen, and the first noise and shape.
  ScaleSearch(ExactElbo& elbo, Posterior<double>& q, Optimizer<T>& optimizer, DataSet& data);
  SearchEnd run(const Iterated& iterated);
  /// Returns the distance from the optimum in standard deviations, whichever is largest: the length of the
  /// natural gradient, or the error of a scale.
  double distance();
  /// Integrates the shape out of the optimal q (shape_marginal.hpp). Returns true if q has changed.
  bool integrate_shape() { return shape_ && bdl::integrate_shape(fit_); }
  /// Counts the degrees of freedom by which the noise is known, after run() or distance().
  void count_degrees();

 private:
  bool learns_covariance() const;
  SearchEnd run_with_noise(const Iterated& iterated);

  Optimizer<T>& optimizer_;
  LearnedFit fit_;
  double most_noise_precision_ = 1;
  std::optional<PriorSearch<T>> prior_;  // if the prior is learned
  std::optional<ShapeSearch> shape_;
  std::optional<NoiseSearch> noise_;
  std::optional<CovarianceSearch> covariance_;
};

}  // namespace bdl
