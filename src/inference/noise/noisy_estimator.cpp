#include "inference/noise/noisy_estimator.hpp"

#include <algorithm>

#include "curvature/seeds.hpp"

namespace bdl {
namespace {

Index block_count(const auto& q) {
  Index count = 0;
  for_each_low_rank_moment(q, [&](const auto&, Index) { ++count; });
  return count;
}

/// The rank that all members have.
Index rank_of(const auto& q) {
  Index rank = 0;
  for_each_low_rank_moment(q, [&](const auto& member, Index) { rank = member.rank(); });
  return rank;
}

/// Means, W, and where s is learned the log standard deviations.
Index gradient_size(const auto& q, const Options& options) {
  return q.dimension() * (rank_of(q) + (options.diagonal_part == DiagonalPart::fixed ? 1 : 2));
}

BatchSize noisy_size(const Options& options, Index examples) {
  return {examples, options.samples, CurvatureKind::empirical_fisher, true};
}

template <class T>
bool are_equal(ConstSpan<T> values) {
  int others = 0;
  with_simd([&](auto) BDL_INLINE_LAMBDA {
    for (const T value : values) others |= value == values[0] ? 0 : 1;
  });
  return others == 0;
}

}  // namespace

template <class T>
NoisyEstimator<T>::NoisyEstimator(const Model<T>& model) : model_(model), network_(*model.graph()) {}

template <class T>
void NoisyEstimator<T>::reserve(const Posterior<T>& q, const Options& options, Index examples) {
  const Index columns = examples * options.samples;
  if (!is_chosen_) network_.choose(options.noise_estimator);
  network_.reserve(block_count(q), rank_of(q), examples, options.samples);
  model_.graph()->reserve(tape_, examples, options.samples, 1);
  outputs_.reserve(model_.outputs() * columns);
  c_.reserve(columns);
  w_.reserve(columns);
  gradient_.reserve(gradient_size(q, options));
}

/// Where all s of a block are one number, products with them are cheaper.
template <class T>
void NoisyEstimator<T>::find_blocks(const Posterior<T>& q, bool may_be_common) {
  blocks_.clear();
  for_each_low_rank_moment(q, [&](const LowRankMomentPosterior<T>& member, Index offset) {
    const ConstSpan<T> s = member.s();
    const bool common = may_be_common && are_equal(s);
    blocks_.push_back({offset, member.dimension(), member.w(), s.data(), common});
  });
}

template <class T>
NoisyEstimate<T> NoisyEstimator<T>::estimate(const Posterior<T>& q, ConstMatrixView<T> x,
                                             ConstMatrixView<T> y, const Options& options, double weight,
                                             Index step, const Statistics& statistics) {
  const auto seed = static_cast<std::uint64_t>(options.seed);
  const StreamNoise<T> source(seed, step, network_.layout(block_count(q)), options.antithetic != 0);
  const StreamKey layer_noise{seed, Stream::layer_noise, static_cast<std::uint64_t>(step), 0};
  return estimate(q, x, y, options, weight, source, layer_noise, statistics);
}

template <class T>
NoisyEstimate<T> NoisyEstimator<T>::estimate(const Posterior<T>& q, ConstMatrixView<T> x,
                                             ConstMatrixView<T> y, const Options& options, double weight,
                                             const NoiseSource<T>& source, const StreamKey& layer_noise,
                                             const Statistics& statistics) {
  const Graph<T>& graph = *model_.graph();
  const Index samples = options.samples, rank = rank_of(q), dimension = q.dimension();
  reserve(q, options, x.cols);
  find_blocks(q,
              options.diagonal_part == DiagonalPart::fixed || options.diagonal_part == DiagonalPart::block);
  columns_ = x.cols * samples;
  const auto f = outputs_.matrix(graph.outputs(), columns_);
  network_.begin(q.mean(), blocks_, x.cols, samples, source);
  graph.forward(network_, samples, x, tape_, f, &layer_noise, statistics);
  for (Index s = 0; s < samples; ++s) check_outputs_finite<T>(f.columns(s * x.cols, x.cols));
  const BatchSize size = noisy_size(options, x.cols);
  const SeedSpec seeds{size.kind, weight / static_cast<double>(samples), 0, nullptr, true, {}};
  const auto c = c_.first(columns_);
  fill_seeds<T>(model_.likelihood, seeds, f, y, graph.seeds(tape_, columns_), c, w_.first(columns_));
  graph.backward(network_, tape_, 1);
  const std::span<T> numbers = gradient_.first(gradient_size(q, options));
  const NoiseGradient<T> gradient{numbers.first(at(dimension)),
                                  numbers.subspan(at(dimension), at(dimension * rank)),
                                  numbers.subspan(at(dimension * (rank + 1)))};
  network_.gradient(tape_, c, gradient);
  return {gradient, expected_log_likelihood<T>(model_.likelihood, f, y)};
}

template class NoisyEstimator<float>;
template class NoisyEstimator<double>;

}  // namespace bdl
