// Sources of a step's random draws: the optimizer's streams, or a callback of the caller (c_api/online.cpp).
#pragma once

#include "posterior/dropout/dropout.hpp"

namespace bdl {

/// Place of a draw in training; draws at different places are independent.
struct DrawPlace {
  Index step;       ///< counted from 0
  Index iteration;  ///< counts the draws of a step from 0: iterations of a stream, groups, or shards
  Index shard = 0;  ///< only for layers that are random: they draw anew where shards have the same parameters
};

template <class T>
class DrawSource {
 public:
  virtual ~DrawSource() = default;
  /// Fills the columns with samples theta_s ~ q.
  virtual void parameters(const Posterior<T>& q, DrawPlace place, MatrixView<T> thetas, Scratch& scratch) = 0;
  /// Fills the columns with random signs (Rademacher).
  virtual void probes(const Posterior<T>& q, DrawPlace place, MatrixView<T> z) = 0;
  /// Fills the columns with masks (units x S) for draws from q. Fails unless a subclass draws them.
  virtual void masks(const DropoutPosterior<T>& q, DrawPlace place, MatrixView<T> masks);
};

/// Draws from Philox streams: the numbers are a pure function of seed and place.
template <class T>
class StreamDraws final : public DrawSource<T> {
 public:
  /// Deviations of parameters from the mean are multiplied by `scale`.
  void set(std::uint64_t seed, double scale) {
    seed_ = seed;
    scale_ = scale;
  }
  void parameters(const Posterior<T>& q, DrawPlace place, MatrixView<T> thetas, Scratch& scratch) override;
  void probes(const Posterior<T>& q, DrawPlace place, MatrixView<T> z) override;
  void masks(const DropoutPosterior<T>& q, DrawPlace place, MatrixView<T> masks) override;

 private:
  std::uint64_t seed_ = 0;
  double scale_ = 1;
};

}  // namespace bdl
