#include "train/scales/by_evidence.hpp"

#include <cmath>

#include "train/scales/linearized_evidence.hpp"
#include "train/start.hpp"
#include "train/units.hpp"

namespace bdl {
namespace {

constexpr Index looks = 12;                             // evenly spaced ones
constexpr double early_looks[] = {1.0 / 60, 1.0 / 24};  // fractions of the course
constexpr double worst_fall = 0.2;                      // nats per example
constexpr int first_steps = 5, more_steps = 2;          // of the search

Index step_at(const Plan& plan, double fraction) {
  return plan.begin + static_cast<Index>(std::ceil(fraction * static_cast<double>(plan.end - plan.begin)));
}

bool is_look(const Plan& plan, Index step) {
  if (plan.end <= plan.begin || step > plan.end) return false;
  for (const double fraction : early_looks)
    if (step == step_at(plan, fraction)) return true;
  for (Index k = 1; k <= looks; ++k)
    if (step == step_at(plan, static_cast<double>(k) / looks)) return true;
  return false;
}

/// Begins training anew with the noise of a constant. The course goes on: the rates begin anew, and fall over
/// the steps that are left.
template <class T>
void begin_anew(Optimizer<T>& optimizer, DataSet& data, ConstSpan<double> noise) {
  TrainingState state = optimizer.state;
  initialize(optimizer);
  state.learning_step = state.step;
  state.plan.begin = state.step;
  state.start_weight = 1;
  state.watch = {};
  state.convergence = {};
  state.is_fresh = true;
  optimizer.state = state;
  start_units(optimizer, data);
  optimizer.model()->likelihood.learn_noise_precision(noise);
}

/// Looks at the evidence while the noise is optimistic. Returns true if optimism ends here.
template <class T>
bool ends_optimism(Optimizer<T>& optimizer, const LinearizedEvidence<T>& evidence, double examples) {
  TrainingState& state = optimizer.state;
  const double value = evidence.value(), best = state.best_evidence;
  state.best_evidence = std::max(best, value);
  return value < best - worst_fall * examples ||
         plan_fraction(state.plan, state.step + 1) >= optimizer.options().learn_from;
}

}  // namespace

template <class T>
bool learns_by_evidence(const Optimizer<T>& optimizer) {
  const Options& options = optimizer.options();
  const MethodContext& context = optimizer.context();
  if (options.scales == ScaleSource::samples || options.learn_noise == 0) return false;
  if (!context.is_network || !context.has_hidden || optimizer.method().kind != MethodKind::batch)
    return false;
  const Likelihood& likelihood = optimizer.model()->likelihood;
  if (!likelihood.has_noise_precision() || likelihood.noise_covariance().given()) return false;
  const bool by_layers =
      options.prior_groups == PriorGroups::layers || options.prior_groups == PriorGroups::shared;
  return by_layers && !optimizer.prior().is_fixed() && context.without_separate_examples.empty() &&
         optimizer.posterior()->is_gaussian();
}

template <class T>
MovedScales learned_scales_of(const Optimizer<T>& optimizer) {
  return {optimizer.options().learn_prior == 1 && !optimizer.prior().is_fixed(),
          optimizer.options().learn_noise == 1};
}

template <class T>
void look_at_evidence(Optimizer<T>& optimizer, DataSet& data, const EvidenceSample<T>& sample) {
  TrainingState& state = optimizer.state;
  if (!is_look(state.plan, state.step)) return;
  LinearizedEvidence<T> evidence(optimizer, sample);
  const MovedScales moved = learned_scales_of(optimizer);
  if (state.learning_step > 0) {
    evidence.search(moved, more_steps);
  } else {
    const auto examples = static_cast<double>(sample.data_rows());
    evidence.begin_afresh();
    evidence.search({}, first_steps);
    const double best_before = state.best_evidence;
    if (!ends_optimism(optimizer, evidence, examples)) return;
    state.learning_step = state.step;
    const bool has_fallen = evidence.value() < best_before - worst_fall * examples;
    if (has_fallen && state.best_evidence < evidence.of_constant() && state.may_begin_anew)
      return begin_anew<T>(optimizer, data, evidence.noise_of_constant());
  }
  state.convergence = {};
  if (moved.prior) optimizer.prior().set_groups(evidence.prior());
  optimizer.model()->likelihood.learn_noise_precision(evidence.noise());
}

#define BDL_INSTANTIATE(T)                                     \
  template bool learns_by_evidence(const Optimizer<T>&);       \
  template MovedScales learned_scales_of(const Optimizer<T>&); \
  template void look_at_evidence(Optimizer<T>&, DataSet&, const EvidenceSample<T>&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
