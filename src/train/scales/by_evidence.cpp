#include "train/scales/by_evidence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "train/scales/linearized_evidence.hpp"
#include "train/start.hpp"
#include "train/step.hpp"
#include "train/units.hpp"

namespace bdl {
namespace {

constexpr double looks[] = {1 / 60., 1 / 24., 1 / 12., 1 / 6., 1 / 4., 1 / 3.,
                            1 / 2.,  5 / 8.,  3 / 4.,  7 / 8., 1};
constexpr double worst_fall = 0.2;        // nats per example
constexpr double time_to_move = 0.1;      // fraction of the course
constexpr double time_to_judge = 1 / 6.;  // the same
constexpr double time_to_follow = 0.3;    // the same
constexpr double nearly_all = 0.9;        // targets, of which each determines a parameter
// Optimistic noise precisions of deep networks, over those found: the more input values there are, the less
// optimism a mean needs to fit, and the more noise it could learn by heart.
constexpr double least_optimism = 3, values_of_optimism = 25'000;
constexpr double most_optimistic = 100, step_of_noise = 1.78;  // noise precisions over that of a constant
constexpr int first_steps = 2, more_steps = 1;                 // of the search

bool is_look(const Plan& plan, Index step) {
  if (plan.end <= plan.begin || step > plan.end) return false;
  return std::ranges::any_of(looks, [&](double fraction) { return step == step_at(plan, fraction); });
}

/// True if an estimate needs nothing of draws but parameters near the mean; others divide by their
/// deviations.
bool may_scale_draws(EstimateKind kind) {
  return kind == EstimateKind::mc_ef || kind == EstimateKind::mc_ggn || kind == EstimateKind::mc_hess;
}

/// Returns true if the evidence is far below the largest one before.
template <class T>
bool has_fallen(Optimizer<T>& optimizer, double evidence, double examples) {
  double& best = optimizer.state.best_evidence;
  const bool falls = evidence < best - worst_fall * examples;
  best = std::max(best, evidence);
  return falls;
}

}  // namespace

template <class T>
bool learns_by_evidence(const Optimizer<T>& optimizer) {
  return optimizer.method().kind == MethodKind::batch &&
         learns_by_evidence(optimizer.options(), optimizer.context()) && !optimizer.prior().is_fixed() &&
         !optimizer.prior().has_normals() && !optimizer.model()->likelihood.noise_covariance().given() &&
         optimizer.posterior()->is_gaussian();
}

/// Log noise precisions are 0 when they become free: their prior is learned once they have moved.
template <class T>
MovedScales learned_scales_of(const Optimizer<T>& optimizer) {
  const Options& options = optimizer.options();
  const TrainingState& state = optimizer.state;
  const double since = plan_fraction(state.plan, state.step + 1) - options.heteroscedastic_from;
  return {options.learn_prior == 1 && !optimizer.prior().is_fixed(), options.learn_noise == 1,
          since >= time_to_move};
}

template <class T>
LooksAtEvidence<T>::LooksAtEvidence(Optimizer<T>& optimizer, DataSet& data, Index shards)
    : optimizer_(optimizer),
      data_(data),
      sample_(optimizer, data, shards),
      evidence_(optimizer, sample_),
      optimistic_(optimizer.model()->likelihood.noise_precision().size()) {}

/// True for deep networks, unless the caller chose the noise. They could learn the noise of many rows by
/// heart, of which the linearised network sees little; with one hidden layer the evidence falls in time.
template <class T>
bool LooksAtEvidence<T>::optimism_follows_evidence() const {
  const Options& options = optimizer_.options();
  return optimizer_.context().is_deep && options.learn_noise == 1 && options.initial_noise_precision == 0 &&
         optimizer_.model()->likelihood.noise_origin() != NoiseOrigin::caller && evidence_.knows_left_out();
}

template <class T>
void LooksAtEvidence<T>::compute() {
  LogPrecisionInStep log_precision(optimizer_.model()->likelihood);
  log_precision.hold_without_curvature();
  evidence_.compute();
}

/// Finds the noise with which the network, linearised where it starts, predicts rows left out best.
template <class T>
void LooksAtEvidence<T>::start() {
  if (!optimizer_.state.is_fresh || !optimism_follows_evidence()) return;
  compute();
  double found = 1, best = -std::numeric_limits<double>::infinity();
  for (double times = 1; times <= most_optimistic; times *= step_of_noise) {
    evidence_.suppose_noise(times);
    const double left_out = evidence_.left_out();
    if (left_out <= best) break;
    best = left_out;
    found = times;
  }
  evidence_.suppose_noise(found);
  set_optimistic_noise();
}

/// Sets noise a few times as precise as the evidence's, and never less precise than before.
template <class T>
void LooksAtEvidence<T>::set_optimistic_noise() {
  if (!optimism_follows_evidence()) return;
  const double values = optimizer_.data_weight() * static_cast<double>(optimizer_.model()->features());
  const double times = std::max(least_optimism, values_of_optimism / values);
  std::ranges::transform(evidence_.noise().precisions(), optimistic_.begin(),
                         [&](double found) { return times * found; });
  const ConstSpan<double> of_constant = evidence_.noise().precisions_of_constant();
  for (std::size_t p = 0; p < optimistic_.size(); ++p) {
    const double before = optimizer_.state.is_fresh ? 0 : optimizer_.model()->likelihood.noise_precision()[p];
    optimistic_[p] = std::min(std::max(optimistic_[p], before), most_optimistic * of_constant[p]);
  }
  optimizer_.model()->likelihood.learn_noise_precision(optimistic_);
}

template <class T>
double LooksAtEvidence<T>::fraction() const {
  return plan_fraction(optimizer_.state.plan, optimizer_.state.step + 1);
}

template <class T>
void LooksAtEvidence<T>::look() {
  TrainingState& state = optimizer_.state;
  if (!is_look(state.plan, state.step)) return;
  const MovedScales moved = learned_scales_of(optimizer_);
  compute();
  if (state.learning_step > 0) {
    evidence_.search(moved, more_steps);
  } else {
    const double examples = optimizer_.data_weight();
    evidence_.begin_afresh();
    evidence_.search({}, first_steps);
    const bool falls = has_fallen(optimizer_, evidence_.value(), examples);
    const Signal found = signal(falls);
    const bool is_early = !falls && !follows_every_row() && fraction() < optimizer_.options().learn_from;
    if (found == Signal::unclear || (found == Signal::seen && is_early)) return set_optimistic_noise();
    state.learning_step = state.step;
    if (found == Signal::absent) return begin_anew();
  }
  state.convergence = {};
  if (moved.prior) optimizer_.prior().set_groups(evidence_.prior());
  optimizer_.model()->likelihood.learn_noise_precision(evidence_.noise().precisions());
  if (may_scale_draws(optimizer_.options().curvature)) state.draw_scale = evidence_.draw_scale();
}

/// True if the mean can follow every row: more optimism would leave it too little time to forget its noise.
template <class T>
bool LooksAtEvidence<T>::follows_every_row() {
  const double targets = optimizer_.data_weight() * static_cast<double>(evidence_.targets());
  return targets > 0 && fraction() > time_to_follow &&
         evidence_.effective_parameters() > nearly_all * targets;
}

/// Nothing seems to be there to learn while the evidence was never that of a constant. A mean that has just
/// begun to fit has such an evidence too; after a while, predictions of rows left out decide.
template <class T>
auto LooksAtEvidence<T>::signal(bool falls) -> Signal {
  const double of_constant = evidence_.noise().of_constant();
  if (!optimizer_.state.may_begin_anew || optimizer_.state.best_evidence >= of_constant) return Signal::seen;
  if (!evidence_.knows_left_out()) return falls ? Signal::absent : Signal::seen;
  if (fraction() < time_to_judge) return Signal::unclear;
  return evidence_.left_out() < of_constant ? Signal::absent : Signal::seen;
}

/// Begins training anew with the noise of a constant. The course goes on: the rates begin anew, and fall over
/// the steps that are left.
template <class T>
void LooksAtEvidence<T>::begin_anew() {
  TrainingState state = optimizer_.state;
  initialize(optimizer_);
  state.learning_step = state.step;
  state.plan.begin = state.step;
  state.start_weight = state.draw_scale = 1;
  state.watch = {};
  state.convergence = {};
  state.is_fresh = true;
  optimizer_.state = state;
  start_units(optimizer_, data_);
  optimizer_.model()->likelihood.learn_noise_precision(evidence_.noise().precisions_of_constant());
}

#define BDL_INSTANTIATE(T)                                     \
  template bool learns_by_evidence(const Optimizer<T>&);       \
  template MovedScales learned_scales_of(const Optimizer<T>&); \
  template class LooksAtEvidence<T>;
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
