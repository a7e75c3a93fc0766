#include "inference/evidence.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/profile.hpp"
#include "posterior/points.hpp"

namespace bdl {
namespace {

bool has_factors(const Options& options) {
  return options.descent == DescentOption::kfac && options.rule == Rule::blr;
}

CurvatureKind seeds_of(const Options& options) {
  const EstimateKind kind = options.curvature;
  if (has_factors(options) && options.fisher == FisherLabels::exact)
    return CurvatureKind::gradient_and_all_labels;
  if (has_factors(options) && options.fisher == FisherLabels::sampled)
    return CurvatureKind::gradient_and_one_label;
  return kind == EstimateKind::mc_ggn || kind == EstimateKind::lin_hess ? CurvatureKind::gauss_newton
                                                                        : CurvatureKind::empirical_fisher;
}

/// Draws of a shard's layers.
Index shard_draws(const Options& options) {
  return options.samples * options.sample_groups;
}

bool is_apart(const Options& options) {
  return options.curvature == EstimateKind::mc_reparam || has_factors(options);
}

}  // namespace

BatchSize batch_size(const Options& options, Index examples) {
  const EstimateKind kind = options.curvature;
  return {examples, is_sampled(kind) ? options.samples : 1, seeds_of(options), is_apart(options)};
}

template <class T>
EvidenceEstimator<T>::EvidenceEstimator(const Model<T>& model)
    : rows_(make_estimator(model)), model_(model), dimension_(model.parameters()) {}

template <class T>
void EvidenceEstimator<T>::draw(const Posterior<T>& q, DrawSource<T>& draws, DrawPlace place,
                                PosteriorScratch<T>& scratch) {
  draws.parameters(q, place, thetas_.matrix(dimension_, samples_), scratch);
  place_points(q, thetas_.matrix(dimension_, samples_));  // the caller's draws, too
}

/// Where the estimate is made: at samples of q, at its mean, or nowhere in particular.
template <class T>
void EvidenceEstimator<T>::choose_thetas(const Posterior<T>& q, const Options& options, DrawSource<T>& draws,
                                         DrawPlace place, PosteriorScratch<T>& scratch) {
  const EstimateKind kind = options.curvature;
  samples_ = is_exact(kind) ? 0 : batch_size(options, 1).samples;
  if (keeps_samples_ && is_sampled(kind)) return;
  if (const auto* dropout = find_dropout(q)) return draw_masked(*dropout, draws, place);
  if (is_sampled(kind)) return draw(q, draws, place, scratch);
  if (is_linearized(kind)) std::ranges::copy(q.mean(), thetas_.data());
}

template <class T>
void EvidenceEstimator<T>::draw_samples(const Posterior<T>& q, const Options& options, DrawSource<T>& draws,
                                        DrawPlace place, PosteriorScratch<T>& scratch) {
  keeps_samples_ = false;
  choose_thetas(q, options, draws, place, scratch);
}

template <class T>
void EvidenceEstimator<T>::sample(const Posterior<T>& q, ConstMatrixView<T> x, const Options& options,
                                  DrawSource<T>& draws, DrawPlace place, PosteriorScratch<T>& scratch) {
  reserve_samples(q, options, x.cols, scratch);
  samples_ = options.samples;
  draw(q, draws, place, scratch);
  const auto f = sampled_outputs_.matrix(model_.outputs(), x.cols * samples_);
  for (Index s = 0; s < samples_; ++s) {
    const auto of_sample = f.columns(s * x.cols, x.cols);
    model_.forward(thetas().column(s), x, of_sample, forward_scratch_, q.statistics());
    check_outputs_finite<T>(of_sample);
  }
  outputs_ = f;
}

template <class T>
void EvidenceEstimator<T>::reserve_samples(const Posterior<T>& q, const Options& options, Index examples,
                                           PosteriorScratch<T>& scratch) {
  thetas_.reserve(dimension_ * options.samples);
  sampled_outputs_.reserve(model_.outputs() * examples * options.samples);
  q.reserve(options.samples, scratch);
}

template <class T>
void EvidenceEstimator<T>::reserve(const Posterior<T>& q, const Options& options, Index examples,
                                   const RowsUse& use, PosteriorScratch<T>& scratch) {
  reserve_own(q, options, examples, scratch);
  if (is_noisy(q.family(), options.curvature))
    noisy_->reserve(q, options, examples);
  else if (is_exact(options.curvature))
    exact_->reserve(q, examples, use);
  else
    rows_->reserve(batch_size(options, examples), use);
}

/// But for the estimates of rows, which reserve theirs themselves.
template <class T>
void EvidenceEstimator<T>::reserve_own(const Posterior<T>& q, const Options& options, Index examples,
                                       PosteriorScratch<T>& scratch) {
  const EstimateKind kind = options.curvature;
  const BatchSize size = batch_size(options, examples);
  const auto* const dropout = find_dropout(q);
  statistics_.reserve(std::ssize(q.statistics()));
  if (is_noisy(q.family(), kind)) {
    if (!noisy_) noisy_ = std::make_unique<NoisyEstimator<T>>(model_);
    return;
  }
  gradient_.reserve(dimension_);
  if (is_exact(kind)) {
    if (!exact_) exact_ = std::make_unique<ExactEstimator<T>>(model_);
    return;
  }
  thetas_.reserve(dimension_ * size.samples);
  if (dropout)
    masks_.reserve(dropout->units() * size.samples);
  else if (is_sampled(kind))
    q.reserve(size.samples, scratch);
  if (kind == EstimateKind::mc_reparam) sample_gradient_.reserve(dimension_);
  if ((kind == EstimateKind::mc_reparam && !dropout) || sums_together(q, options))
    diagonal_.reserve(dimension_);
  if (kind == EstimateKind::mc_hess) reserve_hessian(q, options, examples);
}

template <class T>
void EvidenceEstimator<T>::point_squares(std::span<T> out) const {
  if (!groups_.are_last) return rows_->point_squares(estimate_.w, out);
  std::copy_n(groups_.point_squares.data(), out.size(), out.begin());
}

/// A diagonal posterior asks of the rows no more than their sum and their squares.
template <class T>
bool EvidenceEstimator<T>::sums_together(const Posterior<T>& q, const Options& options) const {
  return gives_rows(options.curvature) && !is_exact(options.curvature) && options.rule != Rule::map &&
         options.mean_update != MeanUpdateOption::unprojected && q.is_diagonal() &&
         !is_noisy(q.family(), options.curvature) && rows_->has_sums_together();
}

template <class T>
void EvidenceEstimator<T>::reserve_hessian(const Posterior<T>& q, const Options& options, Index examples) {
  if (!hessian_) hessian_ = std::make_unique<HessianEstimator<T>>(model_);
  if (q.takes_matrix()) {
    matrix_.reserve(dimension_ * dimension_);
    return hessian_->reserve(examples, HessianForm::dense);
  }
  diagonal_.reserve(dimension_);
  probes_.reserve(dimension_ * options.probes);
  hessian_->reserve(examples, options.probes > 0 ? HessianForm::probes : HessianForm::diagonal);
}

template <class T>
void EvidenceEstimator<T>::reserve_guard(const Posterior<T>& metric, const Options& options, Index examples) {
  const BatchSize size = batch_size(options, examples);
  const Index rows = rows_->cost(size).count, pairs = examples * size.samples;
  guard_.reserve(metric, model_.outputs(), pairs, rows);
  const Index gradients = std::min({pairs, rows, most_gradients});
  if (is_exact(options.curvature))
    exact_->reserve_gradients(gradients);
  else
    rows_->reserve_gradients(gradients);
}

template <class T>
Evidence<T> EvidenceEstimator<T>::assess(const Posterior<T>& q, ConstMatrixView<T> x, ConstMatrixView<T> y,
                                         const Options& options, double weight, DrawSource<T>& draws,
                                         DrawPlace place, PosteriorScratch<T>& scratch) {
  Evidence<T> evidence = see(q, x, y, options, weight, draws, place, scratch);
  if (evidence.gradient.empty()) evidence.gradient = gradient();
  return evidence;
}

template <class T>
Evidence<T> EvidenceEstimator<T>::prepare(const Posterior<T>& q, ConstMatrixView<T> x, ConstMatrixView<T> y,
                                          const Options& options, double weight, DrawSource<T>& draws,
                                          DrawPlace place, PosteriorScratch<T>& scratch) {
  Evidence<T> evidence = see(q, x, y, options, weight, draws, place, scratch);
  if (!sums_together(q, options)) return evidence;
  const auto squares = diagonal_.first(dimension_);
  estimate_.rows->sum_and_squares(estimate_.c, gradient_.first(dimension_), estimate_.w, squares);
  has_gradient_ = true;
  evidence.gradient = gradient();
  evidence.curvature = {nullptr, {}, {}, squares};
  return evidence;
}

/// All but the gradient, where it is made of rows.
template <class T>
Evidence<T> EvidenceEstimator<T>::see(const Posterior<T>& q, ConstMatrixView<T> x, ConstMatrixView<T> y,
                                      const Options& options, double weight, DrawSource<T>& draws,
                                      DrawPlace place, PosteriorScratch<T>& scratch) {
  const EstimateKind kind = options.curvature;
  reserve_own(q, options, x.cols, scratch);
  groups_.are_last = false;
  center_ = q.mean();
  if (is_noisy(q.family(), kind)) return noisy(q, x, y, options, weight, place);
  choose_thetas(q, options, draws, place, scratch);
  if (is_exact(kind)) outputs_ = {};
  estimate_ = estimate(q, x, y, options, weight, place);
  y_ = y;
  weight_ = weight;
  has_gradient_ = false;
  if (kind == EstimateKind::mc_reparam) return reparametrized(q, estimate_);
  Evidence<T> evidence{{}, {estimate_.rows, estimate_.w, {}, {}}, estimate_.expected_log_likelihood};
  if (kind == EstimateKind::mc_hess)
    evidence.curvature = hessian(q, x, y, options, weight / static_cast<double>(samples_), draws, place);
  return evidence;
}

template <class T>
ConstSpan<T> EvidenceEstimator<T>::gradient() {
  const StageTimer timer(Stage::sums);
  if (!has_gradient_) estimate_.rows->sum(estimate_.c, gradient_.first(dimension_));
  return gradient_.first(dimension_);
}

template <class T>
ConstSpan<T> EvidenceEstimator<T>::guarded_gradient(const Posterior<T>& metric, double rate, double limit,
                                                    bool& held) {
  const auto c = guard_.scale({model_.likelihood, estimate_, outputs_, y_, weight_}, metric, rate, limit);
  held = guard_.has_held();
  if (has_gradient_ && !held) return gradient_.first(dimension_);
  const StageTimer timer(Stage::sums);
  estimate_.rows->sum(c, gradient_.first(dimension_));
  return gradient_.first(dimension_);
}

template <class T>
Estimate<T> EvidenceEstimator<T>::estimate(const Posterior<T>& q, ConstMatrixView<T> x, ConstMatrixView<T> y,
                                           const Options& options, double weight, DrawPlace place) {
  const EstimateKind kind = options.curvature;
  if (!is_exact(kind)) {
    const StreamKey noise{
        static_cast<std::uint64_t>(options.seed), Stream::layer_noise, static_cast<std::uint64_t>(place.step),
        static_cast<std::uint32_t>(place.iteration * options.samples + place.shard * shard_draws(options))};
    const StreamKey labels{noise.seed, Stream::labels, noise.step, 0};
    const double scale = weight / static_cast<double>(samples_);
    statistics_size_ = std::ssize(q.statistics());
    std::ranges::copy(q.statistics(), statistics_.data());
    const Estimate<T> estimate = rows_->estimate(thetas(), x, y,
                                                 {seeds_of(options),
                                                  scale,
                                                  &noise,
                                                  is_apart(options),
                                                  {q.statistics(), statistics_.first(statistics_size_)},
                                                  labels});
    outputs_ = rows_->outputs();
    return estimate;
  }
  return exact_->estimate(q, x, y, weight);
}

template <class T>
Curvature<T> EvidenceEstimator<T>::hessian(const Posterior<T>& q, ConstMatrixView<T> x, ConstMatrixView<T> y,
                                           const Options& options, double scale, DrawSource<T>& draws,
                                           DrawPlace place) {
  if (q.takes_matrix()) {
    const auto matrix = matrix_.matrix(dimension_, dimension_);
    hessian_->dense(thetas(), x, y, scale, matrix);
    return {nullptr, {}, matrix, {}};
  }
  const auto diagonal = diagonal_.first(dimension_);
  if (options.probes > 0) {
    const auto probes = probes_.matrix(dimension_, options.probes);
    draws.probes(q, place, probes);
    hessian_->diagonal_by_probes(thetas(), x, y, scale, probes, diagonal);
  } else {
    hessian_->diagonal(thetas(), x, y, scale, diagonal);
  }
  return {nullptr, {}, {}, diagonal};
}

template <class T>
EvidencePoints<T> EvidenceEstimator<T>::points(const Options& options, Index examples) const {
  const EstimateKind kind = options.curvature;
  if (is_exact(kind)) return {{}, center_, exact_->variances(examples), {}};
  if (is_linearized(kind)) return {{}, center_, {}, outputs_};
  return {thetas(), center_, {}, {}};
}

template <class T>
RowsCost EvidenceEstimator<T>::cost(const Options& options, Index examples) const {
  return rows_->cost(batch_size(options, examples));
}

template <class T>
Index EvidenceEstimator<T>::shared_numbers(const Options& options, Index examples) const {
  if (is_exact(options.curvature)) return exact_->shared_numbers(examples);
  return rows_->shared_numbers(batch_size(options, examples));
}

template <class T>
void EvidenceEstimator<T>::reserve_joined(const Posterior<T>& q, const Options& options, Index examples,
                                          const RowsUse& use, PosteriorScratch<T>& scratch) {
  reserve_own(q, options, examples, scratch);
  if (is_exact(options.curvature)) return exact_->reserve_joined(examples, use);
  rows_->reserve_joined(batch_size(options, examples), use);
}

/// The samples, and what layers with statistics have made of them, are those of the last evidence.
template <class T>
Evidence<T> EvidenceEstimator<T>::join(const Posterior<T>& q, const Options& options, ConstMatrixView<T> y,
                                       double weight, ConstSpan<Index> sizes, ConstSpan<const T*> numbers) {
  groups_.are_last = false;
  center_ = q.mean();
  estimate_ = is_exact(options.curvature) ? exact_->join(sizes, numbers)
                                          : rows_->join(batch_size(options, y.cols), sizes, numbers);
  outputs_ = is_exact(options.curvature) ? ConstMatrixView<T>() : rows_->outputs();
  y_ = y;
  weight_ = weight;
  has_gradient_ = false;
  return {{}, {estimate_.rows, estimate_.w, {}, {}}, 0};
}

template class EvidenceEstimator<float>;
template class EvidenceEstimator<double>;

}  // namespace bdl
