#include "train/diagnose.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "methods/schedule.hpp"
#include "posterior/point_parameters.hpp"
#include "train/exact/exact_fit.hpp"

namespace bdl {
namespace {

constexpr double moved = 0.1;       // least mean_shift or precision_shift of a posterior that has moved
constexpr double old_weight = 0.5;  // fraction of the initial precision that is left in the present one
constexpr double lowest_share = 0.01, highest_growth = 1e12;  // factors on the prior's, the initial precision
// The expected log likelihood still rises if it is so many nats per example above its average, and by this
// fraction of the whole rise. Healthy fits have up to 0.1 nats.
constexpr double least_rise = 0.15, rising_share = 0.05;

const char* start_advice(bool mean_moved, bool precision_moved) {
  if (!mean_moved && !precision_moved)
    return "training has not moved the posterior, whose mean and precision are the initial ones: train for "
           "more steps, or raise learning_rate and curvature_rate";
  if (!mean_moved)
    return "training has not moved the mean (by 0.1 posterior standard deviations or more): train for more "
           "steps, raise learning_rate, or lower initial_precision or the noise precision";
  if (!precision_moved)
    return "training has hardly changed the precision (the initial one still counts for more than half), so "
           "the predictive uncertainty is not learned: train for more steps, or raise curvature_rate";
  return "";
}

/// Returns advice if most posterior precisions are implausible, else "". Does not judge map (no
/// covariance), streams (precision may fade) and exact methods (at the optimum).
template <class T>
const char* precision_advice(const Optimizer<T>& optimizer, ConstSpan<T> precision) {
  const Method& method = optimizer.method();
  if (optimizer.options().rule == Rule::map || method.kind != MethodKind::batch) return "";
  const auto prior = optimizer.prior().precision(), initial = optimizer.initial_precision();
  std::size_t lost = 0, exploded = 0;
  for (std::size_t i = 0; i < precision.size(); ++i) {
    lost += precision[i] < lowest_share * prior[i];
    exploded += precision[i] > highest_growth * initial[i];
  }
  if (2 * lost > precision.size())
    return "most parameters have less than a hundredth of their prior's precision: the posterior has "
           "collapsed; lower curvature_rate, or raise initial_precision";
  if (2 * exploded > precision.size())
    return "the precision of most parameters has grown by more than 1e12: the posterior is a point; check "
           "the units of the data, standardise them, or lower the noise precision";
  return "";
}

/// Returns advice if the noise precision is implausible, else "". Standardised targets bound it; for other
/// targets only the limits of learning can tell.
template <class T>
const char* noise_advice(const Optimizer<T>& optimizer) {
  const Model<T>* model = optimizer.model().get();
  const TrainingState& state = optimizer.state;
  if (!model || !model->likelihood.has_noise_precision() || !optimizer.options().learn_noise) return "";
  if (optimizer.method().kind != MethodKind::batch) return "";
  if (model->likelihood.noise_covariance().given()) return "";
  if (!state.learning_step)
    return state.step >= state.plan.end
               ? "the noise has not been learned yet: train for more steps, or lower learn_from"
               : "";
  const double far = model->standardization.has_targets() ? 1e10 : 1e29;
  const auto noise = model->likelihood.noise_precision();
  if (std::ranges::any_of(noise, [&](double value) { return value > far; }))
    return "the estimated noise is zero: check whether an input repeats the target, or fix the noise "
           "(learn_noise = 0)";
  if (std::ranges::any_of(noise, [&](double value) { return value < 1 / far; }))
    return "the estimated noise is far larger than the targets: training has left the data; lower "
           "learning_rate, or fix the noise (learn_noise = 0)";
  return "";
}

/// True if an unmoved posterior means too little training. Streams may stay where they are, and exact
/// methods end at an optimum.
template <class T>
bool may_be_still(const Optimizer<T>& optimizer) {
  return optimizer.method().kind == MethodKind::batch;
}

bool still_rises(const TrainingState& state, double data_size) {
  const double rise = state.running_log_likelihood - state.convergence.average,
               whole = std::abs(state.running_log_likelihood - state.convergence.first);
  return state.convergence.steps > 0 && rise > least_rise * data_size && rise > rising_share * whole;
}

template <class T>
const char* advice(const Optimizer<T>& optimizer, ConstSpan<T> precision, bool mean_moved,
                   bool precision_moved) {
  const TrainingState& state = optimizer.state;
  if (state.has_diverged)
    return "training diverged, and this is the last good state before: lower learning_rate, or set option "
           "guard to its default if it is 0";
  if (state.rate_cuts > 0)
    return "training diverged, and continued from its last good state with a lower learning rate: lower "
           "learning_rate";
  if (state.step == 0) return "training has not begun: the posterior is the initial one";
  if (state.distance > near_optimum)
    return "the fit has ended before the optimum of the ELBO, more than 0.0001 posterior standard deviations "
           "from it: fit with more epochs; if that does not help, scale the inputs to similar sizes or raise "
           "prior_precision";
  const char* message = precision_advice(optimizer, precision);
  if (!*message) message = noise_advice(optimizer);
  if (!*message && may_be_still(optimizer)) message = start_advice(mean_moved, precision_moved);
  if (!*message && optimizer.method().kind != MethodKind::exact &&
      still_rises(state, optimizer.data_weight()))
    message =
        "training has not converged, as the expected log likelihood still rises: train for more epochs, or "
        "raise learning_rate";
  return message;
}

}  // namespace

template <class T>
Diagnosis diagnose(const Optimizer<T>& optimizer) {
  const Posterior<T>& q = *optimizer.posterior();
  if (!q.is_gaussian()) {  // masks have no moments to judge
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    return {none, none, advice<T>(optimizer, {}, true, true)};
  }
  Buffer<T> precision(q.dimension());
  q.precision_diagonal(precision.first(q.dimension()));
  double mean = 0, ratio = 0;
  for_each_uncertain(q.point_parameters(), q.dimension(), [&](Index offset, Index size) {
    for (Index i = offset; i < offset + size; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const auto now = static_cast<double>(precision.data()[i]);
      mean += std::pow(static_cast<double>(q.mean()[k] - optimizer.initial_mean()[k]), 2) * now;
      ratio += std::pow(std::log(now / static_cast<double>(optimizer.initial_precision()[k])), 2);
    }
  });
  const auto dimension = static_cast<double>(uncertain_parameters(q));
  const double mean_shift = std::sqrt(mean / dimension), precision_shift = std::sqrt(ratio / dimension);
  // A posterior as prior has a learned mean, which may be right without moving.
  const bool mean_moved = mean_shift >= moved || optimizer.prior().posterior();
  // The mode has no precision that could move, a fixed small variance does not move, and plain gradients
  // keep no fraction of the initial precision.
  const auto rule = optimizer.options().rule;
  const bool has_fixed_variance =
      is_low_rank_moment(q.family()) && optimizer.options().diagonal_part == DiagonalPart::fixed;
  const bool precision_moved = rule == Rule::map || has_fixed_variance ? true
                               : rule == Rule::bbb                     ? precision_shift >= moved
                                                   : optimizer.state.start_weight < old_weight;
  return {mean_shift, precision_shift,
          advice<T>(optimizer, precision.first(q.dimension()), mean_moved, precision_moved)};
}

template Diagnosis diagnose(const Optimizer<float>&);
template Diagnosis diagnose(const Optimizer<double>&);

}  // namespace bdl
