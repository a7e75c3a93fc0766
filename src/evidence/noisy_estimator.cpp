#include "evidence/noisy_estimator.hpp"

#include <algorithm>

#include "curvature/seeds.hpp"
#include "evidence/blocks.hpp"

namespace bdl {
namespace {

/// Returns the number of derivatives: by the means, W and, if s is learned, log sqrt(s).
template <class T>
Index gradient_size(const Posterior<T>& q, const Options& options) {
  return q.dimension() * (moment_rank(q) + (options.diagonal_part == DiagonalPart::fixed ? 1 : 2));
}

/// A stream's step number has 56 bits, of which the lowest 40 count steps and the next 15 name the shard.
constexpr int steps_bits = 40;

BatchSize noisy_size(const Options& options, Index examples) {
  return {examples, options.samples, CurvatureKind::empirical_fisher, true};
}

}  // namespace

template <class T>
NoisyEstimator<T>::NoisyEstimator(const Model<T>& model) : model_(model), network_(*model.graph()) {}

template <class T>
void NoisyEstimator<T>::reserve(const Posterior<T>& q, const Options& options, Index examples) {
  const Index columns = examples * options.samples;
  if (!is_chosen_) network_.choose(options.noise_estimator);
  outputs_.reserve(model_.outputs() * columns);
  c_.reserve(columns);
  w_.reserve(columns);
  gradient_.reserve(gradient_size(q, options));
}

template <class T>
NoisyEstimate<T> NoisyEstimator<T>::estimate(const Posterior<T>& q, ConstMatrixView<T> x,
                                             ConstMatrixView<T> y, const Options& options, double weight,
                                             Index step, const Statistics& statistics, Index shard) {
  const auto seed = static_cast<std::uint64_t>(options.seed);
  const bool is_shared =
      options.noise_estimator == NoiseEstimator::shared && options.sample_sharing == SampleSharing::all;
  const Index place = step + (is_shared ? 0 : shard << steps_bits);
  const StreamNoise<T> source(seed, Stream::weight_noise, place, network_.layout(block_count(q)),
                              options.antithetic != 0);
  const StreamKey layer_noise{seed, Stream::layer_noise, static_cast<std::uint64_t>(step),
                              static_cast<std::uint32_t>(shard * options.samples)};
  return estimate(q, x, y, options, weight, source, layer_noise, statistics);
}

template <class T>
NoisyEstimate<T> NoisyEstimator<T>::estimate(const Posterior<T>& q, ConstMatrixView<T> x,
                                             ConstMatrixView<T> y, const Options& options, double weight,
                                             const NoiseSource<T>& source, const StreamKey& layer_noise,
                                             const Statistics& statistics) {
  const Graph<T>& graph = *model_.graph();
  const Index samples = options.samples, rank = moment_rank(q), dimension = q.dimension();
  reserve(q, options, x.cols);
  const bool common =
      options.diagonal_part == DiagonalPart::fixed || options.diagonal_part == DiagonalPart::block;
  find_blocks(q, common, blocks_);
  columns_ = x.cols * samples;
  const auto f = outputs_.matrix(graph.outputs(), columns_);
  network_.begin(q.mean(), blocks_, x.cols, samples, source);
  graph.forward(network_, samples, x, tape_, f, &layer_noise, statistics);
  for (Index s = 0; s < samples; ++s) check_outputs_finite<T>(f.columns(s * x.cols, x.cols));
  const BatchSize size = noisy_size(options, x.cols);
  const SeedSpec seeds{size.kind, weight / static_cast<double>(samples), nullptr, true, {}};
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
