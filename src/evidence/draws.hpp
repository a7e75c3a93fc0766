// Where the random draws of a step come from: the optimizer's own streams, or somebody who has their own.
#pragma once

#include "posterior/dropout/dropout.hpp"

namespace bdl {

/// Which draws: of inner iteration `iteration` of step `step`, both counted from 0. Layers that draw for
/// themselves do so anew in each shard, whoever shares the draws of parameters.
struct DrawPlace {
  Index step, iteration, shard = 0;
};

template <class T>
class DrawSource {
 public:
  virtual ~DrawSource() = default;
  /// Columns theta_s ~ q.
  virtual void parameters(const Posterior<T>& q, DrawPlace place, MatrixView<T> thetas, Scratch& scratch) = 0;
  /// Columns of +-1 (Rademacher).
  virtual void probes(const Posterior<T>& q, DrawPlace place, MatrixView<T> z) = 0;
  /// Columns of masks (units x S) for draws of q.
  virtual void masks(const DropoutPosterior<T>& q, DrawPlace place, MatrixView<T> masks);
};

/// Philox streams: a pure function of seed and place.
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
