#include "train/step.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/interrupt.hpp"
#include "parallel/parallel.hpp"
#include "train/scales.hpp"
#include "train/start.hpp"

namespace bdl {
namespace {

/// Fraction of the course in which held log noise precisions have curvature, so that they are not uncertain
/// when they become free. Before it, their rows would only cost time.
constexpr double time_of_curvature = 0.15;

/// Returns the options of the next step's estimate.
template <class T>
Options estimate_options(const Optimizer<T>& optimizer) {
  Options options = optimizer.options();
  const StepKind kind = optimizer.step_kind();
  // A fresh posterior may have no curvature yet by which parameters could be drawn.
  const bool by_curvature = kind == StepKind::vogn || kind == StepKind::ivon || kind == StepKind::kfac;
  if (by_curvature && optimizer.state.is_fresh && options.initial_curvature == 0 &&
      options.initial_precision == 0)
    options.curvature = EstimateKind::lin_ef;
  // Labels drawn from the model serve only renewed Kronecker factors and squares of point parameters.
  if (kind == StepKind::kfac && optimizer.posterior()->point_parameters().parameters() == 0 &&
      !optimizer.averages.kfac.renews_factors(options))
    options.fisher = FisherLabels::empirical;
  return options;
}

/// Returns the rates of the next step (docs/theory/natural-gradients.md, "Rates and momentum").
template <class T>
StepRates rates_of(const Optimizer<T>& optimizer) {
  const Options& options = optimizer.options();
  const Plan& plan = optimizer.state.plan;
  const Index t = optimizer.state.step + 1;
  const double factor = rate_factor(options, plan, t), risen = factor * warmup_factor(options, plan, t);
  return {std::ldexp(risen * options.learning_rate, -static_cast<int>(optimizer.state.rate_cuts)),
          factor * planned_curvature_rate(options, plan), kl_weight(options, plan, t),
          kl_weight(options, plan, t + 1)};
}

/// A step in progress: it computes everything beside the present state, and commits it in the end.
template <class T>
class StepInProgress {
 public:
  explicit StepInProgress(Optimizer<T>& optimizer)
      : optimizer_(optimizer),
        kept_draws_(optimizer.caller_draws()),
        threads_(optimizer.options().threads),
        frame_(optimizer.memory.scratch) {
    if (optimizer.model()) freed_.emplace(optimizer.model()->likelihood);
  }

  /// Makes all checks and preparations that do not depend on the examples.
  void prepare(const StepExamples& examples, Index epoch_steps) {
    optimizer_.check_use(Use::step);
    if (optimizer_.posterior()->is_blank()) initialize(optimizer_);
    check_loop();
    const double free_from = optimizer_.options().heteroscedastic_from;
    if (is_due(optimizer_.state, free_from, epoch_steps)) {
      freed_->free();
    } else if (optimizer_.state.step > 0 &&  // the first step takes the memory of all
               !is_due(optimizer_.state, free_from - time_of_curvature, epoch_steps)) {
      freed_->hold_without_curvature();
    }
    start_step(optimizer_);
    if (optimizer_.caller_draws() && optimizer_.step_kind() == StepKind::low_rank_moment)
      fail(Status::ERROR_UNSUPPORTED,
           "a low-rank-moment posterior draws its noise itself: the draws callback is for others");
    if (!optimizer_.watch.knows_good_state()) optimizer_.watch.remember(optimizer_);
    scales_ = learned_scales(optimizer_, epoch_steps);
    memory().scales.clear();
    memory().scales.prior.reserve(optimizer_.prior().groups().size());
    memory().scales.noise.reserve(at(optimizer_.model()->likelihood.targets()));
    examples_ = examples.all;
    epoch_steps_ = epoch_steps;
  }

  /// Estimates the evidence of the minibatch, in one piece or shard by shard.
  void estimate(const StepExamples& examples) {
    const double weight = static_cast<double>(optimizer_.data_size()) / static_cast<double>(examples.all);
    const Options options = estimate_options(optimizer_);
    const EvidenceRequest<T> request{
        *optimizer_.posterior(), optimizer_.prior(), options, optimizer_.step_kind(), scales_,
        optimizer_.draws(),      memory().scratch};
    const Index here = examples.here();
    const Minibatch<T> batch{
        optimizer_.batch_x(here), optimizer_.batch_y(here), weight, {optimizer_.state.step, 0}};
    estimate_ =
        optimizer_.state.shards > 1
            ? memory().sharded->estimate(request, batch, examples, optimizer_.state.shards, optimizer_.team)
            : memory().evidence->estimate(request, batch);
  }

