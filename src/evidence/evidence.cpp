#include "evidence/evidence.hpp"

#include <algorithm>

#include "base/profile.hpp"
#include "posterior/point_parameters.hpp"

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

/// True if the rows of a generalised linear model must not be merged: derivatives through draws need the rows
/// of each sample, and Kronecker factors those of each seed.
bool is_apart(const Options& options) {
  return options.curvature == EstimateKind::mc_reparam || has_factors(options);
}

/// Returns the random stream of layers that draw numbers, which differs between shards and groups.
StreamKey layer_noise(const Options& options, DrawPlace place) {
  const Index draws_of_shard = options.samples * options.sample_groups;
  return {static_cast<std::uint64_t>(options.seed), Stream::layer_noise,
          static_cast<std::uint64_t>(place.step),
          static_cast<std::uint32_t>(place.iteration * options.samples + place.shard * draws_of_shard)};
}

}  // namespace

BatchSize batch_size(const Options& options, Index examples) {
  return {examples, is_sampled(options.curvature) ? options.samples : 1, seeds_of(options),
          is_apart(options)};
}

template <class T>
ConstSpan<T> gradient_of(const Evidence<T>& evidence, Scratch& scratch) {
  if (!evidence.gradient.empty()) return evidence.gradient;
  const StageTimer timer(Stage::sums);
  const auto gradient = scratch.take<T>(evidence.estimate.rows->dimension());
  evidence.estimate.rows->sum(evidence.estimate.c, gradient);
  return gradient;
}

template <class T>
EvidenceEstimator<T>::EvidenceEstimator(const Model<T>& model)
    : model_(model), dimension_(model.parameters()), rows_(make_estimator(model)) {}

template <class T>
ExactEstimator<T>& EvidenceEstimator<T>::exact() {
  if (!exact_) exact_ = std::make_unique<ExactEstimator<T>>(model_);
  return *exact_;
}

template <class T>
Samples<T> EvidenceEstimator<T>::draw(const Posterior<T>& q, const Options& options, DrawSource<T>& draws,
                                      DrawPlace place, Scratch& scratch) {
  const EstimateKind kind = options.curvature;
  if (is_exact(kind) || is_noisy(q.family(), kind)) return {};
  const Samples<T> samples{scratch.matrix<T>(dimension_, batch_size(options, 1).samples), {}};
  if (const auto* const dropout = find_dropout(q)) {
    const auto masks = scratch.matrix<T>(dropout->units(), samples.thetas.cols);
    draws.masks(*dropout, place, masks);
    for (Index s = 0; s < masks.cols; ++s)
      dropout->apply(masks.column(s), q.mean().data(), samples.thetas.column_data(s));
    return {samples.thetas, masks};
  }
  if (is_sampled(kind)) {
    draws.parameters(q, place, samples.thetas, scratch);
    place_point_parameters(q, samples.thetas);  // the caller's draws may have changed them
  } else {
    std::ranges::copy(q.mean(), samples.thetas.data);
  }
  return samples;
}

template <class T>
Evidence<T> EvidenceEstimator<T>::estimate(const Posterior<T>& q, const Minibatch<T>& batch,
                                           const Options& options, DrawSource<T>& draws, Scratch& scratch) {
  if (options.sample_groups > 1) return estimate_groups(q, batch, options, draws, scratch);
  return estimate(q, batch, draw(q, options, draws, batch.place, scratch), options, draws, scratch);
}

template <class T>
Evidence<T> EvidenceEstimator<T>::estimate(const Posterior<T>& q, const Minibatch<T>& batch,
                                           const Samples<T>& samples, const Options& options,
                                           DrawSource<T>& draws, Scratch& scratch) {
  const EstimateKind kind = options.curvature;
  if (is_noisy(q.family(), kind)) return estimate_noisily(q, batch, options);
  if (is_exact(kind)) return estimate_exactly(q, batch);
  Evidence<T> evidence = estimate_by_rows(q, batch, samples, options);
  if (const Index points = q.point_parameters().parameters(); points > 0 && options.rule == Rule::blr) {
    const auto squares = scratch.take<T>(points);
    rows_->point_squares(evidence.estimate.w, squares);
    evidence.point_squares = squares;
  }
  if (kind == EstimateKind::mc_reparam)
    differentiate(q, samples, scratch, evidence);
  else if (kind == EstimateKind::mc_hess)
    evidence.curvature = hessian(q, batch, samples, options, draws, scratch);
  return evidence;
}

