// Learning the scales (docs/theory/scales.md): lambda = D / E[theta^T theta] per group of the prior and
// tau = N C / E[sum of squared errors], as slow moving averages of 1 / lambda and 1 / tau. "When learning
// starts" there says from which step on.
#pragma once

#include <vector>

#include "evidence/minibatch_evidence.hpp"
#include "prior/prior.hpp"
#include "train/state.hpp"

namespace bdl {

template <class T>
class Optimizer;

/// Limits of learned variances. Only a perfect fit or an all-zero group drifts this far; both floating types
/// still hold them.
inline constexpr double smallest_variance = 1e-30, largest_variance = 1e30;

/// True once the course, or a usual course if there is no plan, has reached the fraction `from`.
bool is_due(const TrainingState& state, double from, Index epoch_steps);

/// Returns the scales that the optimizer's next step learns besides the posterior.
template <class T>
LearnedScales learned_scales(const Optimizer<T>& optimizer, Index epoch_steps);

/// True if the model has a bias, or is a custom one, which may have it: the location of cut points then
/// belongs to it.
template <class T>
bool has_intercept(const Model<T>& model);

/// Returns the weight of the k-th learning step (k = 1, 2, ...): a running mean at first, then a moving
/// average of weight `rate`.
double scale_weight(double rate, Index k);

/// Next values of the scales, computed before a step is committed.
struct Scales {
  std::vector<double> prior, noise;  ///< precisions; empty if not learned in this step
  double degrees = 0;                ///< degrees of freedom; 0 if not learned
  std::vector<double> shape;         ///< empty if not learned

  void clear();
  /// Moves the prior's groups towards 1 / E[theta^2] per group.
  void learn_prior(ConstSpan<double> groups, ConstSpan<double> mean_squares, double weight);
  /// Moves the noise towards M / E[squared error] over M examples (the sum of their weights), shared by the
  /// outputs or per output as the likelihood holds it; a full covariance is not learned.
  void learn_noise(const Likelihood& likelihood, ConstSpan<double> squared_errors, double examples,
                   double weight);
  /// Moves 1 / nu by one step up the mean slope.
  void learn_degrees(const Likelihood& likelihood, double mean_slope, double weight);
  /// Moves all scales that the step learns.
  template <class T>
  void learn(const LearnedScales& learned, const StepEvidence<T>& found, const Model<T>& model,
             const Prior<T>& prior, double weight);
};

}  // namespace bdl