  void update() {
    const TrainingState& state = optimizer_.state;
    optimizer_.watch.check(state.watch, estimate_.misfits, epoch_steps_, state.step + 1);
    step_from(estimate_.evidence, &optimizer_.model()->likelihood);
    if (scales_.any()) {
      first_learning_ = state.learning_step ? state.learning_step : state.step + 1;
      memory().scales.learn(scales_, estimate_, *optimizer_.model(), optimizer_.prior(),
                            scale_weight(optimizer_.options().scale_rate, state.step + 2 - first_learning_));
    }
    const double part = static_cast<double>(examples_) / static_cast<double>(optimizer_.data_size());
    next_log_likelihood_ = next_log_likelihood(estimate_.evidence.expected_log_likelihood / part);
  }

  void step_from(const Evidence<T>& evidence, const Likelihood* likelihood) {
    auto& next = memory().next;
    if (!next && optimizer_.step_kind() != StepKind::mean) next = optimizer_.posterior()->clone();
    const StepInput<T> in{*optimizer_.posterior(),   optimizer_.prior(),        likelihood,
                          optimizer_.options(),      rates_of(optimizer_),      optimizer_.data_weight(),
                          optimizer_.state.step + 1, optimizer_.state.is_fresh, memory().scratch};
    result_ = take_step(optimizer_.step_kind(), in, evidence, optimizer_.averages, next.get());
    if (likelihood && likelihood->kind() == BDL_HETEROSCEDASTIC && !likelihood->log_precision_is_free())
      hold_log_precision();
  }

  /// Takes back what the step did to the means of parameters that give log noise precisions, while these are
  /// held: the covariance would carry them along with the others.
  void hold_log_precision() {
    const auto before = optimizer_.posterior()->mean();
    const bool is_mean = optimizer_.step_kind() == StepKind::mean;
    const std::span<T> after =
        is_mean ? optimizer_.averages.mean.first(std::ssize(before)) : memory().next->mean();
    for (const ParameterBlock& block : optimizer_.blocks())
      if (block.of_means > 0)
        std::copy(before.begin() + block.offset + block.of_means,
                  before.begin() + block.offset + block.size(),
                  after.begin() + block.offset + block.of_means);
  }

  /// Commits the posterior and the averages of the step; nothing fails here.
  void commit_posterior() {
    Posterior<T>& q = *optimizer_.posterior();
    const bool has_covariance = q.has_covariance() || optimizer_.options().rule != Rule::map;
    if (optimizer_.step_kind() == StepKind::mean)
      std::ranges::copy(optimizer_.averages.mean.first(q.dimension()), q.mean().begin());
    else
      q.swap(*memory().next);
    if (!estimate_.evidence.statistics.empty())
      std::ranges::copy(estimate_.evidence.statistics, q.statistics().begin());
    q.set_blank(false);
    q.set_has_covariance(has_covariance);
    optimizer_.averages.commit(optimizer_.step_kind(), !q.point_parameters().ranges.empty() &&
                                                           optimizer_.options().rule == Rule::blr);
    TrainingState& state = optimizer_.state;
    state.start_weight *= result_.kept;
    if (result_.fraction < 1) ++state.shortened_steps;
    if (result_.held) ++state.guarded_steps;
    state.has_diverged = false;
    state.watch = optimizer_.watch.next();
    state.is_fresh = false;
    ++state.step;
  }

