// Estimates the gradient of the expected negative log likelihood by the mean, W and log sqrt(s) of a
// low-rank-moment posterior, through noise that layers draw in place of parameters: as a rule separately for
// each example (docs/theory/noise.md).
#pragma once

#include "model/model.hpp"
#include "network/noise/noisy_network.hpp"
#include "options/options.hpp"
#include "posterior/low_rank_moment/members.hpp"

namespace bdl {

template <class T>
struct NoisyEstimate {
  NoiseGradient<T> gradient;           ///< of `weight` times the sum of the losses
  double expected_log_likelihood = 0;  ///< (1/S) sum_is log p(y_i | x_i, draw)
};

template <class T>
class NoisyEstimator {
 public:
  /// The model must be a network, and must outlive this.
  explicit NoisyEstimator(const Model<T>& model);
  void reserve(const Posterior<T>& q, const Options& options, Index examples);
  /// Estimates the gradient for examples x and y (columns), each counting `weight` times; views live until
  /// the next call. Shards draw different noise, unless the options make all examples share one draw.
  NoisyEstimate<T> estimate(const Posterior<T>& q, ConstMatrixView<T> x, ConstMatrixView<T> y,
                            const Options& options, double weight, Index step, const Statistics& statistics,
                            Index shard = 0);
  /// Estimates the gradient with given noise.
  NoisyEstimate<T> estimate(const Posterior<T>& q, ConstMatrixView<T> x, ConstMatrixView<T> y,
                            const Options& options, double weight, const NoiseSource<T>& source,
                            const StreamKey& layer_noise, const Statistics& statistics);
  /// Returns the outputs at the last estimate: C x M S, column s M + i.
  ConstMatrixView<T> outputs() const { return outputs_.matrix(model_.outputs(), columns_); }
  const NoisyNetwork<T>& network() const { return network_; }
  /// Sets how each layer makes noise, whatever the options say.
  void choose(std::vector<LayerNoise> of_layers) {
    network_.choose(std::move(of_layers));
    is_chosen_ = true;
  }
  const Tape<T>& tape() const { return tape_; }

 private:
  const Model<T>& model_;
  NoisyNetwork<T> network_;
  Tape<T> tape_;
  std::vector<BlockPosterior<T>> blocks_;
  Index columns_ = 0;
  bool is_chosen_ = false;
  Buffer<T> outputs_, c_, w_, gradient_;
};

}  // namespace bdl
