// The noise covariance R of several Gaussian outputs that maximises the ELBO, with its best posterior: the
// fixed point of R = sum_i w_i E[(y_i - f_i)(y_i - f_i)^T] / N. Under a flat prior it is the residuals' sum
// of products over N - p, and Sigma is R (x) (X^T X)^-1, as in multivariate linear regression (Mardia, Kent
// and Bibby 1979, Multivariate Analysis, chapter 6).
#pragma once

#include "base/view.hpp"
#include "train/exact/accelerated_steps.hpp"
#include "train/exact/scales/learned_fit.hpp"

namespace bdl {

class CovarianceSearch {
 public:
  explicit CovarianceSearch(const LearnedFit& fit) : fit_(fit) {}
  /// True if the data can tell R: outputs have more targets than parameters, and no residuals are a
  /// combination of others. Needs the evaluation of the optimal q for independent noise.
  bool has_enough_data() const;
  /// Starts from independent noise unless R has been learned already. Is stuck if R becomes singular.
  SearchEnd run(const Iterated& iterated);
  /// True if run() found that the best fit leaves no noise in a combination of the outputs.
  bool is_singular() const { return is_singular_; }
  /// Returns the largest error of R at q, in units of the standard deviation of a log variance sqrt(2 / N).
  double distance();

 private:
  void start();
  double find_step();
  bool is_best_regular() const;
  NoiseCovariance next(AcceleratedSteps& steps) const;

  LearnedFit fit_;
  Buffer<double> best_;
  bool is_singular_ = false;
};

}  // namespace bdl
