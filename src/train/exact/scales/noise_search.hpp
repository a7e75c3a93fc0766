// The noise precisions of the greatest ELBO, of all outputs together or of each, with their best posterior.
#pragma once

#include <vector>

#include "train/exact/scales/learned_fit.hpp"
#include "train/exact/scales/noise_root.hpp"

namespace bdl {

class NoiseSearch {
 public:
  /// Precisions stay below `most`: targets on a straight line would have no noise.
  NoiseSearch(const LearnedFit& fit, double most);
  SearchEnd run(const Iterated& iterated);
  /// Returns the largest error of a log precision at q, in units of its standard deviation sqrt(2 / N).
  double distance();

 private:
  void find_best();
  double largest_residual() const;
  void set(ConstSpan<double> logs);

  LearnedFit fit_;
  double most_;  // log precision
  std::vector<NoiseRoot> roots_;
  std::vector<double> logs_, best_;  // of the noise precisions: the present ones, and the best for q
};

}  // namespace bdl
