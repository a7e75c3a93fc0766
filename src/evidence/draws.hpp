// Sources of a step's random draws: the optimizer's streams, or a callback of the caller.
#pragma once

#include "posterior/dropout/dropout.hpp"

namespace bdl {

/// Place of a draw: inner iteration `iteration` of step `step`, both counted from 0. Layers with random
/// draws inside draw anew in each shard, even if the shards have the same parameters.
struct DrawPlace {
  Index step, iteration, shard = 0;
};

template <class T>
class DrawSource {
 public:
  virtual ~DrawSource() = default;
  /// Fills the columns with samples theta_s ~ q.
  virtual void parameters(const Posterior<T>& q, DrawPlace place, MatrixView<T> thetas, Scratch& scratch) = 0;
  /// Fills the columns with random signs (Rademacher).
  virtual void probes(const Posterior<T>& q, DrawPlace place, MatrixView<T> z) = 0;
  /// Fills the columns with masks (units x S) for draws from q.
  virtual void masks(const DropoutPosterior<T>& q, DrawPlace place, MatrixView<T> masks);
};

/// Draws from Philox streams: a pure function of seed and place.
template <class T>
class StreamDraws final : public DrawSource<T> {
 public:
  void set_seed(std::uint64_t seed) { seed_ = seed; }
  void parameters(const Posterior<T>& q, DrawPlace place, MatrixView<T> thetas, Scratch& scratch) override;
  void probes(const Posterior<T>& q, DrawPlace place, MatrixView<T> z) override;
  void masks(const DropoutPosterior<T>& q, DrawPlace place, MatrixView<T> masks) override;

 private:
  std::uint64_t seed_ = 0;
};

}  // namespace bdl
