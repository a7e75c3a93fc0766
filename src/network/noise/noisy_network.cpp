#include "network/noise/noisy_network.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/profile.hpp"

namespace bdl {
namespace {

/// Number of positions from which a convolution takes longer than drawing weights for each example.
constexpr Index many_positions = 30;

constexpr const char* noise_words[] = {"local", "weights", "flipout", "shared"};

/// True if the noise of outputs has the law of a draw: positions share their weights' noise, but not local
/// noise.
bool is_exact_at(LayerNoise noise, Index positions) {
  return noise != LayerNoise::local || positions == 1;
}

}  // namespace

LayerNoise layer_noise(NoiseEstimator estimator, Index positions) {
  switch (estimator) {
    case NoiseEstimator::local:
      return LayerNoise::local;
    case NoiseEstimator::weights:
      return LayerNoise::weights;
    case NoiseEstimator::flipout:
      return LayerNoise::flipout;
    case NoiseEstimator::shared:
      return LayerNoise::shared;
    default:
      return positions == 1                ? LayerNoise::local
             : positions >= many_positions ? LayerNoise::weights
                                           : LayerNoise::flipout;
  }
}

template <class T>
NoisyNetwork<T>::NoisyNetwork(const Graph<T>& graph) : graph_(graph) {
  for (const auto& [node, offset] : graph.learned()) {
    const auto& from = graph.nodes()[at(node)];
    if (auto points = from.layer->point_rows()) {
      point_nodes_.push_back({node, offset, std::move(points)});
      continue;
    }
    const auto number = std::ssize(layers_);
    layers_.push_back({node, {*from.layer, number, graph.wire(from.in).is_data}, 0, {}});
    layer_parameters_.push_back(layers_.back().layer.parameters());
  }
}

template <class T>
void NoisyNetwork<T>::choose(NoiseEstimator estimator) {
  noise_.resize(layers_.size());
  std::ranges::transform(layers_, noise_.begin(),
                         [&](const Node& node) { return layer_noise(estimator, node.layer.positions()); });
}

template <class T>
bool NoisyNetwork<T>::is_exact() const {
  for (std::size_t l = 0; l < layers_.size(); ++l)
    if (!is_exact_at(noise_[l], layers_[l].layer.positions())) return false;
  return true;
}

template <class T>
std::string NoisyNetwork<T>::text() const {
  std::string text;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const bool exact = is_exact_at(noise_[l], layers_[l].layer.positions());
    text += graph_.nodes()[at(layers_[l].node)].layer->text() + ": " +
            noise_words[static_cast<int>(noise_[l])] + (exact ? ", exact\n" : ", approximate\n");
  }
  return text;
}

template <class T>
ConstMatrixView<T> NoisyNetwork<T>::factors(Index block) const {
  const Index rows = rows_ * samples_;
  return {factors_.data() + block * rank_ * rows, rows, rank_};
}

template <class T>
ConstMatrixView<T> NoisyNetwork<T>::factors(const Node& node, Index s) const {
  return factors(node.block).block(s * rows_, 0, rows_, rank_);
}

template <class T>
void NoisyNetwork<T>::draw_factors(const NoiseSource<T>& source) {
  if (rank_ == 0) return;
  const Index size = std::ssize(blocks_) * rank_ * rows_ * samples_;
  std::fill_n(factors_.first(size + packet_size).data() + size, packet_size, T(0));  // lanes of a last packet
  for (Index b = 0; b < std::ssize(blocks_); ++b)
    for (Index s = 0; s < samples_; ++s) {
      const MatrixView<T> of_block(factors_.data() + b * rank_ * rows_ * samples_, rows_ * samples_, rank_);
      source.factors(b, s, of_block.block(s * rows_, 0, rows_, rank_));
    }
}

template <class T>
void NoisyNetwork<T>::begin(ConstSpan<T> mean, ConstSpan<BlockPosterior<T>> blocks, Index examples,
                            Index samples, const NoiseSource<T>& source) {
  const StageTimer timer(Stage::sample);
  mean_ = mean;
  blocks_ = blocks;
  rank_ = blocks.front().w.cols;
  rows_ = is_shared() ? 1 : examples;
  samples_ = samples;
  draw_factors(source);
  for (Node& node : layers_) {
    node.inputs.resize(at(samples));
    const Index first = node.layer.first_parameter();
    while (blocks[at(node.block)].offset + blocks[at(node.block)].size <= first) ++node.block;
    while (blocks[at(node.block)].offset > first) --node.block;
    const BlockPosterior<T>& block = blocks[at(node.block)];
    const Index within = first - block.offset;
    node.layer.begin({noise_[at(node.layer.number())], rank_, examples, samples},
                     {mean.data() + first, block.w.block(within, 0, node.layer.parameters(), rank_),
                      block.s + within, block.has_common_s},
                     source);
  }
}

template <class T>
const typename NoisyNetwork<T>::Node& NoisyNetwork<T>::at_offset(Index offset) const {
  return *std::ranges::find(layers_, offset, [](const Node& node) { return node.layer.first_parameter(); });
}

template <class T>
void NoisyNetwork<T>::apply(Index offset, Index s, ConstMatrixView<T> a, MatrixView<T> z) const {
  const Node& node = at_offset(offset);
  node.inputs[at(s)] = a;
  node.layer.forward(s, a, factors(node, s), z, scratch_);
}

template <class T>
void NoisyNetwork<T>::pull(Index offset, Index s, ConstMatrixView<T> e, bool add, MatrixView<T> to) const {
  const Node& node = at_offset(offset);
  node.layer.backward(s, node.inputs[at(s)], e, factors(node, s), add, to, scratch_);
}

template <class T>
void NoisyNetwork<T>::gradient(const Tape<T>& tape, ConstSpan<T> c, const NoiseGradient<T>& out) {
  const StageTimer timer(Stage::sums);
  if (!point_nodes_.empty()) {
    std::ranges::fill(out.w, T(0));
    std::ranges::fill(out.log_sigma, T(0));
  }
  for (Node& node : layers_) {
    const auto& of_graph = graph_.nodes()[at(node.node)];
    const BlockPosterior<T>& block = blocks_[at(node.block)];
    const Index first = node.layer.first_parameter(), size = node.layer.parameters();
    const MatrixView<T> of_block(out.w.data() + block.offset * rank_, block.size, rank_);
    const auto of_layer = [&](std::span<T> all) {
      return all.empty() ? all : all.subspan(at(first), at(size));
    };
    node.layer.gradient(
        graph_.values(tape, of_graph.in), graph_.sensitivities(tape, of_graph.out, tape.samples),
        {factors(node.block), c},
        {of_layer(out.mean), of_block.block(first - block.offset, 0, size, rank_), of_layer(out.log_sigma)},
        scratch_);
  }
  for (const PointNode& points : point_nodes_) {
    const auto& of_graph = graph_.nodes()[at(points.node)];
    points.rows->view(graph_.kept_slopes(tape, at(points.node)),
                      graph_.sensitivities(tape, of_graph.out, tape.samples), tape.examples);
    points.rows->sum(0, c, out.mean.subspan(at(points.offset), at(points.rows->parameters())));
  }
}

template class NoisyNetwork<float>;
template class NoisyNetwork<double>;

}  // namespace bdl
