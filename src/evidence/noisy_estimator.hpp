// The gradient of the expected negative log likelihood under a low-rank-moment posterior, by mean, W and log
// standard deviations, through draws that each example makes for itself (docs/mathematics/noise.md).
#pragma once

#include "model/model.hpp"
#include "network/noise/noisy_network.hpp"
#include "options/options.hpp"
#include "posterior/low_rank_moment/members.hpp"

namespace bdl {

template <class T>
struct NoisyEstimate {
  NoiseGradient<T> gradient;           ///< of N times the loss per example
  double expected_log_likelihood = 0;  ///< (1/S) sum_is log p(y_i | x_i, draw)
};

template <class T>
class NoisyEstimator {
 public:
  /// Of a network, which must outlive it.
  explicit NoisyEstimator(const Model<T>& model);
  void reserve(const Posterior<T>& q, const Options& options, Index examples);
  /// Of examples x and y (columns), each counting `weight` times; views live until the next call. Noise of a
  /// shard's own, but for the one draw that all examples share.
  NoisyEstimate<T> estimate(const Posterior<T>& q, ConstMatrixView<T> x, ConstMatrixView<T> y,
                            const Options& options, double weight, Index step, const Statistics& statistics,
                            Index shard = 0);
  /// The same with somebody's own noise.
  NoisyEstimate<T> estimate(const Posterior<T>& q, ConstMatrixView<T> x, ConstMatrixView<T> y,
                            const Options& options, double weight, const NoiseSource<T>& source,
                            const StreamKey& layer_noise, const Statistics& statistics);
  /// Of the last estimate: C x M S, column s M + i.
  ConstMatrixView<T> outputs() const { return outputs_.matrix(model_.outputs(), columns_); }
  const NoisyNetwork<T>& network() const { return network_; }
  /// From now on not as options say.
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
