// Optimizers on data sets: one step on a minibatch or on the caller's rows, and the scales learned with it.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/profile.hpp"
#include "inference/batch/freed_log_precision.hpp"
#include "inference/methods/rule.hpp"
#include "inference/optimizer.hpp"
#include "parallel/parallel.hpp"

namespace bdl {

/// Without a fixed prior in its loss, a data set seen again would count again.
template <class T>
void Optimizer<T>::check_batch_rule() const {
  if (rule() == Rule::bong || rule() == Rule::bog)
    fail(Status::ERROR_UNSUPPORTED,
         "rule \"%s\" has no prior to hold on to in batches: use rule \"blr\" or \"bbb\", or "
         "bdl_optimizer_observe()",
         rule() == Rule::bong ? "bong" : "bog");
  if (rule() != Rule::map) check_gaussian(*posterior_, "steps but by rule \"map\"");
  if (rule() == Rule::bbb && options_.descent == static_cast<std::int32_t>(DescentOption::adam) &&
      !posterior_->is_diagonal())
    fail(Status::ERROR_UNSUPPORTED,
         "descent \"adam\" with rule \"bbb\" is for diagonal posteriors: use \"sgd\" for others");
}

/// By SGD or Adam in place of the family's own steps.
template <class T>
bool Optimizer<T>::is_first_order() const {
  return rule() == Rule::map || (rule() == Rule::bbb && posterior_->is_diagonal());
}

/// Natural gradients of single examples, each scaled by its own leverage (leverage_guard.hpp).
template <class T>
bool Optimizer<T>::is_guarded() const {
  return options_.guard > 0 && rule() == Rule::blr && !is_first_order();
}

/// Not from the mode, whose mean square says nothing of the prior.
template <class T>
bool Optimizer<T>::learns_prior() const {
  return options_.learn_prior && !prior_.is_fixed() && rule() != Rule::map;
}

template <class T>
bool Optimizer<T>::learns_noise() const {
  return options_.learn_noise && model_->likelihood.has_noise_precision();
}

/// Do they need samples that the estimate of gradient and curvature does not make?
template <class T>
bool Optimizer<T>::samples_for_scales() const {
  const EstimateKind kind = estimate_kind(options_);
  return (learns_prior() || learns_noise()) && !is_sampled(kind) &&
         !(rule() == Rule::map && is_linearized(kind));
}

template <class T>
void Optimizer<T>::step(Index examples) {
  check_batch_rule();
  const ThreadLimit threads(options_.threads);
  if (posterior_->is_blank()) initialize();
  const double part = static_cast<double>(examples) / static_cast<double>(data_size_);
  const ConstMatrixView<T> x = x_to_fill(examples), y = y_to_fill(examples);
  scales_.reserve(prior_.groups().size(), static_cast<std::size_t>(y.rows));
  if (samples_for_scales()) {
    evidence_->reserve_samples(options_, examples);
    posterior_->reserve(options_.samples, scratch_);
  }
  const Index epoch_steps = state.batches > 0 ? state.batches : std::max<Index>(1, data_size_ / examples);
  const Index learning_step = state.learning_step;
  FreedLogPrecision freed(model_->likelihood);
  if (is_due(options_.heteroscedastic_from, epoch_steps)) freed.free();
  const auto kept = caller_draws_;  // the caller's callback may replace them
  if (!good_.is_known) remember_good_state();
  const bool guarded = is_guarded();
  const Evidence<T> evidence =
      guarded ? evidence_->prepare(*posterior_, x, y, options_, 1 / part, draws(), {state.step, 0}, scratch_)
              : evidence_->assess(*posterior_, x, y, options_, 1 / part, draws(), {state.step, 0}, scratch_);
  watch(y, epoch_steps);
  if (guarded)
    take_guarded(evidence);
  else
    take(evidence);
  learn_scales(x, y, epoch_steps);
  commit();
  freed.keep();
  const double weight = 1 / static_cast<double>(std::min(++state.running_steps, epoch_steps));
  state.running_log_likelihood +=
      weight * (evidence.expected_log_likelihood / part - state.running_log_likelihood);
  // What is learned may have changed, and with it what the expected log likelihood can be.
  const bool begins_anew = freed.is_new() && model_->likelihood.kind() == BDL_HETEROSCEDASTIC;
  if (begins_anew || (state.learning_step != learning_step && learns_noise())) state.arrival = {};
  state.arrival.add(state.running_log_likelihood);
  keep_good_state(epoch_steps);
}

template <class T>
void Optimizer<T>::step_rows() {
  check_batch_rule();
  check_gaussian(*posterior_, "steps on rows");  // whose masks it would have to know
  const ThreadLimit threads(options_.threads);
  if (posterior_->is_blank()) initialize();
  const Index count = caller_rows_.count(), dimension = posterior_->dimension();
  c_.reserve(count);
  gradient_.reserve(dimension);
  const auto c = c_.first(count);
  std::ranges::fill(c, static_cast<T>(static_cast<double>(data_size_) / static_cast<double>(count)));
  scales_.prior.clear();
  scales_.noise.clear();
  next_watch_ = state.watch;
  scales_.degrees = 0;
  {
    const StageTimer timer(Stage::sums);
    caller_rows_.sum(c, gradient_.first(dimension));
  }
  take({gradient_.first(dimension), {&caller_rows_, c, {}, {}}});
  commit();
  forget_good_state();
}

/// Computes the step and its averages beside the current ones; nothing of the current state changes.
template <class T>
void Optimizer<T>::take(const Evidence<T>& evidence) {
  held_ = false;
  if (is_first_order()) return descend(evidence);
  PosteriorStep<T> step = begin_batch_step(evidence);
  step.m = slope(evidence.gradient);
  part_ = next_->take(step, workspace_);
  check_mean_finite(*next_, "step", state.step + 1);
}

/// The covariance first: the guard asks how far it lets each example's gradient move the example's outputs.
template <class T>
void Optimizer<T>::take_guarded(const Evidence<T>& evidence) {
  PosteriorStep<T> step = begin_batch_step(evidence);
  const bool together = step.mean_update == MeanUpdate::unprojected;  // mean and covariance move at once
  if (together) {
    slope_.reserve(posterior_->dimension());
    std::ranges::fill(slope_.first(posterior_->dimension()), T(0));
    step.m = slope_.first(posterior_->dimension());
  }
  part_ = next_->take(step, workspace_);
  const Posterior<T>& metric = next_->moves_by_former_covariance() ? *posterior_ : *next_;
  step.m = slope(evidence_->guarded_gradient(metric, part_ * step.mean_rate, options_.guard, held_));
  if (together)
    part_ = next_->take(step, workspace_);
  else
    next_->move_mean_by(*posterior_, metric, part_ * step.mean_rate, step.m, workspace_.scratch);
  check_mean_finite(*next_, "step", state.step + 1);
}

/// All but m.
template <class T>
PosteriorStep<T> Optimizer<T>::begin_batch_step(const Evidence<T>& evidence) {
  if (!next_) next_ = posterior_->clone();
  const double factor = rate_factor(options_, state.plan, state.step + 1);
  const StreamKey random{static_cast<std::uint64_t>(options_.seed), Stream::range_finder,
                         static_cast<std::uint64_t>(state.step), 0};
  PosteriorStep<T> step = begin_step<T>(*posterior_, options_, false, random);
  step.curvature = evidence.curvature;
  step.mean_rate = std::ldexp(factor * options_.learning_rate, -static_cast<int>(state.rate_cuts));
  step.curvature_rate = factor * planned_curvature_rate(options_, state.plan);
  prior_.enter(step);
  return step;
}

template <class T>
void Optimizer<T>::descend(const Evidence<T>& evidence) {
  const double factor = rate_factor(options_, state.plan, state.step + 1);
  const DescentStep<T> step{*posterior_,
                            penalized(evidence.gradient),
                            prior_.precision(),
                            static_cast<double>(data_size_),
                            std::ldexp(factor * options_.learning_rate, -static_cast<int>(state.rate_cuts)),
                            state.step + 1};
  part_ = 1;
  if (rule() == Rule::map) {
    first_order_.move_mean(step, options_);
    return;
  }
  if (!next_) next_ = posterior_->clone();
  first_order_.move_diagonal(step, evidence.curvature, options_, *next_);
}

/// With that of minus the expected log prior.
template <class T>
ConstSpan<T> Optimizer<T>::penalized(ConstSpan<T> gradient) {
  slope_.reserve(posterior_->dimension());
  const auto slope = slope_.first(posterior_->dimension());
  ConstSpan<T> diagonal = prior_.precision();
  if (const auto* const dropout = find_dropout(*posterior_)) {
    dropout->weigh_prior(diagonal, slope);
    diagonal = slope;
  }
  prior_.slope(std::as_const(*posterior_).mean(), gradient, diagonal, slope);
  return slope;
}

/// m = gamma m + (1 - gamma) gradient, its bias corrected, plus the prior's share.
template <class T>
ConstSpan<T> Optimizer<T>::slope(ConstSpan<T> gradient) {
  const Index dimension = posterior_->dimension();
  slope_.reserve(dimension);
  next_momentum_.reserve(dimension);
  const double gamma = options_.momentum,
               unbias = 1 / (1 - std::pow(gamma, static_cast<double>(state.momentum_steps + 1)));
  const double kept = state.momentum_steps > 0 ? gamma : 0;
  const T *old = momentum_.data(), *from = gradient.data();
  T* const next = next_momentum_.data();
  const T keep = static_cast<T>(kept), add = static_cast<T>(1 - gamma);
  for_each_index(dimension, [=](Index i) BDL_INLINE_LAMBDA { next[i] = keep * old[i] + add * from[i]; });
  prior_.slope(std::as_const(*posterior_).mean(), static_cast<T>(unbias), next_momentum_.first(dimension),
               slope_.first(dimension));
  return slope_.first(dimension);
}

template <class T>
void Optimizer<T>::learn_scales(ConstMatrixView<T> x, ConstMatrixView<T> y, Index epoch_steps) {
  scales_.prior.clear();
  scales_.noise.clear();
  scales_.degrees = 0;
  if (!is_due(options_.learn_from, epoch_steps) || !(learns_prior() || learns_noise())) return;
  const Index first = state.learning_step ? state.learning_step : state.step + 1;
  const double weight = scale_weight(options_.scale_rate, state.step + 2 - first);
  if (samples_for_scales()) evidence_->sample(*posterior_, x, options_, draws(), {state.step, 0}, scratch_);
  if (learns_prior()) learn_prior<T>(prior_, evidence_->thetas(), weight, scales_);
  if (learns_noise()) learn_noise<T>(model_->likelihood, evidence_->outputs(), y, weight, scales_);
  if (learns_noise() && options_.learn_degrees_of_freedom && model_->likelihood.kind() == BDL_STUDENT_T &&
      is_due(options_.heteroscedastic_from, epoch_steps))  // once the scale fits
    learn_degrees<T>(model_->likelihood, evidence_->outputs(), y, weight, scales_);
  state.learning_step = first;
}

template <class T>
void Optimizer<T>::commit() {
  if (rule() == Rule::map)
    std::ranges::copy(first_order_.mean(), posterior_->mean().begin());
  else
    posterior_->swap(*next_);
  posterior_->set_blank(false);
  commit_averages();
  if (!scales_.prior.empty()) prior_.set_groups(scales_.prior);
  if (!scales_.noise.empty()) model_->likelihood.learn_noise_precision(scales_.noise);
  if (scales_.degrees > 0) model_->likelihood.learn_degrees_of_freedom(scales_.degrees);
  if (part_ < 1) ++state.shortened_steps;
  if (held_) ++state.guarded_steps;
  state.has_diverged = false;
  state.watch = next_watch_;
  ++state.step;
}

/// Of the kinds of averages only the last step's go on.
template <class T>
void Optimizer<T>::commit_averages() {
  if (is_first_order()) {
    first_order_.commit();
    state.momentum_steps = 0;
    return;
  }
  first_order_.forget();
  momentum_.swap(next_momentum_);
  ++state.momentum_steps;
  const double rate = part_ * rate_factor(options_, state.plan, state.step + 1) *
                      planned_curvature_rate(options_, state.plan);
  state.start_weight *= std::max(0.0, 1 - rate);
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace bdl
