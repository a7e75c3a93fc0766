// A network whose weights are noisy: a pass multiplies by random weights in place of sampled ones, and
// gradients are by the mean, W and s of the parameters' Gaussian, block by block. noisy_layer.hpp has the
// estimates.
#pragma once

#include <string>
#include <vector>

#include "network/graph.hpp"
#include "network/noise/noisy_layer.hpp"
#include "options/choices.hpp"

namespace bdl {

/// The Gaussian N(mean, diag(s) + W W^T) of `size` parameters from `offset` on, which are whole layers. All
/// blocks have the same rank.
template <class T>
struct BlockPosterior {
  Index offset, size;
  ConstMatrixView<T> w;
  const T* s;
  bool has_common_s;
};

/// A gradient by D means; by K D numbers of W, block after block, each D_b x K; by D log sqrt(s), or none.
template <class T>
struct NoiseGradient {
  std::span<T> mean, w, log_sigma;
};

/// Returns the noise of a layer with so many output positions under this option.
LayerNoise layer_noise(NoiseEstimator estimator, Index positions);

template <class T>
class NoisyNetwork final : public Weights<T> {
 public:
  /// The graph must outlive it.
  explicit NoisyNetwork(const Graph<T>& graph);
  /// Sets how each layer makes noise; with "shared", all do.
  void choose(NoiseEstimator estimator);
  void choose(std::vector<LayerNoise> of_layers) { noise_ = std::move(of_layers); }
  /// True if the law of an example's outputs, in each layer, is that of a draw of the parameters.
  bool is_exact() const;
  /// Returns a line for each layer: its description, how it makes noise, and whether that is exact.
  std::string text() const;
  /// Sets the posterior and the source of all passes until the next call; point parameters are their means.
  /// The arguments must stay until the gradient is made.
  void begin(ConstSpan<T> mean, ConstSpan<BlockPosterior<T>> blocks, Index examples, Index samples,
             const NoiseSource<T>& source);
  /// Computes the gradient of sum c_r loss_r over all examples and samples, after a backward pass.
  void gradient(const Tape<T>& tape, ConstSpan<T> c, const NoiseGradient<T>& out);
  NoiseLayout layout(Index blocks) const { return {blocks, std::ssize(layers_), layer_parameters_}; }

  const T* point_parameters(Index offset, Index) const override { return mean_.data() + offset; }
  void apply(const DenseShape& shape, Index s, ConstMatrixView<T> a, MatrixView<T> z) const override {
    apply(shape.weight_offset, s, a, z);
  }
  void pull(const DenseShape& shape, Index s, ConstMatrixView<T> e, bool add,
            MatrixView<T> to) const override {
    pull(shape.weight_offset, s, e, add, to);
  }
  void apply(const ConvShape& shape, Index s, ConstMatrixView<T> a, MatrixView<T> z) const override {
    apply(shape.weight_offset, s, a, z);
  }
  void pull(const ConvShape& shape, Index s, ConstMatrixView<T> e, bool add,
            MatrixView<T> to) const override {
    pull(shape.weight_offset, s, e, add, to);
  }

 private:
  struct Node {
    Index node;
    mutable NoisyLayer<T> layer;  // a pass makes its noise
    Index block = 0;
    mutable std::vector<ConstMatrixView<T>> inputs;  // a view for each sample
  };
  struct PointNode {
    Index node, offset;
    std::unique_ptr<PointRows<T>> rows;
  };
  const Node& at_offset(Index offset) const;
  ConstMatrixView<T> factors(const Node& node, Index s) const;
  void apply(Index offset, Index s, ConstMatrixView<T> a, MatrixView<T> z) const;
  void pull(Index offset, Index s, ConstMatrixView<T> e, bool add, MatrixView<T> to) const;
  void draw_factors(const NoiseSource<T>& source);
  ConstMatrixView<T> factors(Index block) const;

  const Graph<T>& graph_;
  std::vector<Node> layers_;
  std::vector<PointNode> point_nodes_;
  bool is_shared() const { return !noise_.empty() && noise_.front() == LayerNoise::shared; }
  std::vector<Index> layer_parameters_;
  std::vector<LayerNoise> noise_;
  ConstSpan<T> mean_;
  ConstSpan<BlockPosterior<T>> blocks_;
  Index rank_ = 0, rows_ = 0, samples_ = 1;  // rows of eps of a sample
  Buffer<T> factors_;                        // eps of each block, all samples' rows x K
  mutable Scratch scratch_;
};

}  // namespace bdl
