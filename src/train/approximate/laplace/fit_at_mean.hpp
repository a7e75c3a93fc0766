// How well a mean fits a whole data set: one pass, by shards.
#pragma once

#include <vector>

#include "train/approximate/laplace/curvature.hpp"

namespace bdl {

/// Sums over the data, which count as N examples.
struct FitAtMean {
  double log_likelihood = 0;           ///< of standardised targets, with all constants
  std::vector<double> squared_errors;  ///< of each target
  std::vector<double> observed;        ///< targets that are not missing
  std::vector<double> gradient;        ///< of minus the log likelihood
  double variance = 0;                 ///< of the targets around their means, over all of them
};

/// All ranks call it within Team::telling.
template <class T>
FitAtMean fit_at_mean(const Model<T>& model, const Posterior<T>& q, const SharedData& shared);

}  // namespace bdl
