// The prior's precisions and the noise that maximise the ELBO of its best posterior. In generalised linear
// models with Gaussian noise that is the evidence (MacKay 1992, "Bayesian interpolation"); its derivatives by
// the logs of the scales are those of the ELBO at the optimal q,
//   dL / dlog lambda_g = (D_g - lambda_g E|theta_g|^2) / 2,   dL / dlog tau_c = (N_c - tau_c E|y_c - f_c|^2)
//   / 2.
#pragma once

#include <functional>

#include "train/exact/fixed_point.hpp"
#include "train/optimizer.hpp"

namespace bdl {

template <class T>
class PriorSearch {
 public:
  /// Finds the best posterior for the scales that elbo has.
  using InnerSearch = std::function<SearchEnd(const Iterated& iterated)>;
  /// All must outlive it. Precisions of groups with weights are learned, unless the prior is fixed; groups of
  /// biases only keep theirs, and so do priors that are given: an intercept's leaves log det Lambda_0 a sum
  /// of logs of the groups' precisions. Noise up to `most_noise_precision` is learned if `learns_noise`.
  PriorSearch(Optimizer<T>& optimizer, ExactElbo& elbo, Posterior<double>& q, bool learns_noise,
              double most_noise_precision);
  /// Searches by L-BFGS, whose iterations are those of the course. If it fails, scales are those of the last
  /// of these.
  SearchEnd run(const InnerSearch& inner, const Iterated& iterated);
  /// Returns the largest error of a log scale in units of its standard deviation, after run().
  double distance() const { return distance_; }

 private:
  void read(std::span<double> logs) const;
  void write(ConstSpan<double> logs);
  SearchEnd run(std::span<double> logs, const InnerSearch& inner, const Iterated& iterated);
  double evaluate(ConstSpan<double> logs, std::span<double> gradient, const InnerSearch& inner);
  void differentiate(const ExactElbo::Value& value, std::span<double> gradient);
  double measure(ConstSpan<double> gradient) const;
  std::size_t size() const { return learned_.size() + noises_; }

  Optimizer<T>& optimizer_;
  ExactElbo& elbo_;
  Posterior<double>& q_;
  GroupedPrecisions prior_;
  std::vector<std::size_t> learned_;  // groups
  std::vector<double> sizes_;         // of all groups
  std::size_t noises_ = 0;
  double most_;
  ExactElbo::Value value_;
  double distance_ = 0;
  bool has_failed_ = false, has_value_ = false;
  Buffer<double> variances_;
  Scratch scratch_;
};

}  // namespace bdl
