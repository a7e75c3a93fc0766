// Learning the scales (docs/mathematics/scales.md): lambda = D / E[theta^T theta] per group and tau = N C /
// E[sum of squared errors], as slow moving averages of 1 / lambda and 1 / tau. docs/mathematics/scales.md,
// "When learning starts", says when.
#pragma once

#include <algorithm>

#include "curvature/seeds.hpp"
#include "data/data_set.hpp"
#include "parallel/shards.hpp"
#include "prior/prior.hpp"

namespace bdl {

/// Mean over the outputs of Var(y), standardised; of y^2 where there is no variation (a single example).
double target_variance(DataSet& data, const Standardization& units);
/// Of each target alone; missing ones (NaN) do not count.
std::vector<double> target_variances(DataSet& data, const Standardization& units);

/// The same of data of which each shard's part is known: sums of y and, about given means, of squares.
struct TargetSums {
  std::vector<double> means;  ///< one a target
  /// out[c] = sum of y_c over rows first .. end - 1, scaled.
  static void add_means(DataSet& data, const Standardization& units, const ShardRange& rows,
                        std::span<double> out);
  /// out[c] = sum of (y_c - means[c])^2 and, behind these, of y_c^2.
  void add_squares(DataSet& data, const Standardization& units, const ShardRange& rows,
                   std::span<double> out) const;
  /// target_variance() of those sums over all rows.
  static double variance(ConstSpan<double> squares, Index rows);
};

/// Next values, computed before a step is committed.
struct Scales {
  std::vector<double> prior, noise;  ///< empty: not learned in this step
  double degrees = 0;                ///< of freedom; 0: not learned
  /// What they are learned from: mean squares of each prior group, summed squared errors of each target.
  std::vector<double> prior_squares, squared_errors;
  void reserve(std::size_t groups, std::size_t targets) {
    prior.reserve(groups);
    noise.reserve(targets);
    prior_squares.reserve(groups);
    squared_errors.reserve(targets);
  }
};

/// Weight of the k-th learning step (k = 1, 2, ...): a running mean at first, then a moving average of weight
/// rate.
double scale_weight(double rate, Index k);

/// Moves scales.prior towards 1 / E[theta^2] per group, of scales.prior_squares.
template <class T>
void learn_prior(const Prior<T>& prior, double weight, Scales& scales);

/// Slope of the log density of Student-t noise in 1 / nu, summed over outputs and targets: what outliers are
/// worth.
template <class T>
double degrees_slope(const Likelihood& likelihood, ConstMatrixView<T> f, ConstMatrixView<T> y);

/// One step up that slope's mean.
void learn_degrees(const Likelihood& likelihood, double mean_slope, double weight, Scales& scales);

/// Moves scales.noise towards M / E[squared error] of scales.squared_errors over M examples, shared by the
/// outputs or per output as the likelihood holds it; a full covariance is not learned.
void learn_noise(const Likelihood& likelihood, Index examples, double weight, Scales& scales);

}  // namespace bdl
