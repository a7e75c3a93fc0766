// Optimizers on data sets: one step on a minibatch or on the caller's rows.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/interrupt.hpp"
#include "base/profile.hpp"
#include "inference/methods/rule.hpp"
#include "inference/optimizer.hpp"
#include "parallel/parallel.hpp"

namespace bdl {

/// By SGD or Adam in place of the family's own steps.
template <class T>
bool Optimizer<T>::is_first_order() const {
  return rule() == Rule::map || is_newton() || is_kronecker() ||
         (rule() == Rule::bbb && (posterior_->is_diagonal() || is_noisy()));
}

/// By VOGN's or IVON's steps in place of the diagonal family's own.
template <class T>
bool Optimizer<T>::is_newton() const {
  return rule() == Rule::blr && bdl::is_newton(options_.descent);
}

/// By Kronecker factors.
template <class T>
bool Optimizer<T>::is_kronecker() const {
  return rule() == Rule::blr && options_.descent == DescentOption::kfac;
}

/// Low-rank-moment posteriors, by draws of each example's own.
template <class T>
bool Optimizer<T>::is_noisy() const {
  return bdl::is_noisy(posterior_->family(), options_.curvature);
}

/// Natural gradients of single examples, each scaled by its own leverage (leverage_guard.hpp).
template <class T>
bool Optimizer<T>::is_guarded() const {
  return options_.guard > 0 && rule() == Rule::blr && !is_first_order();
}

template <class T>
void Optimizer<T>::step(Index examples) {
  const ShardRange all{0, examples};
  state.shards = 1;
  step({examples, {&all, 1}}, false);
}

template <class T>
bool Optimizer<T>::step(const StepExamples& examples, bool may_ask) {
  const ThreadLimit threads(options_.threads);
  FreedLogPrecision freed(model_->likelihood);
  const auto kept = caller_draws_;  // the caller's callback may replace them
  const double part = static_cast<double>(examples.all) / static_cast<double>(data_size_);
  const Index epoch_steps = state.batches > 0 ? state.batches : std::max<Index>(1, data_size_ / examples.all);
  const Index learning_step = state.learning_step;
  Evidence<T> evidence;
  Misfits misfit;
  double running = 0;
  std::optional<Interruptible> work;
  team_.attempt([&] {
    work.emplace();
    prepare_step(examples, epoch_steps, freed);
    if (is_sharded()) return;
    const ConstMatrixView<T> x = x_to_fill(examples.all), y = y_to_fill(examples.all);
    evidence = assess(x, y, 1 / part, {state.step, 0});
    if (!is_guarded() && evidence.gradient.empty()) evidence.gradient = work_.evidence->gradient();
    misfit = misfits(work_.evidence->outputs(), y);
  });
  if (is_sharded()) {
    draw_together();
    team_.attempt([&] { sum_shards(examples, 1 / part, epoch_steps); });
    work_.sums.finish(team_);
    evidence = exchanges_rows() ? exchange_rows(examples, 1 / part) : evidence_of_shards();
    misfit = misfits_of_shards(examples.all);
  }
  team_.attempt([&] {
    std::optional<SharedPasses> passes;
    if (shares_passes()) passes.emplace(work_.update.scratch.tall, tall_ranks_);
    watch(misfit, epoch_steps);
    is_guarded() ? take_guarded(evidence) : take(evidence);
    is_sharded() ? take_scale_sums_of_shards()
                 : sum_scales(x_to_fill(examples.all), y_to_fill(examples.all), epoch_steps);
    learn_scales(examples.all, epoch_steps);
    running = next_log_likelihood(evidence.expected_log_likelihood / part, epoch_steps);
  });
  bool asks = false;
  team_.attempt(
      [&] { asks = may_ask && !team_.is_alone() && (stop_requested.exchange(false) || interrupted()); });
  const bool stops = team_.vote(asks);
  work.reset();
  commit();
  freed.keep();
  ++state.running_steps;
  state.running_log_likelihood = running;
  // What is learned may have changed, and with it what the expected log likelihood can be.
  const bool begins_anew = freed.is_new() && model_->likelihood.kind() == BDL_HETEROSCEDASTIC;
  if (begins_anew || (state.learning_step != learning_step && learns_noise())) state.arrival = {};
  state.arrival.add(state.running_log_likelihood);
  team_.attempt([&] { keep_good_state(epoch_steps); });
  return stops;
}

/// The running average with that of a step, which must be a number: squares of huge errors are none.
template <class T>
double Optimizer<T>::next_log_likelihood(double value, Index epoch_steps) const {
  const double weight = 1 / static_cast<double>(std::min(state.running_steps + 1, epoch_steps)),
               running = state.running_log_likelihood, next = running + weight * (value - running);
  if (!std::isfinite(next))
    fail(Status::ERROR_DIVERGED, "the expected log likelihood would be %g in step %lld", value,
         static_cast<long long>(state.step + 1));
  return next;
}

/// What a step may fail for before it looks at the data, and memory.
template <class T>
void Optimizer<T>::prepare_step(const StepExamples& examples, Index epoch_steps, FreedLogPrecision& freed) {
  check_use(Use::step);
  if (posterior_->is_blank()) initialize();
  check_loop();  // large matrices are copied and reserved here
  scales_.reserve(prior_.groups().size(), static_cast<std::size_t>(model_->likelihood.targets()));
  if (is_due(options_.heteroscedastic_from, epoch_steps)) freed.free();
  reserve(Use::step, {examples.here(), examples.largest(), examples.all});
  start_tied();
  start_newton();
  if (caller_draws_ && is_noisy())
    fail(Status::ERROR_UNSUPPORTED,
         "a low-rank-moment posterior draws its noise itself: the draws callback is for others");
  check_loop();
  if (!good_.is_known) remember_good_state();
  check_loop();
}

/// Of the next step, which at first may have no curvature yet to draw by. Labels of the model's own are for
/// Kronecker factors that it renews, and for the squares of points: without either, the gradient is all.
template <class T>
Options Optimizer<T>::seen_options() const {
  Options options = options_;
  if ((is_newton() || is_kronecker()) && state.is_fresh && options_.initial_curvature == 0 &&
      options_.initial_precision == 0)
    options.curvature = EstimateKind::lin_ef;
  if (is_kronecker() && posterior_->points().parameters() == 0 && !work_.kronecker.renews_factors(options_))
    options.fisher = FisherLabels::empirical;
  return options;
}

template <class T>
Evidence<T> Optimizer<T>::assess(ConstMatrixView<T> x, ConstMatrixView<T> y, double weight, DrawPlace place) {
  EvidenceEstimator<T>& evidence = *work_.evidence;
  const Options options = seen_options();
  if (is_kronecker() || (options.curvature == options_.curvature && options_.sample_groups == 1))
    return evidence.prepare(*posterior_, x, y, options, weight, draws(), place, work_.scratch);
  return evidence.prepare_groups(*posterior_, x, y, options, weight, draws(), place, work_.scratch);
}

template <class T>
void Optimizer<T>::step_rows() {
  check_use(Use::rows);
  const ThreadLimit threads(options_.threads);
  if (posterior_->is_blank()) initialize();
  const Index count = work_.rows.count(), dimension = posterior_->dimension();
  reserve(Use::rows, {count, count, count});
  const auto c = work_.c.first(count);
  std::ranges::fill(c, static_cast<T>(static_cast<double>(data_size_) / static_cast<double>(count)));
  scales_.prior.clear();
  scales_.noise.clear();
  next_watch_ = state.watch;
  scales_.degrees = 0;
  Interruptible work;
  {
    const StageTimer timer(Stage::sums);
    work_.rows.sum(c, work_.gradient.first(dimension));
  }
  take({work_.gradient.first(dimension), {&work_.rows, c, {}, {}}});
  work.end();
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
  part_ = work_.next->take(step, work_.update);
  check_mean_finite(*work_.next, "step", state.step + 1);
}

/// The covariance first: the guard asks how far it lets each example's gradient move the example's outputs.
template <class T>
void Optimizer<T>::take_guarded(const Evidence<T>& evidence) {
  PosteriorStep<T> step = begin_batch_step(evidence);
  const bool together = step.mean_update == MeanUpdate::unprojected;  // mean and covariance move at once
  if (together) {
    std::ranges::fill(work_.slope.first(posterior_->dimension()), T(0));
    step.m = work_.slope.first(posterior_->dimension());
  }
  part_ = work_.next->take(step, work_.update);
  const Posterior<T>& metric = work_.next->moves_by_former_covariance() ? *posterior_ : *work_.next;
  step.m = slope(work_.evidence->guarded_gradient(metric, part_ * step.mean_rate, options_.guard, held_));
  if (together)
    part_ = work_.next->take(step, work_.update);
  else
    work_.next->move_mean_by(*posterior_, metric, part_ * step.mean_rate, step.m, work_.update.scratch);
  check_mean_finite(*work_.next, "step", state.step + 1);
}

/// All but m.
template <class T>
PosteriorStep<T> Optimizer<T>::begin_batch_step(const Evidence<T>& evidence) {
  const StreamKey random{static_cast<std::uint64_t>(options_.seed), Stream::range_finder,
                         static_cast<std::uint64_t>(state.step), 0};
  PosteriorStep<T> step = begin_step<T>(*posterior_, options_, false, random);
  step.curvature = evidence.curvature;
  step.mean_rate = mean_rate();
  step.curvature_rate = curvature_rate();
  prior_.enter(step);
  return step;
}

/// Of the next step.
template <class T>
double Optimizer<T>::curvature_rate() const {
  return rate_factor(options_, state.plan, state.step + 1) * planned_curvature_rate(options_, state.plan);
}

template <class T>
void Optimizer<T>::commit() {
  if (rule() == Rule::map)
    std::ranges::copy(work_.first_order.mean(), posterior_->mean().begin());
  else
    posterior_->swap(*work_.next);
  if (!posterior_->statistics().empty())
    std::ranges::copy(is_sharded() ? statistics_of_shards() : work_.evidence->statistics(),
                      posterior_->statistics().begin());
  posterior_->set_blank(false);
  commit_averages();
  if (!scales_.prior.empty()) prior_.set_groups(scales_.prior);
  if (!scales_.noise.empty()) model_->likelihood.learn_noise_precision(scales_.noise);
  if (scales_.degrees > 0) model_->likelihood.learn_degrees_of_freedom(scales_.degrees);
  if (part_ < 1) ++state.shortened_steps;
  if (held_) ++state.guarded_steps;
  state.has_diverged = false;
  state.watch = next_watch_;
  state.is_fresh = false;
  ++state.step;
}

/// Of the kinds of averages only the last step's go on.
template <class T>
void Optimizer<T>::commit_averages() {
  is_kronecker() ? work_.kronecker.commit() : work_.kronecker.forget();
  if (!is_first_order() || is_newton() || is_kronecker()) state.start_weight *= start_kept();
  if (is_first_order()) {
    is_kronecker() ? work_.first_order.forget() : work_.first_order.commit();
    work_.point_steps.forget();
    state.momentum_steps = 0;
    return;
  }
  scales_points() ? work_.point_steps.commit() : work_.point_steps.forget();
  work_.first_order.forget();
  momentum_.swap(work_.next_momentum);
  ++state.momentum_steps;
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace bdl
