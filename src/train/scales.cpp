#include "train/scales.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "likelihood/shape.hpp"
#include "methods/suggestion.hpp"
#include "train/approximate/laplace.hpp"
#include "train/optimizer.hpp"

namespace bdl {
namespace {

double averaged(double precision, double variance, double weight) {
  return 1 / std::clamp((1 - weight) / precision + weight * variance, smallest_variance, largest_variance);
}

}  // namespace

bool is_due(const TrainingState& state, double from, Index epoch_steps) {
  if (state.plan.end > state.plan.begin) return plan_fraction(state.plan, state.step + 1) >= from;
  // Without a plan, learning starts where a course of usual_epochs epochs would start it.
  return static_cast<double>(state.running_steps) >=
         from * static_cast<double>(usual_epochs) * static_cast<double>(epoch_steps);
}

/// Rule "map" does not learn the prior: the mean square of a mode carries no information about it.
template <class T>
LearnedScales learned_scales(const Optimizer<T>& optimizer, Index epoch_steps) {
  const Options& options = optimizer.options();
  const TrainingState& state = optimizer.state;
  const Likelihood& likelihood = optimizer.model()->likelihood;
  LearnedScales learned;
  learned.is_due = is_due(state, options.learn_from, epoch_steps);
  const bool by_steps = !state.by_evidence,
             learns_prior =
                 options.learn_prior == learn_in_doubt ? state.is_in_doubt : options.learn_prior == 1,
             at_ends_of_epochs = state.epoch < state.fit_end_epoch && evidence_learns_noise(optimizer),
             learns_noise = options.learn_noise && likelihood.has_noise_precision() && !at_ends_of_epochs;
  learned.prior = by_steps && learns_prior && !optimizer.prior().is_fixed() && options.rule != Rule::map;
  learned.noise = by_steps && learns_noise;
  learned.degrees = learns_noise && options.learn_degrees_of_freedom && likelihood.kind() == BDL_STUDENT_T &&
                    is_due(state, options.heteroscedastic_from, epoch_steps);
  learned.shape = options.learn_shape && has_shape(likelihood.kind());
  const bool has_samples =
      is_sampled(options.curvature) || optimizer.step_kind() == StepKind::low_rank_moment;
  const bool suffices_at_mean = options.rule == Rule::map && is_linearized(options.curvature);
  learned.at_samples = (learned.prior || learned.noise || learned.degrees || learned.shape) && !has_samples &&
                       !suffices_at_mean;
  return learned;
}

template <class T>
bool has_intercept(const Model<T>& model) {
  return model.blocks().empty() || std::ranges::any_of(model.blocks(), &ParameterBlock::is_bias);
}

double scale_weight(double rate, Index k) {
  return std::max(rate, 1 / static_cast<double>(k + 10));
}

void Scales::clear() {
  prior.clear();
  noise.clear();
  degrees = 0;
  shape.clear();
}

void Scales::learn_prior(ConstSpan<double> groups, ConstSpan<double> mean_squares, double weight) {
  prior.assign(groups.begin(), groups.end());
  for (std::size_t g = 0; g < prior.size(); ++g) prior[g] = averaged(prior[g], mean_squares[g], weight);
}

void Scales::learn_noise(const Likelihood& likelihood, ConstSpan<double> squared_errors, double examples,
                         double weight) {
  if (likelihood.keeps_noise_covariance()) return;
  noise.assign(likelihood.noise_precision().begin(), likelihood.noise_precision().end());
  if (noise.size() == 1) {
    const double sum = std::accumulate(squared_errors.begin(), squared_errors.end(), 0.0);
    const double values = static_cast<double>(squared_errors.size()) * examples;
    noise[0] = averaged(noise[0], sum / values, weight);
    return;
  }
  for (std::size_t c = 0; c < noise.size(); ++c)
    noise[c] = averaged(noise[c], squared_errors[c] / examples, weight);
}

void Scales::learn_degrees(const Likelihood& likelihood, double mean_slope, double weight) {
  constexpr double least = 1, most = 1000,
                   information = 3.5;  // the largest information about 1 / nu, reached for normal noise
  const double now = likelihood.degrees_of_freedom();
  degrees = 1 / std::clamp(1 / now + weight * mean_slope / information, 1 / most, 1 / least);
}

template <class T>
void Scales::learn(const LearnedScales& learned, const StepEvidence<T>& found, const Model<T>& model,
                   const Prior<T>& of_prior, double weight) {
  if (found.examples == 0) return;  // all weights are 0
  const Likelihood& likelihood = model.likelihood;
  if (learned.prior) learn_prior(of_prior.groups(), found.prior_squares, weight);
  if (learned.noise) learn_noise(likelihood, found.squared_errors, found.examples, weight);
  if (learned.shape) shape = shape_step(likelihood, found.shape_sums, weight, has_intercept(model)).shape;
  if (learned.degrees) learn_degrees(likelihood, found.degrees_slope / found.degrees_count, weight);
}

#define BDL_INSTANTIATE(T)                                                                   \
  template bool has_intercept(const Model<T>&);                                              \
  template LearnedScales learned_scales(const Optimizer<T>&, Index);                         \
  template void Scales::learn(const LearnedScales&, const StepEvidence<T>&, const Model<T>&, \
                              const Prior<T>&, double);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
