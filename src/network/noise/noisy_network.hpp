// A network whose layers make noise: forward, backward, and gradients by mean, W and s of what is believed of
// its parameters, block by block.
#pragma once

#include <string>
#include <vector>

#include "network/graph.hpp"
#include "network/noise/noisy_layer.hpp"
#include "options/choices.hpp"

namespace bdl {

/// N(mean, diag(s) + W W^T) of `size` consecutive parameters, whole layers; all blocks have one rank.
template <class T>
struct BlockBelief {
  Index offset, size;
  ConstMatrixView<T> w;
  const T* s;
  bool has_common_s;
};

/// By the beliefs' numbers: D means; K D of W, block after block, each D_b x K; D by log sqrt(s), or none.
template <class T>
struct NoiseGradient {
  std::span<T> mean, w, log_sigma;
};

template <class T>
class NoisyNetwork final : public Weights<T> {
 public:
  /// The graph must outlive it.
  explicit NoisyNetwork(const Graph<T>& graph);
  /// How each layer makes noise; "shared" is for all of them.
  void choose(NoiseEstimator estimator);
  void choose(std::vector<LayerNoise> of_layers) { noise_ = std::move(of_layers); }
  /// Is the law of an example's outputs in each layer that of a draw?
  bool is_exact() const;
  /// A line for each layer: its description, how it makes noise, and whether that is exact.
  std::string text() const;
  /// The next passes are of these beliefs; points are their means. What is pointed at must stay until the
  /// gradient is made.
  void begin(ConstSpan<T> mean, ConstSpan<BlockBelief<T>> blocks, Index examples, Index samples,
             const NoiseSource<T>& source);
  /// Of sum c_r loss_r over all examples and samples, after a backward pass.
  void gradient(const Tape<T>& tape, ConstSpan<T> c, const NoiseGradient<T>& out);
  NoiseLayout layout(Index blocks) const { return {blocks, std::ssize(layers_), layer_parameters_}; }

  const T* points(Index offset, Index) const override { return mean_.data() + offset; }
  void apply(const DenseShape& shape, Index s, ConstMatrixView<T> a, MatrixView<T> z) const override;
  void pull(const DenseShape& shape, Index s, ConstMatrixView<T> e, bool add,
            MatrixView<T> to) const override;
  void apply(const ConvShape& shape, Index s, ConstMatrixView<T> a, MatrixView<T> z) const override;
  void pull(const ConvShape& shape, Index s, ConstMatrixView<T> e, bool add, MatrixView<T> to) const override;

 private:
  struct Node {
    Index node;
    mutable NoisyLayer<T> layer;  // a pass makes its noise
    Index block = 0;
    mutable std::vector<ConstMatrixView<T>> inputs;  // of samples
  };
  struct Points {
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
  std::vector<Points> points_;
  bool is_shared() const { return !noise_.empty() && noise_.front() == LayerNoise::shared; }
  std::vector<Index> layer_parameters_;
  std::vector<LayerNoise> noise_;
  ConstSpan<T> mean_;
  ConstSpan<BlockBelief<T>> blocks_;
  Index rank_ = 0, rows_ = 0, samples_ = 1;  // rows: of a sample's factors
  Buffer<T> factors_;                        // of each block, all samples' rows x K
  mutable Scratch scratch_;
};

}  // namespace bdl