template <class T>
Evidence<T> EvidenceEstimator<T>::estimate_by_rows(const Posterior<T>& q, const Minibatch<T>& batch,
                                                   const Samples<T>& samples, const Options& options) {
  const StreamKey noise = layer_noise(options, batch.place);
  const std::span<double> statistics = start_statistics(q);
  SeedSpec spec{seeds_of(options), batch.weight / static_cast<double>(samples.thetas.cols), &noise,
                is_apart(options)};
  spec.statistics = {q.statistics(), statistics};
  spec.labels = {noise.seed, Stream::labels, noise.step, 0};
  Evidence<T> evidence;
  evidence.estimate = rows_->estimate(samples.thetas, batch.x, batch.y, spec);
  evidence.curvature = {evidence.estimate.rows, evidence.estimate.w, {}, {}};
  evidence.expected_log_likelihood = evidence.estimate.expected_log_likelihood;
  evidence.layers = rows_->blocks();
  evidence.thetas = samples.thetas;
  evidence.outputs = rows_->outputs();
  evidence.statistics = statistics;
  evidence.y = batch.y;
  evidence.weight = batch.weight;
  return evidence;
}

template <class T>
std::span<double> EvidenceEstimator<T>::start_statistics(const Posterior<T>& q) {
  const std::span<double> statistics = statistics_.first(std::ssize(q.statistics()));
  std::ranges::copy(q.statistics(), statistics.begin());
  return statistics;
}

template <class T>
Evidence<T> EvidenceEstimator<T>::estimate_exactly(const Posterior<T>& q, const Minibatch<T>& batch) {
  Evidence<T> evidence;
  evidence.estimate = exact().estimate(q, batch.x, batch.y, batch.weight);
  evidence.curvature = {evidence.estimate.rows, evidence.estimate.w, {}, {}};
  evidence.expected_log_likelihood = evidence.estimate.expected_log_likelihood;
  evidence.layers = &exact_->blocks();
  evidence.variances = exact_->variances(batch.x.cols);
  evidence.y = batch.y;
  evidence.weight = batch.weight;
  return evidence;
}

template <class T>
bool EvidenceEstimator<T>::sums_together(const Posterior<T>& q, const Options& options) const {
  return gives_rows(options.curvature) && !is_exact(options.curvature) && options.rule != Rule::map &&
         options.mean_update != MeanUpdateOption::unprojected && q.is_diagonal() &&
         rows_->has_sums_together();
}

template <class T>
void EvidenceEstimator<T>::sum_rows(const Posterior<T>& q, const Options& options, Scratch& scratch,
                                    Evidence<T>& evidence) const {
  if (!sums_together(q, options)) return;
  const auto gradient = scratch.take<T>(dimension_), squares = scratch.take<T>(dimension_);
  evidence.estimate.rows->sum_and_squares(evidence.estimate.c, gradient, evidence.estimate.w, squares);
  evidence.gradient = gradient;
  evidence.curvature = {nullptr, {}, {}, squares};
}

template <class T>
Curvature<T> EvidenceEstimator<T>::hessian(const Posterior<T>& q, const Minibatch<T>& batch,
                                           const Samples<T>& samples, const Options& options,
                                           DrawSource<T>& draws, Scratch& scratch) {
  if (!hessian_) hessian_ = std::make_unique<HessianEstimator<T>>(model_);
  const ConstMatrixView<T> thetas = samples.thetas;
  const double scale = batch.weight / static_cast<double>(thetas.cols);
  if (q.takes_matrix()) {
    const auto matrix = scratch.matrix<double>(dimension_, dimension_);
    hessian_->dense(thetas, batch.x, batch.y, scale, matrix);
    return {nullptr, {}, matrix, {}};
  }
  const auto diagonal = scratch.take<T>(dimension_);
  if (options.probes > 0) {
    const auto probes = scratch.matrix<T>(dimension_, options.probes);
    draws.probes(q, batch.place, probes);
    hessian_->diagonal_by_probes(thetas, batch.x, batch.y, scale, probes, diagonal);
  } else {
    hessian_->diagonal(thetas, batch.x, batch.y, scale, diagonal);
  }
  return {nullptr, {}, {}, diagonal};
}

template <class T>
void EvidenceEstimator<T>::sample(const Posterior<T>& q, const Minibatch<T>& batch, const Options& options,
                                  DrawSource<T>& draws, Scratch& scratch, Evidence<T>& evidence) {
  const Index samples = options.samples, examples = batch.x.cols;
  const auto thetas = scratch.matrix<T>(dimension_, samples);
  const auto outputs = scratch.matrix<T>(model_.outputs(), examples * samples);
  draws.parameters(q, batch.place, thetas, scratch);
  place_point_parameters(q, thetas);
  for (Index s = 0; s < samples; ++s) {
    const auto of_sample = outputs.columns(s * examples, examples);
    model_.forward(thetas.column(s), batch.x, of_sample, scratch, q.statistics());
    check_outputs_finite<T>(of_sample);
  }
  evidence.thetas = thetas;
  evidence.outputs = outputs;
}

template ConstSpan<float> gradient_of(const Evidence<float>&, Scratch&);
template ConstSpan<double> gradient_of(const Evidence<double>&, Scratch&);
template class EvidenceEstimator<float>;
template class EvidenceEstimator<double>;

}  // namespace bdl
