#include "train/optimizer.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "methods/readers.hpp"
#include "parallel/parallel.hpp"
#include "posterior/families.hpp"
#include "posterior/kronecker/kronecker.hpp"
#include "posterior/point_parameters.hpp"

namespace bdl {
namespace {

bool same_prior(const Options& a, const Options& b) {
  return a.prior_precision == b.prior_precision && a.bias_prior_precision == b.bias_prior_precision &&
         a.prior_groups == b.prior_groups && a.prior_scaling == b.prior_scaling;
}

/// Rejects a posterior as prior whose structure the steps of this method cannot use.
template <class T>
void check_prior(const Method& method, const Prior<T>& prior, const Options& options) {
  if (!prior.posterior() || method.kind == MethodKind::stream) return;
  const bool is_split = options.descent == DescentOption::kfac && options.damping_form == DampingForm::split;
  if (is_split && !prior.posterior()->is_diagonal())
    fail(Status::ERROR_UNSUPPORTED,
         "damping_form \"split\" takes diagonal priors: the posterior given as prior is %s; use \"exact\"",
         family_word(prior.posterior()->family()));
  if (options.rule != Rule::map || options.laplace) prior.check_enters();
}

}  // namespace

template <class T>
StepMemory<T>::StepMemory(const Model<T>* model) {
  if (!model) return;
  evidence = std::make_unique<MinibatchEvidence<T>>(*model);
  sharded = std::make_unique<ShardedEvidence<T>>(*evidence);
  prequential = std::make_unique<Prequential<T>>(*model);
}

template <class T>
Optimizer<T>::Optimizer(std::shared_ptr<Model<T>> model, std::shared_ptr<Posterior<T>> posterior,
                        const Method& method, Index data_size)
    : averages(posterior->dimension()),
      memory(model.get()),
      model_(std::move(model)),
      posterior_(std::move(posterior)),
      method_(method),
      data_size_(data_size),
      points_(model_ ? point_parameters_of(*model_) : PointLayout()),
      context_(context_of(model_.get(), data_size)),
      initial_mean_(posterior_->dimension()),
      initial_precision_(posterior_->dimension()) {
  method.set_defaults(options_, context_);
  check_options(options_);
  step_kind_ = bdl::step_kind(options_, *posterior_);
  if (model_) check_masks_fit(*model_, *posterior_);
  if (model_) check_matrices_fit(*model_, *posterior_);
  check_adopts<T>(*posterior_, model_.get());
  const Index dimension = posterior_->dimension();
  rows_block_.push_back({"parameters", 0, dimension, 1, 0, false});
  prior_.reset(blocks(), options_);
  std::ranges::copy(posterior_->mean(), initial_mean_.data());
  if (posterior_->is_gaussian())
    posterior_->precision_diagonal(initial_precision_.first(dimension));
  else
    std::fill_n(initial_precision_.data(), dimension, T(1));
  if (posterior_->point_parameters() != points_)
    posterior_->adopt(points_);  // must come last, since nothing can fail after it
}

template <class T>
void Optimizer<T>::set_options(const Options& options, bool reset_prior) {
  const bool starts_anew = reset_prior || !same_prior(options, options_);
  if (!starts_anew) check_prior(method_, prior_, options);
  if (starts_anew) hold_prior(new_prior(options, normals_), normals_);
  if (options.learning_rate != options_.learning_rate) state.rate_cuts = 0;
  if (options.total_steps != options_.total_steps) state.plan = {0, options.total_steps};
  if (options.diagonal_part != options_.diagonal_part || options.tied_rank != options_.tied_rank)
    averages.tied.forget();
  options_ = options;
  checked_use_.reset();
  step_kind_ = bdl::step_kind(options_, *posterior_);
}

template <class T>
void Optimizer<T>::set_prior(std::shared_ptr<const Posterior<T>> given) {
  if (is_low_rank_moment(posterior_->family()) && !given->is_diagonal())
    fail(Status::ERROR_UNSUPPORTED,
         "low-rank-moment posteriors have diagonal priors: the posterior given as prior is %s",
         family_word(given->family()));
  Prior<T> prior(blocks(), options_);
  prior.fix(std::move(given), posterior_->kind());
  check_prior(method_, prior, options_);
  if (method_.kind == MethodKind::stream)
    check_holds(*in_family(*prior.posterior(), posterior_->kind()), *prior.posterior());
  hold_prior(std::move(prior), {});
}

template <class T>
void Optimizer<T>::set_prior(ConstSpan<T> precision) {
  Prior<T> prior(blocks(), options_);
  prior.fix(precision);
  hold_prior(std::move(prior), {});
}

template <class T>
void Optimizer<T>::set_normals(NormalPrior given) {
  Prior<T> prior = new_prior(options_, given);
  hold_prior(std::move(prior), std::move(given));
}

template <class T>
Prior<T> Optimizer<T>::new_prior(const Options& options, const NormalPrior& normals) const {
  Prior<T> prior(blocks(), options);
  if (!normals.given()) return prior;
  ParameterNormals converted = parameter_normals(normals, model_.get());
  const bool joins = converted.columns > 0;
  try {
    if (joins && is_low_rank_moment(posterior_->family()))
      fail(Status::ERROR_UNSUPPORTED, "low-rank-moment posteriors have diagonal priors");
    prior.give(std::move(converted), posterior_->kind());
    check_prior(method_, prior, options);
    if (prior.posterior() && method_.kind == MethodKind::stream)
      check_holds(*in_family(*prior.posterior(), posterior_->kind()), *prior.posterior());
  } catch (const Error& error) {
    if (!joins || error.status() != Status::ERROR_UNSUPPORTED) throw;
    fail(
        error.status(),
        "the prior of the intercept joins it with the slopes, because the inputs are standardised: %s. Leave "
        "the intercept out, or learn a full posterior",
        error.what());
  }
  return prior;
}

/// Takes over a prior; cannot fail.
template <class T>
void Optimizer<T>::hold_prior(Prior<T> prior, NormalPrior normals) {
  prior_ = std::move(prior);
  normals_ = std::move(normals);
  if (normals_.of_coefficients) units_of_prior_ = model_->standardization;
  averages.kfac.forget_prior();
  watch.forget();
}

template <class T>
bool Optimizer<T>::prior_is_due() const {
  if (!normals_.of_coefficients) return false;
  const auto same = [](const ColumnMoments& a, const ColumnMoments& b) {
    return a.mean == b.mean && a.scale == b.scale;
  };
  const Standardization& now = model_->standardization;
  return !same(now.input_moments(), units_of_prior_.input_moments()) ||
         !same(now.target_moments(), units_of_prior_.target_moments());
}

template <class T>
void Optimizer<T>::settle_prior() {
  if (!prior_is_due()) return;
  Prior<T> prior = new_prior();
  prior.set_groups(prior_.groups());
  hold_prior(std::move(prior), normals_);
}

template <class T>
void Optimizer<T>::check_options(const Options& options) const {
  check_combination(combination(options), intended_use(combination(options)));
  if (options.shards > 1 || team.size() > 1) check_sums(combination(options));
}

template <class T>
void Optimizer<T>::check_choice(const Options& options) const {
  check_options(options);
  check_read(combination(options), options_);
}

template <class T>
void Optimizer<T>::check_use(Use use) const {
  if (checked_use_ != use) check_combination(combination(options_), use);
  checked_use_ = use;
  if (!team.is_alone()) check_together(use);
  if (posterior_->point_parameters() != points_)
    fail(Status::ERROR_SHAPE, "the posterior has become that of a network with other point parameters");
}

template <class T>
DrawSource<T>& Optimizer<T>::draws() {
  streams_.set(static_cast<std::uint64_t>(options_.seed), state.draw_scale);
  return caller_draws_ ? *caller_draws_ : streams_;
}

template <class T>
void Optimizer<T>::set_start(ConstSpan<T> mean, ConstSpan<T> precision) {
  if (mean.data() != initial_mean_.data()) std::ranges::copy(mean, initial_mean_.data());
  std::ranges::copy(precision, initial_precision_.data());
}

template <class T>
void Optimizer<T>::forget_start() noexcept {
  posterior_->reset();
  std::fill_n(initial_mean_.data(), posterior_->dimension(), T(0));
  std::fill_n(initial_precision_.data(), posterior_->dimension(), T(1));
}

template <class T>
double kl_from_prior(const Optimizer<T>& optimizer) {
  const ThreadLimit threads(optimizer.options().threads);
  Scratch scratch;
  return optimizer.prior().kl(*optimizer.posterior(), scratch);
}

template <class T>
const NoiseText& Optimizer<T>::noise_text() const {
  if (step_kind_ != StepKind::low_rank_moment)
    fail(Status::ERROR_UNSUPPORTED, "only low-rank-moment posteriors are learned through noise of layers");
  auto& known = noise_texts_[static_cast<int>(options_.noise_estimator)];
  known.is_due.settle([&] {
    NoisyNetwork<T> network(*model_->graph());
    network.choose(options_.noise_estimator);
    known.text = {network.is_exact(), network.text()};
  });
  return known.text;
}

template struct StepMemory<float>;
template struct StepMemory<double>;
template class Optimizer<float>;
template class Optimizer<double>;
template double kl_from_prior(const Optimizer<float>&);
template double kl_from_prior(const Optimizer<double>&);

}  // namespace bdl
