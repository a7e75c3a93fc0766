#include "ranks/sharded_evidence.hpp"

#include <algorithm>

#include "evidence/blocks.hpp"
#include "likelihood/shape.hpp"
#include "posterior/diagonal/diagonal_step.hpp"

namespace bdl {
namespace {

/// Positions of the sums in double; sums per target, per prior group and per statistic follow them.
enum Number : Index {
  log_likelihood,
  misfit,
  zero_misfit,
  columns,
  weights,
  noise_slope,
  slope_count,
  first_vector
};

std::span<double> range(std::span<double> numbers, Index first, Index count) {
  return numbers.subspan(at(first), at(count));
}

template <class T>
bool has_curvature_sums(const EvidenceRequest<T>& request) {
  return request.kind == StepKind::diagonal || request.kind == StepKind::vogn ||
         request.kind == StepKind::ivon;
}

/// True if the curvature is a Hessian matrix, not rows or a diagonal.
template <class T>
bool takes_hessian(const EvidenceRequest<T>& request) {
  return request.options.curvature == EstimateKind::mc_hess && request.q.takes_matrix();
}

}  // namespace

/// Returns how many numbers a curvature without rows has: those of its diagonal or lower triangle.
template <class T>
Index ShardedEvidence<T>::hessian_numbers(const EvidenceRequest<T>& request) const {
  const Index dimension = request.q.dimension();
  if (gives_rows(request.options.curvature)) return 0;
  return takes_hessian(request) ? dimension * (dimension + 1) / 2 : dimension;
}

template <class T>
auto ShardedEvidence<T>::layout(const EvidenceRequest<T>& request, Index shards) const -> Layout {
  const Index dimension = request.q.dimension();
  Index values = dimension;
  if (exchanges_rows(request.kind)) {
    values = hessian_numbers(request);
  } else if (request.kind == StepKind::low_rank_moment) {
    const bool learns_s = request.options.diagonal_part != DiagonalPart::fixed;
    values = dimension * (1 + moment_rank(request.q) + (learns_s ? 1 : 0));
  } else if (has_curvature_sums(request)) {
    const bool has_points = request.kind != StepKind::diagonal;
    values = 2 * dimension + (has_points ? request.q.point_parameters().parameters() : 0);
  }
  return {values,
          first_vector + local_.model().likelihood.targets() + std::ssize(request.prior.groups()) +
              shape_sum_count(local_.model().likelihood) + std::ssize(request.q.statistics()),
          shards};
}

template <class T>
StepEvidence<T> ShardedEvidence<T>::estimate(const EvidenceRequest<T>& request, const Minibatch<T>& batch,
                                             const StepExamples& examples, Index shards, Team& team) {
  const Layout needed = layout(request, shards);
  if (needed != reserved_) {
    team.attempt([&] { sums_.reserve(team.rank(), team.size(), shards, needed.values, needed.numbers); });
    team.vote();  // all ranks have the memory, or none goes on
    reserved_ = needed;
  }
  own_ = shards_of(team.rank(), team.size(), shards);
  shared_samples_.reset();
  team.attempt([&] {
    if (exchanges_rows(request.kind)) {
      const Index targets = local_.model().likelihood.columns();
      std::ranges::transform(examples.sizes, exchange_.numbers(shards).begin(), [&](Index size) {
        return messages_.count(form(request.options, size), size) + size * targets;
      });
      exchange_.reserve(team.rank(), team.size());
    }
    sums_.add_own(
        [&](Index shard, const Summand<T>& out) { add_shard(request, batch, examples, shard, out); });
  });
  sums_.finish(team);
  StepEvidence<T> found = result(request);
  if (exchanges_rows(request.kind))
    join_rows(request, batch, examples, team, found.evidence);
  else
    use_sums(request, found.evidence);
  return found;
}

/// Draws samples for a shard. If all shards have the same samples, only the first call draws.
template <class T>
Samples<T> ShardedEvidence<T>::draw(const EvidenceRequest<T>& request, DrawPlace place) {
  EvidenceEstimator<T>& estimator = local_.estimator();
  if (request.options.sample_sharing != SampleSharing::all)
    return estimator.draw(request.q, request.options, request.draws, place, request.scratch);
  if (!shared_samples_)
    shared_samples_ = estimator.draw(request.q, request.options, request.draws, place, request.scratch);
  return *shared_samples_;
}

template <class T>
void ShardedEvidence<T>::add_shard(const EvidenceRequest<T>& request, const Minibatch<T>& batch,
                                   const StepExamples& examples, Index shard, const Summand<T>& out) {
  const Options& options = request.options;
  const ShardRange& columns_here = examples.shards[at(shard - own_.first)];
  const bool shares_samples = options.sample_sharing == SampleSharing::all;
  const Index iteration = shares_samples ? 0 : shard * options.sample_groups;
  const Minibatch<T> part =
      batch.part(columns_here.first, columns_here.count(), {batch.place.step, iteration, shard});
  std::optional<Scratch::Frame> frame;
  Samples<T> samples;
  if (options.sample_groups == 1 && shares_samples)
    samples = draw(request, part.place);  // shared samples must outlive the frame
  frame.emplace(request.scratch);
  StepEvidence<T> found;
  if (options.sample_groups > 1) {
    found = local_.estimate(request, part);
  } else {
    if (!shares_samples) samples = draw(request, part.place);
    found = local_.estimate(request, part, samples);
  }
  if (exchanges_rows(request.kind)) write_rows(request, part, found.evidence, shard);
  write_values(request, found.evidence, out.values);

  std::ranges::fill(out.numbers, 0.0);
  out.numbers[log_likelihood] = found.evidence.expected_log_likelihood;
  out.numbers[misfit] = found.misfits.outputs;
  out.numbers[zero_misfit] = found.misfits.zeros;
  out.numbers[columns] = found.misfits.columns;
  out.numbers[weights] = found.examples;
  out.numbers[noise_slope] = found.degrees_slope;
  out.numbers[slope_count] = found.degrees_count;
  const Index targets = local_.model().likelihood.targets(), groups = std::ssize(request.prior.groups());
  std::ranges::copy(found.squared_errors, out.numbers.begin() + first_vector);
  std::ranges::copy(found.prior_squares, range(out.numbers, first_vector + targets, groups).begin());
  const Index after_groups = first_vector + targets + groups;
  std::ranges::copy(found.shape_sums, out.numbers.begin() + after_groups);
  const double fraction = static_cast<double>(columns_here.count()) / static_cast<double>(examples.all);
  std::ranges::transform(found.evidence.statistics,
                         out.numbers.begin() + after_groups + shape_sum_count(local_.model().likelihood),
                         [=](double value) { return fraction * value; });
}

/// Writes a shard's summands: what the step needs of its gradient and curvature.
template <class T>
void ShardedEvidence<T>::write_values(const EvidenceRequest<T>& request, const Evidence<T>& evidence,
                                      std::span<T> out) const {
  if (exchanges_rows(request.kind)) {
    if (gives_rows(request.options.curvature)) return;
    if (!takes_hessian(request)) {
      std::ranges::copy(evidence.curvature.diagonal, out.begin());
      return;
    }
    const ConstMatrixView<double> h = evidence.curvature.matrix;
    T* to = out.data();
    for (Index j = 0; j < h.cols; ++j)
      to = std::transform(h.column_data(j) + j, h.column_data(j) + h.rows, to,
                          [](double value) { return static_cast<T>(value); });
    return;
  }
  T* to = std::ranges::copy(gradient_of(evidence, request.scratch), out.data()).out;
  if (evidence.noise) {
    to = std::ranges::copy(evidence.noise->w, to).out;
    std::ranges::copy(evidence.noise->log_sigma, to);
  } else if (has_curvature_sums(request)) {
    const Index dimension = request.q.dimension();
    curvature_diagonal(evidence.curvature, out.subspan(at(dimension), at(dimension)));
    if (request.kind != StepKind::diagonal)
      std::ranges::copy(evidence.point_squares, out.data() + 2 * dimension);
  }
}

/// Returns the sums in double as evidence. Mean squares of the prior's groups are averaged over the shards,
/// all of which have the same number of samples.
template <class T>
StepEvidence<T> ShardedEvidence<T>::result(const EvidenceRequest<T>& request) const {
  const ConstSpan<double> numbers = sums_.numbers();
  const Index targets = local_.model().likelihood.targets(), groups = std::ssize(request.prior.groups());
  StepEvidence<T> found;
  found.evidence.expected_log_likelihood = numbers[log_likelihood];
  found.evidence.statistics = numbers.last(request.q.statistics().size());
  found.misfits = {numbers[misfit], numbers[zero_misfit], numbers[columns], numbers[weights]};
  found.examples = numbers[weights];
  found.degrees_slope = numbers[noise_slope];
  found.degrees_count = numbers[slope_count];
  const auto copy = [&](Index first, Index count) {
    const auto out = request.scratch.template take<double>(count);
    std::copy_n(numbers.data() + first, count, out.data());
    return out;
  };
  found.squared_errors = copy(first_vector, targets);
  found.prior_squares = copy(first_vector + targets, groups);
  found.shape_sums = copy(first_vector + targets + groups, shape_sum_count(local_.model().likelihood));
  for (double& square : found.prior_squares) square /= static_cast<double>(reserved_.shards);
  return found;
}

template <class T>
void ShardedEvidence<T>::use_sums(const EvidenceRequest<T>& request, Evidence<T>& evidence) {
  const auto dimension = at(request.q.dimension());
  const std::span<T> sums = sums_.values();
  evidence.gradient = sums.first(dimension);
  if (request.kind == StepKind::low_rank_moment) {
    const std::size_t of_w = dimension * at(moment_rank(request.q));
    noise_ = {sums.first(dimension), sums.subspan(dimension, of_w), sums.subspan(dimension + of_w)};
    evidence.noise = &noise_;
  } else if (has_curvature_sums(request)) {
    evidence.curvature = {nullptr, {}, {}, sums.subspan(dimension, dimension)};
    evidence.point_squares = sums.subspan(2 * dimension);
  }
}

template <class T>
auto ShardedEvidence<T>::form(const Options& options, Index examples) const -> typename RowMessages<T>::Form {
  return is_exact(options.curvature) ? RowMessages<T>::exact_form()
                                     : messages_.form(batch_size(options, examples));
}

/// Writes a shard's message: its targets, and the numbers that its rows are computed from.
template <class T>
void ShardedEvidence<T>::write_rows(const EvidenceRequest<T>& request, const Minibatch<T>& part,
                                    const Evidence<T>& evidence, Index shard) {
  const std::span<T> out = exchange_.own(shard);
  T* to = out.data();
  for (Index i = 0; i < evidence.y.cols; ++i) to = std::ranges::copy(evidence.y.column(i), to).out;
  messages_.write(form(request.options, part.x.cols), evidence.estimate, part.x, evidence.outputs,
                  local_.estimator().rows().tape(), out.subspan(static_cast<std::size_t>(to - out.data())));
}

/// Joins the rows of all shards on every rank. Each shard's rows are those at its samples, and layers that
/// normalise do so with the statistics of the shard.
template <class T>
void ShardedEvidence<T>::join_rows(const EvidenceRequest<T>& request, const Minibatch<T>& batch,
                                   const StepExamples& examples, Team& team, Evidence<T>& evidence) {
  exchange_.gather(team);
  team.attempt([&] {
    const Index targets = local_.model().likelihood.columns();
    const auto all_y = request.scratch.template matrix<T>(targets, examples.all);
    const std::span<const T*> numbers = exchange_.shards();
    T* y = all_y.data;
    for (std::size_t v = 0; v < numbers.size(); ++v) {
      const Index count = examples.sizes[v] * targets;
      y = std::copy_n(numbers[v], count, y);
      numbers[v] += count;
    }
    const Options& options = request.options;
    evidence.estimate = messages_.join(form(options, examples.all), examples.sizes, numbers);
    evidence.layers = messages_.layers();
    evidence.outputs = messages_.outputs();
    evidence.y = all_y;
    evidence.weight = batch.weight;
    if (const Index points = request.q.point_parameters().parameters();
        points > 0 && options.rule == Rule::blr) {
      const auto squares = request.scratch.template take<T>(points);
      evidence.layers->point_squares(evidence.estimate.w, squares);
      evidence.point_squares = squares;
    }
    if (auto* const rows = dynamic_cast<BlockedRows<T>*>(evidence.estimate.rows)) {
      divided_.assign(*rows, team, reserved_.shards);
      evidence.estimate.rows = &divided_;
    }
    evidence.curvature = gives_rows(options.curvature)
                             ? Curvature<T>{evidence.estimate.rows, evidence.estimate.w, {}, {}}
                             : hessian(request);
  });
}

template <class T>
Curvature<T> ShardedEvidence<T>::hessian(const EvidenceRequest<T>& request) const {
  const ConstSpan<T> sums = sums_.values();
  if (!takes_hessian(request)) return {nullptr, {}, {}, sums};
  const Index dimension = request.q.dimension();
  const auto h = request.scratch.template matrix<double>(dimension, dimension);
  const T* from = sums.data();
  for (Index j = 0; j < dimension; from += dimension - j++)
    std::copy_n(from, dimension - j, h.column_data(j) + j);
  return {nullptr, {}, h, {}};
}

template class ShardedEvidence<float>;
template class ShardedEvidence<double>;

}  // namespace bdl
