#include "inference/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/interrupt.hpp"
#include "base/profile.hpp"
#include "inference/methods/rule.hpp"
#include "inference/methods/suggestion.hpp"
#include "inference/noise/low_rank_start.hpp"
#include "network/graph.hpp"
#include "parallel/parallel.hpp"
#include "posterior/families.hpp"
#include "posterior/kronecker/kronecker.hpp"
#include "posterior/points.hpp"

namespace bdl {
namespace {

bool same_prior(const Options& a, const Options& b) {
  return a.prior_precision == b.prior_precision && a.bias_prior_precision == b.bias_prior_precision &&
         a.prior_groups == b.prior_groups && a.prior_scaling == b.prior_scaling;
}

bdl_initialization scheme_of(Initialization word) {
  switch (word) {
    case Initialization::he:
      return BDL_INIT_HE;
    case Initialization::he_fan_out:
      return BDL_INIT_HE_FAN_OUT;
    case Initialization::xavier:
      return BDL_INIT_XAVIER;
    case Initialization::xavier_normal:
      return BDL_INIT_XAVIER_NORMAL;
    default:
      return BDL_INIT_UNIFORM_FAN_IN;
  }
}

// A network fits before its noise is learned if it starts optimistic; without hidden units there is nothing
// to lose, and the empirical Fisher of an optimistic start would hold the mean back (docs/training.md).
constexpr double optimistic = 100, neutral = 1;

double noise_precision(double factor, double variance) {
  return std::clamp(factor / variance, 1e-30, 1e30);
}

// Without a plan, scales are learned from where a course of this many epochs would begin to.
constexpr auto unplanned_epochs = static_cast<double>(usual_epochs);

}  // namespace

template <class T>
Optimizer<T>::Optimizer(std::shared_ptr<Model<T>> model, std::shared_ptr<Posterior<T>> posterior,
                        const Method& method, Index data_size)
    : model_(std::move(model)),
      posterior_(std::move(posterior)),
      method_(method),
      data_size_(data_size),
      points_(model_ ? points_of(*model_) : PointLayout()),
      context_(context_of(model_.get(), data_size)),
      work_(model_.get()) {
  method.set_defaults(options_, context_);
  check_options(options_);
  if (model_) check_masks_fit(*model_, *posterior_);
  if (model_) check_matrices_fit(*model_, *posterior_);
  check_adopts<T>(*posterior_, model_.get());
  const Index dimension = posterior_->dimension();
  rows_block_.push_back({"parameters", 0, dimension, 1, 0, false});
  prior_.reset(blocks(), options_);
  for (Buffer<T>* buffer : {&momentum_, &initial_mean_, &initial_precision_}) buffer->reserve(dimension);
  if (model_) unit_sums_.resize(at(2 * model_->likelihood.targets()));
  std::fill_n(momentum_.data(), dimension, T(0));
  remember_start();
  if (posterior_->points() != points_) posterior_->adopt(points_);  // last: nothing fails any more
}

template <class T>
void Optimizer<T>::fail_points_changed() {
  fail(Status::ERROR_SHAPE, "the posterior has become that of a network with other point parameters");
}

template <class T>
const std::vector<ParameterBlock>& Optimizer<T>::blocks() const {
  return model_ ? model_->blocks() : rows_block_;
}

template <class T>
void Optimizer<T>::set_options(const Options& options, bool reset_prior) {
  const bool starts_anew = reset_prior || !same_prior(options, options_);
  if (!starts_anew) check_prior(prior_, options);
  if (starts_anew) {
    prior_.reset(blocks(), options);
    forget_good_state();
  }
  if (options.learning_rate != options_.learning_rate) state.rate_cuts = 0;
  if (options.total_steps != options_.total_steps) state.plan = {0, options.total_steps};
  if (options.diagonal_part != options_.diagonal_part || options.tied_rank != options_.tied_rank)
    work_.first_order.tied().forget();
  options_ = options;
  reserved_for_ = {};
}

/// Of a posterior as prior, the method's steps use all they can, or refuse it here.
template <class T>
void Optimizer<T>::check_prior(const Prior<T>& prior, const Options& options) const {
  if (!prior.belief() || method_.is_online) return;
  const bool is_split = options.descent == DescentOption::kfac && options.damping_form == DampingForm::split;
  if (is_split && !prior.belief()->is_diagonal())
    fail(Status::ERROR_UNSUPPORTED,
         "damping_form \"split\" takes diagonal priors: the posterior given as prior is %s; use \"exact\"",
         family_word(prior.belief()->family()));
  if (options.rule != Rule::map || options.laplace) prior.check_enters();
}

template <class T>
void Optimizer<T>::set_prior(std::shared_ptr<const Posterior<T>> belief) {
  if (is_low_rank_moment(posterior_->family()) && !belief->is_diagonal())
    fail(Status::ERROR_UNSUPPORTED,
         "low-rank-moment posteriors have diagonal priors: the posterior given as prior is %s",
         family_word(belief->family()));
  Prior<T> prior(blocks(), options_);
  prior.fix(std::move(belief), posterior_->kind());
  check_prior(prior, options_);
  if (method_.is_online) check_holds(*in_family(*prior.belief(), posterior_->kind()), *prior.belief());
  prior_ = std::move(prior);
  work_.kronecker.forget_prior();
  reserved_for_ = {};
  forget_good_state();
}

template <class T>
void Optimizer<T>::remember_start() {
  std::ranges::copy(posterior_->mean(), initial_mean_.data());
  const auto precision = initial_precision_.first(posterior_->dimension());
  if (posterior_->is_gaussian())
    posterior_->precision_diagonal(precision);
  else
    std::ranges::fill(precision, T(1));
}

/// What initialize() is to change, made whole before anything is.
template <class T>
struct Optimizer<T>::Start {
  std::unique_ptr<Posterior<T>> belief;
  Buffer<T> precision;
  TiedScales<T> tied;
};

/// Online, the start is the prior; in batches, first samples are to stay near the mean.
template <class T>
void Optimizer<T>::start_precision(const Prior<T>& prior, ConstSpan<T> mean, Start& start) const {
  const bool given = options_.initial_precision >= 1e-30;  // what a float holds
  const double times = options_.start_share > 0 ? 0.1 : 10;
  const double isotropic = given ? options_.initial_precision : times * static_cast<double>(data_size_);
  const auto precision = start.precision.first(posterior_->dimension());
  if (!method_.is_online) {
    const PointLayout& points = posterior_->points();
    std::ranges::fill(precision, static_cast<T>(isotropic));
    fill_points(points, T(1), precision);
    if (!given && is_kronecker() && kronecker_prior())
      return start_near_kronecker(*kronecker_prior(), isotropic, start);
    if (!given && rule() == Rule::blr && prior.belief() && is_of_kind(*prior.belief(), posterior_->kind()))
      return start_near_belief(*prior.belief(), isotropic, start);
    if (is_noisy()) return start_low_rank(1 / isotropic, mean, start);
    if (points.ranges.empty() || !posterior_->is_gaussian())
      start.belief->set_isotropic(isotropic);
    else
      start.belief->set_diagonal(precision, {});
    return;
  }
  if (prior.belief()) {
    const auto belief = in_family(*prior.belief(), posterior_->kind());
    check_holds(*belief, *prior.belief());
    belief->precision_diagonal(precision);
    start.belief->swap(*belief);
    return;
  }
  std::ranges::copy(prior.precision(), precision.begin());
  if (given) std::ranges::fill(precision, static_cast<T>(isotropic));
  const bool plain = descent_of(options_.rule) == Descent::plain;
  start.belief->set_diagonal(precision,
                             plain ? std::optional(static_cast<std::uint64_t>(options_.seed)) : std::nullopt);
}

/// Where the prior is a posterior of the same kind: half of its precision, without which long steps would
/// undo what it knows, and the isotropic one.
template <class T>
void Optimizer<T>::start_near_belief(const Posterior<T>& belief, double isotropic, Start& start) const {
  const Index dimension = posterior_->dimension();
  Buffer<T> numbers(2 * dimension + 1);
  std::fill_n(numbers.data(), 2 * dimension + 1, T(0));
  const auto lambda = numbers.first(dimension), slope = std::span(numbers.data() + dimension, at(dimension)),
             weight = std::span(numbers.data() + 2 * dimension, 1);
  std::ranges::fill(lambda, static_cast<T>(2 * isotropic));
  fill_points(belief.points(), T(1), lambda);
  DenseRows<T> rows;
  std::fill_n(rows.resize(dimension, 1).data, dimension, T(0));
  auto prior = Prior<T>::fixed(lambda);
  PosteriorStep<T> step{belief};
  step.m = slope;
  step.curvature = {&rows, weight, {}, {}};
  step.curvature_rate = 0.5;
  prior.enter(step);
  step.projection.method = dimension < belief.rank() + 1 ? EigenMethod::outer : EigenMethod::gram;
  UpdateWorkspace<T> workspace;
  const auto next = belief.clone();
  next->take(step, workspace);
  next->precision_diagonal(start.precision.first(dimension));
  start.belief->swap(*next);
}

/// All of its precision, whose directions steps would have to find again.
template <class T>
void Optimizer<T>::start_near_kronecker(const BlocksPosterior<T>& belief, double isotropic,
                                        Start& start) const {
  const auto precision = start.precision.first(posterior_->dimension());
  start.belief->set_diagonal(precision, {});
  start_near(belief, static_cast<T>(isotropic), dynamic_cast<BlocksPosterior<T>&>(*start.belief));
  start.belief->precision_diagonal(precision);
}

/// W as large as low_rank_start says, s one number, or of tied factors near it.
template <class T>
void Optimizer<T>::start_low_rank(double variance, ConstSpan<T> mean, Start& start) const {
  Posterior<T>& belief = *start.belief;
  const auto seed = static_cast<std::uint64_t>(options_.seed);
  belief.set_isotropic(1 / variance);
  Buffer<T> s(belief.dimension());
  std::fill_n(s.data(), belief.dimension(), static_cast<T>(variance));
  if (options_.diagonal_part == DiagonalPart::tied) {
    start.tied.reserve(blocks(), options_.tied_rank);
    start.tied.start(std::sqrt(variance), seed);
    start.tied.spread_now(s.first(belief.dimension()));
  }
  fill_points(belief.points(), T(1), s.first(belief.dimension()));
  draw_low_rank(blocks(), mean, {seed, options_.low_rank_start, options_.low_rank_scale}, belief);
  for_each_low_rank_moment(belief, [&](LowRankMomentPosterior<T>& member, Index offset) {
    std::copy_n(s.data() + offset, member.dimension(), member.s().data());
    TallScratch scratch;
    member.factorize(scratch);
  });
}

/// Where initial_curvature says what the first step draws by, at its temperature.
template <class T>
void Optimizer<T>::start_newton() {
  const bool begins = (is_newton() || is_kronecker()) && state.is_fresh;
  if (!begins || options_.initial_curvature == 0 || options_.initial_precision > 0) return;
  const double weight = static_cast<double>(data_size_) / kl_weight(options_, state.plan, state.step + 1);
  const double damping = options_.damping_in == DampingIn::both ? options_.damping : 0;
  const T least = static_cast<T>(weight * (options_.initial_curvature + damping));
  const auto start = initial_precision_.first(posterior_->dimension());
  std::ranges::transform(prior_.precision(), start.begin(), [=](T lambda) { return least + lambda; });
  fill_points(posterior_->points(), T(1), start);
  posterior_->set_diagonal(start, {});
  if (is_kronecker() && kronecker_prior())
    start_near(*kronecker_prior(), least, dynamic_cast<BlocksPosterior<T>&>(*posterior_));
}

/// Of a belief that somebody else has started.
template <class T>
void Optimizer<T>::start_tied() {
  TiedScales<T>& tied = work_.first_order.tied();
  if (!is_noisy() || options_.diagonal_part != DiagonalPart::tied || tied.has_values()) return;
  Buffer<T> s(posterior_->dimension());
  for_each_low_rank_moment(std::as_const(*posterior_),
                           [&](const LowRankMomentPosterior<T>& member, Index offset) {
                             std::ranges::copy(member.s(), s.data() + offset);
                           });
  tied.start(std::as_const(s).first(posterior_->dimension()), static_cast<std::uint64_t>(options_.seed));
}

template <class T>
void Optimizer<T>::initialize() {
  Interruptible work;
  Buffer<T> start(posterior_->dimension());
  const auto mean = start.first(posterior_->dimension());
  std::ranges::fill(mean, T(0));
  if (prior_.belief())
    std::ranges::copy(prior_.belief()->mean(), mean.begin());
  else if (model_ && options_.initialization != Initialization::zero)
    model_->initialize(scheme_of(options_.initialization), static_cast<std::uint64_t>(options_.seed), mean);
  std::optional<Prior<T>> prior;
  if (!prior_.is_fixed()) prior.emplace(blocks(), options_);
  Start next{posterior_->clone(), Buffer<T>(posterior_->dimension()), {}};
  check_loop();
  start_precision(prior ? *prior : prior_, mean, next);
  check_loop();
  work.end();  // from here on nothing can fail
  posterior_->swap(*next.belief);
  std::ranges::copy(next.precision.first(posterior_->dimension()), initial_precision_.data());
  if (next.tied.has_values()) work_.first_order.tied() = std::move(next.tied);
  if (prior) prior_ = std::move(*prior);
  reserved_for_ = {};
  std::ranges::copy(mean, posterior_->mean().begin());
  std::ranges::copy(mean, initial_mean_.data());
  start_statistics();
  posterior_->set_blank(false);
  if (model_) model_->likelihood.forget_learned_noise();
  if (model_) model_->likelihood.free_log_precision(method_.is_online || options_.heteroscedastic_from == 0);
  std::fill_n(momentum_.data(), posterior_->dimension(), T(0));
  work_.first_order.forget();
  work_.kronecker.forget();
  work_.point_steps.forget();
  forget_good_state();
  state = {};
  state.plan = {0, options_.total_steps};
  state.is_fresh = true;
}

/// Where the parameters do.
template <class T>
void Optimizer<T>::start_statistics() {
  posterior_->reset_statistics();
  if (prior_.belief()) std::ranges::copy(prior_.belief()->statistics(), posterior_->statistics().begin());
}

template <class T>
void Optimizer<T>::forget_start() noexcept {
  posterior_->reset();
  std::fill_n(initial_mean_.data(), posterior_->dimension(), T(0));
  std::fill_n(initial_precision_.data(), posterior_->dimension(), T(1));
}

template <class T>
void Optimizer<T>::start_noise(DataSet& data) {
  Likelihood& likelihood = model_->likelihood;
  if (!likelihood.has_noise_precision() || likelihood.noise_is_set() || first_noise_factor() == 0) return;
  const double precision = noise_precision(first_noise_factor(), variance_of_targets(data));
  likelihood.learn_noise_precision({&precision, 1});
}

template <class T>
double Optimizer<T>::variance_of_targets(DataSet& data) {
  return is_sharded() ? variance_of_shards(data) : target_variance(data, model_->standardization);
}

/// In units of 1 / Var(y); 0: as the model has it.
template <class T>
double Optimizer<T>::first_noise_factor() const {
  if (options_.initial_noise_precision > 0) return options_.initial_noise_precision;
  if (!options_.learn_noise) return method_.is_online ? neutral : 0;
  return context_.has_hidden && !method_.is_online ? optimistic : neutral;
}

template <class T>
void Optimizer<T>::start_noises(DataSet& data) {
  Likelihood& likelihood = model_->likelihood;
  if (!likelihood.has_noise_precision() || likelihood.noise_is_set() || first_noise_factor() == 0) return;
  std::vector<double> precision;
  for (const double variance : target_variances(data, model_->standardization))
    precision.push_back(noise_precision(first_noise_factor(), variance));
  const bool is_provisional = model_->standardization.has_constant();  // goes with the scale
  likelihood.set_noise_precision(precision, is_provisional ? NoiseOrigin::training : NoiseOrigin::caller);
}

template <class T>
MatrixView<T> Optimizer<T>::x_to_fill(Index examples) {
  work_.x.reserve(examples * model_->inputs());
  return work_.x.matrix(model_->inputs(), examples);
}

template <class T>
MatrixView<T> Optimizer<T>::y_to_fill(Index examples) {
  work_.y.reserve(examples * model_->likelihood.targets());
  return work_.y.matrix(model_->likelihood.targets(), examples);
}

template <class T>
void Optimizer<T>::fill(DataSet& data, const RowNumbers& examples) {
  data.fetch(examples, model_->standardization, x_to_fill(examples.count()), y_to_fill(examples.count()));
}

template <class T>
bool Optimizer<T>::is_due(double from, Index epoch_steps) const {
  if (state.plan.end > state.plan.begin) return plan_fraction(state.plan, state.step + 1) >= from;
  return static_cast<double>(state.running_steps) >=
         from * unplanned_epochs * static_cast<double>(epoch_steps);
}

template <class T>
DrawSource<T>& Optimizer<T>::draws() {
  streams_.set_seed(static_cast<std::uint64_t>(options_.seed));
  return caller_draws_ ? *caller_draws_ : streams_;
}

template <class T>
const typename Optimizer<T>::NoiseText& Optimizer<T>::describe_noise() const {
  if (!is_noisy())
    fail(Status::ERROR_UNSUPPORTED, "only low-rank-moment posteriors are learned through noise of layers");
  auto& known = noise_texts_[static_cast<int>(options_.noise_estimator)];
  known.is_due.settle([&] {
    NoisyNetwork<T> network(*model_->graph());
    network.choose(options_.noise_estimator);
    known.text = {network.is_exact(), network.text()};
  });
  return known.text;
}

template <class T>
double Optimizer<T>::kl() const {
  const ThreadLimit threads(options_.threads);
  PosteriorScratch<T> scratch;
  return prior_.kl(*posterior_, scratch);
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