  void commit() {
    TrainingState& state = optimizer_.state;
    Likelihood& likelihood = optimizer_.model()->likelihood;
    if (!memory().scales.prior.empty()) optimizer_.prior().set_groups(memory().scales.prior);  // may fail
    commit_posterior();
    if (!memory().scales.noise.empty()) likelihood.learn_noise_precision(memory().scales.noise);
    if (memory().scales.degrees > 0) likelihood.learn_degrees_of_freedom(memory().scales.degrees);
    if (!memory().scales.shape.empty()) likelihood.learn_shape(memory().scales.shape);
    freed_->keep();
    ++state.running_steps;
    state.running_log_likelihood = next_log_likelihood_;
    // Newly learned scales change the level that the expected log likelihood can reach.
    const bool begins_scales = scales_.any() && state.learning_step != first_learning_;
    if (scales_.any()) state.learning_step = first_learning_;
    if ((freed_->is_new() && likelihood.kind() == BDL_HETEROSCEDASTIC) ||
        (begins_scales && (scales_.noise || scales_.shape)))
      state.convergence = {};
    state.convergence.add(state.running_log_likelihood);
  }

  StepMemory<T>& memory() { return optimizer_.memory; }

 private:
  /// Returns the running average of the expected log likelihood after this step. Fails if it is not finite,
  /// since squares of huge errors overflow.
  double next_log_likelihood(double value) const {
    const TrainingState& state = optimizer_.state;
    const double weight = 1 / static_cast<double>(std::min(state.running_steps + 1, epoch_steps_)),
                 running = state.running_log_likelihood, next = running + weight * (value - running);
    if (!std::isfinite(next))
      fail(Status::ERROR_DIVERGED, "the expected log likelihood would be %g in step %lld", value,
           static_cast<long long>(state.step + 1));
    return next;
  }

  Optimizer<T>& optimizer_;
  std::shared_ptr<DrawSource<T>> kept_draws_;  // kept alive, as the caller's callback may replace them
  ThreadLimit threads_;
  Scratch::Frame frame_;
  std::optional<LogPrecisionInStep> freed_;
  LearnedScales scales_;
  Index examples_ = 0, epoch_steps_ = 0, first_learning_ = 0;
  StepEvidence<T> estimate_;
  StepResult result_;
  double next_log_likelihood_ = 0;
};

}  // namespace

template <class T>
void train_step(Optimizer<T>& optimizer, Index examples) {
  const ShardRange all{0, examples};
  optimizer.state.shards = 1;
  train_step(optimizer, {examples, {&all, 1}}, false);
}

template <class T>
bool train_step(Optimizer<T>& optimizer, const StepExamples& examples, bool may_ask) {
  Team& team = optimizer.team;
  const Index epoch_steps = optimizer.state.batches > 0
                                ? optimizer.state.batches
                                : std::max<Index>(1, optimizer.data_size() / examples.all);
  StepInProgress<T> step(optimizer);
  std::optional<Interruptible> work;  // parallel loops may be interrupted until the commit
  bool asks = false;
  team.attempt([&] {
    work.emplace();
    step.prepare(examples, epoch_steps);
  });
  step.estimate(examples);
  team.attempt([&] {
    step.update();
    asks = may_ask && !team.is_alone() && (optimizer.stop_requested.exchange(false) || interrupted());
  });
  const bool stops = team.vote(asks);
  work.reset();
  step.commit();
  team.attempt([&] { optimizer.watch.keep_good_state(optimizer, epoch_steps); });
  return stops;
}

template <class T>
void step_on_rows(Optimizer<T>& optimizer) {
  optimizer.check_use(Use::rows);
  if (optimizer.posterior()->is_blank()) initialize(optimizer);
  StepInProgress<T> step(optimizer);
  Scratch& scratch = optimizer.memory.scratch;
  DenseRows<T>& rows = optimizer.memory.rows;
  const auto c = scratch.take<T>(rows.count());
  std::ranges::fill(
      c, static_cast<T>(static_cast<double>(optimizer.data_size()) / static_cast<double>(rows.count())));
  Interruptible work;
  Evidence<T> evidence;
  evidence.estimate = {&rows, c, c};
  evidence.curvature = {&rows, c, {}, {}};
  optimizer.watch.set_next(optimizer.state.watch);
  step.step_from(evidence, nullptr);
  work.end();
  step.commit_posterior();
  optimizer.watch.forget();
}

#define BDL_INSTANTIATE(T)                                            \
  template void train_step(Optimizer<T>&, Index);                     \
  template bool train_step(Optimizer<T>&, const StepExamples&, bool); \
  template void step_on_rows(Optimizer<T>&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
