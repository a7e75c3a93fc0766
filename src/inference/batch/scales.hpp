// Learning the scales (docs/mathematics/scales.md): lambda = D / E[theta^T theta] per group and tau = N C /
// E[sum of squared errors], as slow moving averages of 1 / lambda and 1 / tau. docs/mathematics/scales.md,
// "When learning starts", says when.
#pragma once

#include <algorithm>

#include "curvature/seeds.hpp"
#include "data/data_set.hpp"
#include "prior/prior.hpp"

namespace bdl {

/// Mean over the outputs of Var(y), standardised; of y^2 where there is no variation (a single example).
double target_variance(DataSet& data, const Standardization& units);
/// Of each target alone; missing ones (NaN) do not count.
std::vector<double> target_variances(DataSet& data, const Standardization& units);

/// Next values, computed before a step is committed.
struct Scales {
  std::vector<double> prior, noise, squares;  ///< empty: not learned in this step
  double degrees = 0;                         ///< of freedom; 0: not learned
  void reserve(std::size_t groups, std::size_t outputs) {
    prior.reserve(groups);
    noise.reserve(outputs);
    squares.reserve(std::max(groups, outputs));
  }
};

/// Weight of the k-th learning step (k = 1, 2, ...): a running mean at first, then a moving average of weight
/// rate.
double scale_weight(double rate, Index k);

/// Moves scales.prior towards 1 / E[theta^2] per group.
template <class T>
void learn_prior(const Prior<T>& prior, ConstMatrixView<T> thetas, double weight, Scales& scales);

/// One step up the mean log density of Student-t noise in 1 / nu, whose slope outliers move by what they are
/// worth.
template <class T>
void learn_degrees(const Likelihood& likelihood, ConstMatrixView<T> f, ConstMatrixView<T> y, double weight,
                   Scales& scales);

/// Moves scales.noise towards M / E[squared error], shared by the outputs or per output as the likelihood
/// holds it; a full covariance is not learned. f: outputs at posterior samples, column s M + i.
template <class T>
void learn_noise(const Likelihood& likelihood, ConstMatrixView<T> f, ConstMatrixView<T> y, double weight,
                 Scales& scales);

}  // namespace bdl
