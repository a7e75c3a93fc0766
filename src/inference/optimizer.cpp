#include "inference/optimizer.hpp"

#include <algorithm>
#include <cmath>

#include "base/profile.hpp"
#include "inference/rule.hpp"
#include "linalg/parallel.hpp"
#include "linalg/woodbury.hpp"
#include "model/network.hpp"

namespace bdl {
namespace {

ProjectionOptions projection_options(const Options& options) {
  return {static_cast<EigenMethod>(options.eigen_method), options.eigen_passes, options.eigen_oversampling};
}

bool same_prior(const Options& a, const Options& b) {
  return a.prior_precision == b.prior_precision && a.bias_prior_precision == b.bias_prior_precision &&
         a.prior_groups == b.prior_groups;
}

/// Mean over the outputs of Var(y); of y^2 where there is no variation (a single example).
double target_variance(const Array& y) {
  double variance = 0, square = 0;
  const auto n = static_cast<double>(y.rows), count = n * static_cast<double>(y.cols);
  for (Index c = 0; c < y.cols; ++c) {
    double mean = 0;
    for (Index i = 0; i < y.rows; ++i) mean += element(y, i, c) / n;
    for (Index i = 0; i < y.rows; ++i) {
      variance += std::pow(element(y, i, c) - mean, 2) / count;
      square += std::pow(element(y, i, c), 2) / count;
    }
  }
  return variance > 0 ? variance : square > 0 ? square : 1;
}

// A network fits before its noise is learned if it starts optimistic; without hidden units there is nothing
// to lose, and the empirical Fisher of an optimistic start would hold the mean back (docs/training.md).
constexpr double optimistic = 100, neutral = 1;

template <class T>
double automatic_noise_precision(const Model<T>& model) {
  const auto* network = dynamic_cast<const Network<T>*>(&model);
  return network && network->layers().size() > 1 ? optimistic : neutral;
}

// Without a plan, scales are learned from where a course of this many epochs would begin to.
constexpr double unplanned_epochs = 120;

}  // namespace

template <class T>
Optimizer<T>::Optimizer(std::shared_ptr<Model<T>> model, std::shared_ptr<Posterior<T>> posterior,
                        const Method& method, Index data_size)
    : model_(std::move(model)), posterior_(std::move(posterior)), method_(method), data_size_(data_size) {
  check_suits(method, posterior_->family(), posterior_->rank());
  method.set_defaults(options_);
  const Index dimension = posterior_->dimension();
  rows_block_.push_back({"parameters", 0, dimension, 1, 0, false});
  prior_.reset(blocks(), options_);
  if (model_) {
    evidence_ = std::make_unique<EvidenceEstimator<T>>(*model_);
    prequential_ = std::make_unique<Prequential<T>>(*model_);
  }
  for (Buffer<T>* buffer : {&momentum_, &initial_mean_, &initial_precision_}) buffer->reserve(dimension);
  std::fill_n(momentum_.data(), dimension, T(0));
  remember_start();
}

template <class T>
const std::vector<ParameterBlock>& Optimizer<T>::blocks() const {
  return model_ ? model_->blocks() : rows_block_;
}

template <class T>
void Optimizer<T>::set_options(const Options& options, bool reset_prior) {
  if (reset_prior || !same_prior(options, options_)) prior_.reset(blocks(), options);
  if (options.total_steps != options_.total_steps) state.plan = {0, options.total_steps};
  options_ = options;
}

template <class T>
void Optimizer<T>::remember_start() {
  std::ranges::copy(posterior_->mean(), initial_mean_.data());
  posterior_->precision_diagonal(initial_precision_.first(posterior_->dimension()));
}

/// Online, the start is the prior; in batches, first samples are to stay near the mean.
template <class T>
void Optimizer<T>::start_precision() {
  const bool given = options_.initial_precision >= 1e-30;  // what a float holds
  if (!method_.is_online)
    return posterior_->set_isotropic(given ? options_.initial_precision
                                           : 10 * static_cast<double>(data_size_));
  slope_.reserve(posterior_->dimension());
  const auto precision = slope_.first(posterior_->dimension());
  std::ranges::copy(prior_.precision(), precision.begin());
  if (given) std::ranges::fill(precision, static_cast<T>(options_.initial_precision));
  const bool plain = descent_of(static_cast<Rule>(options_.rule)) == Descent::plain;
  const auto start = posterior_->clone();
  start->set_diagonal(precision,
                      plain ? std::optional(static_cast<std::uint64_t>(options_.seed)) : std::nullopt);
  posterior_->swap(*start);
}

template <class T>
void Optimizer<T>::initialize() {
  gradient_.reserve(posterior_->dimension());
  const auto mean = gradient_.first(posterior_->dimension());
  if (const auto* network = dynamic_cast<const Network<T>*>(model_.get()))
    network->initialize(static_cast<bdl_initialization>(options_.initialization + 1),
                        static_cast<std::uint64_t>(options_.seed), mean);
  else
    std::ranges::fill(mean, T(0));
  if (!prior_.is_fixed()) prior_.reset(blocks(), options_);
  start_precision();
  // From here on nothing can fail.
  std::ranges::copy(mean, posterior_->mean().begin());
  posterior_->set_blank(false);
  if (model_) model_->likelihood.forget_learned_noise();
  std::fill_n(momentum_.data(), posterior_->dimension(), T(0));
  state = {};
  state.plan = {0, options_.total_steps};
  remember_start();
}

template <class T>
void Optimizer<T>::start_noise(const Array& y) {
  Likelihood& likelihood = model_->likelihood;
  if (likelihood.kind() != BDL_GAUSSIAN || likelihood.noise_is_set() || !options_.learn_noise) return;
  const double option = options_.initial_noise_precision;
  const double precision = std::clamp(
      (option > 0 ? option : automatic_noise_precision(*model_)) / target_variance(y), 1e-30, 1e30);
  likelihood.learn_noise_precision({&precision, 1});
}

template <class T>
MatrixView<T> Optimizer<T>::x_to_fill(Index examples) {
  x_.reserve(examples * model_->inputs());
  return x_.matrix(model_->inputs(), examples);
}

template <class T>
MatrixView<T> Optimizer<T>::y_to_fill(Index examples) {
  y_.reserve(examples * model_->likelihood.targets());
  return y_.matrix(model_->likelihood.targets(), examples);
}

template <class T>
bool Optimizer<T>::learning_due(Index epoch_steps) const {
  const double from = options_.learn_from;
  if (state.plan.end > state.plan.begin) return plan_fraction(state.plan, state.step + 1) >= from;
  return static_cast<double>(state.running_steps) >=
         from * unplanned_epochs * static_cast<double>(epoch_steps);
}

template <class T>
DrawSource<T>& Optimizer<T>::draws() {
  streams_.set_seed(static_cast<std::uint64_t>(options_.seed));
  return caller_draws_ ? *caller_draws_ : streams_;
}

/// Without the KL divergence to a fixed prior, a data set seen again would count again.
template <class T>
void Optimizer<T>::check_batch_rule() const {
  if (!has_kl(static_cast<Rule>(options_.rule)))
    fail(Status::ERROR_UNSUPPORTED,
         "rule \"%s\" has no prior to hold on to in batches: use rule \"blr\" or \"bbb\", or "
         "bdl_optimizer_observe()",
         options_.rule == static_cast<std::int32_t>(Rule::bong) ? "bong" : "bog");
}

template <class T>
void Optimizer<T>::step(Index examples) {
  check_batch_rule();
  const ThreadLimit threads(options_.threads);
  if (posterior_->is_blank()) initialize();
  const double part = static_cast<double>(examples) / static_cast<double>(data_size_);
  const ConstMatrixView<T> x = x_to_fill(examples), y = y_to_fill(examples);
  scales_.reserve(prior_.groups().size(), static_cast<std::size_t>(y.rows));
  const Evidence<T> evidence =
      evidence_->assess(*posterior_, x, y, options_, 1 / part, draws(), {state.step, 0}, scratch_);
  take(evidence);
  const Index epoch_steps = state.batches > 0 ? state.batches : std::max<Index>(1, data_size_ / examples);
  learn_scales(y, epoch_steps);
  commit();
  const double weight = 1 / static_cast<double>(std::min(++state.running_steps, epoch_steps));
  state.running_log_likelihood +=
      weight * (evidence.expected_log_likelihood / part - state.running_log_likelihood);
}

template <class T>
void Optimizer<T>::step_rows() {
  check_batch_rule();
  const ThreadLimit threads(options_.threads);
  if (posterior_->is_blank()) initialize();
  const Index count = caller_rows_.count(), dimension = posterior_->dimension();
  c_.reserve(count);
  gradient_.reserve(dimension);
  const auto c = c_.first(count);
  std::ranges::fill(c, static_cast<T>(static_cast<double>(data_size_) / static_cast<double>(count)));
  scales_.prior.clear();
  scales_.noise.clear();
  {
    const StageTimer timer(Stage::sums);
    caller_rows_.sum(c, gradient_.first(dimension));
  }
  take({gradient_.first(dimension), {&caller_rows_, c, {}, {}}});
  commit();
}

/// Computes the step into next_ and next_momentum_; nothing of the current state changes.
template <class T>
void Optimizer<T>::take(const Evidence<T>& evidence) {
  if (!next_) next_ = posterior_->clone();
  const double factor = rate_factor(options_, state.plan, state.step + 1);
  PosteriorStep<T> step{*posterior_};
  step.descent = descent_of(static_cast<Rule>(options_.rule));
  step.m = slope(evidence.gradient);
  step.curvature = evidence.curvature;
  step.mean_rate = factor * options_.learning_rate;
  step.curvature_rate = factor * options_.curvature_rate;
  step.prior_precision = prior_.precision();
  step.mean_update = mean_update(options_, *posterior_, false);
  step.unsymmetric = options_.matrix_gradient == 1;
  step.shorten = options_.indefinite == 0;
  step.projection = projection_options(options_);
  step.random = {static_cast<std::uint64_t>(options_.seed), Stream::range_finder,
                 static_cast<std::uint64_t>(state.step), 0};
  part_ = next_->take(step, workspace_);
  check_mean_finite(*next_, state.step);
}

/// m = gamma m + (1 - gamma) gradient, its bias corrected, plus lambda mu.
template <class T>
ConstSpan<T> Optimizer<T>::slope(ConstSpan<T> gradient) {
  const Index dimension = posterior_->dimension();
  slope_.reserve(dimension);
  next_momentum_.reserve(dimension);
  const double gamma = options_.momentum,
               unbias = 1 / (1 - std::pow(gamma, static_cast<double>(state.step + 1)));
  const T *lambda = prior_.precision().data(), *mean = std::as_const(*posterior_).mean().data();
  const T *old = momentum_.data(), *from = gradient.data();
  T *next = next_momentum_.data(), *slope = slope_.data();
  const T keep = static_cast<T>(gamma), add = static_cast<T>(1 - gamma), scale = static_cast<T>(unbias);
  for_each_index(dimension, [=](Index i) BDL_INLINE_LAMBDA {
    next[i] = keep * old[i] + add * from[i];
    slope[i] = scale * next[i] + lambda[i] * mean[i];
  });
  return slope_.first(dimension);
}

template <class T>
void Optimizer<T>::observe(Index examples, std::span<double> scores) {
  const ThreadLimit threads(options_.threads);
  if (posterior_->is_blank()) initialize();
  const ConstMatrixView<T> x = x_to_fill(examples), y = y_to_fill(examples);
  Posterior<T>& prior = filter_.predict(*posterior_, state.is_ahead ? 0 : 1, options_);
  const PrequentialSums sums =
      prequential_->score(prior, x, y, static_cast<ScoreKind>(options_.score), scores);
  Index shortened = state.shortened_steps;
  Posterior<T>& next = filter_.update(prior, x, y, options_, *evidence_, draws(), state.step, shortened);
  posterior_->swap(next);
  state.shortened_steps = shortened;
  state.is_ahead = false;
  state.start_weight = 0;
  state.prequential += sums;
  ++state.step;
}

template <class T>
void Optimizer<T>::forecast(Index steps) {
  const ThreadLimit threads(options_.threads);
  if (posterior_->is_blank()) initialize();
  Posterior<T>& later = filter_.predict(*posterior_, steps, options_);
  if (&later != posterior_.get()) posterior_->swap(later);
  state.is_ahead = true;
}

template <class T>
void Optimizer<T>::skip() {
  if (!state.is_ahead) forecast(1);
  state.is_ahead = false;
}

template <class T>
void Optimizer<T>::learn_scales(ConstMatrixView<T> y, Index epoch_steps) {
  scales_.prior.clear();
  scales_.noise.clear();
  if (!learning_due(epoch_steps) || is_linearized(estimate_kind(options_))) return;  // without samples
  const Index first = state.learning_step ? state.learning_step : state.step + 1;
  const double weight = scale_weight(options_.scale_rate, state.step + 2 - first);
  if (options_.learn_prior && !prior_.is_fixed())
    learn_prior<T>(prior_, evidence_->thetas(), weight, scales_);
  if (options_.learn_noise && model_->likelihood.kind() == BDL_GAUSSIAN)
    learn_noise<T>(model_->likelihood, evidence_->rows(), y, weight, scales_);
  state.learning_step = first;
}

template <class T>
void Optimizer<T>::commit() {
  next_->set_blank(false);
  posterior_->swap(*next_);
  momentum_.swap(next_momentum_);
  if (!scales_.prior.empty()) prior_.set_groups(scales_.prior);
  if (!scales_.noise.empty()) model_->likelihood.learn_noise_precision(scales_.noise);
  const double rate = part_ * rate_factor(options_, state.plan, state.step + 1) * options_.curvature_rate;
  state.start_weight *= std::max(0.0, 1 - rate);
  if (part_ < 1) ++state.shortened_steps;
  ++state.step;
}

template <class T>
Index Optimizer<T>::workspace_bytes(Index examples) const {
  const Index dimension = posterior_->dimension(), t = sizeof(T), rank = posterior_->rank();
  const BatchSize size = batch_size(options_, examples);
  const RowsCost cost =
      evidence_ ? evidence_->cost(options_, examples) : DenseRows<T>::cost(dimension, examples);
  const Index batch = evidence_ ? evidence_->bytes(options_, examples, posterior_->family()) +
                                      t * examples * (model_->inputs() + model_->likelihood.targets())
                                : DenseRows<T>::bytes(dimension, examples) + t * dimension;
  const Index samples = posterior_->family() == Family::low_rank
                            ? Woodbury<T>::scratch_bytes(dimension, rank, evidence_ ? size.samples : 1)
                            : 0;
  const Index vectors = t * dimension * 5;
  if (method_.is_online)
    return vectors + batch + samples + filter_.bytes(*posterior_, cost, options_) +
           (evidence_ && options_.score == 2 ? prequential_->bytes(*posterior_, examples) : 0);
  return posterior_->bytes() + posterior_->update_bytes(cost, projection_options(options_)) + batch +
         vectors + t * cost.count + samples;
}

template <class T>
double Optimizer<T>::kl() const {
  const ThreadLimit threads(options_.threads);
  PosteriorScratch<T> scratch;
  return kl_to_prior(*posterior_, prior_.precision(), scratch);
}

template <class T>
void Optimizer<T>::restore(ConstSpan<T> momentum, ConstSpan<T> initial_mean, ConstSpan<T> initial_precision) {
  std::ranges::copy(momentum, momentum_.data());
  std::ranges::copy(initial_mean, initial_mean_.data());
  std::ranges::copy(initial_precision, initial_precision_.data());
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace bdl
