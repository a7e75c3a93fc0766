// Forward passes with noise of each example's own, in place of draws of the parameters.
#pragma once

#include "inference/noise/beliefs.hpp"
#include "model/model.hpp"

namespace bdl {

template <class T>
class LocalPasses {
 public:
  /// Of a low-rank-moment posterior of a network; both must outlive it.
  LocalPasses(const Model<T>& model, const Posterior<T>& q);
  /// F for examples X, the first of which has the number `first`, with the noise of a sample.
  void forward(std::uint64_t seed, Index sample, Index first, ConstMatrixView<T> x, MatrixView<T> f,
               Scratch& scratch);

 private:
  const Graph<T>& graph_;
  const Posterior<T>& q_;
  NoisyNetwork<T> network_;
  std::vector<BlockBelief<T>> blocks_;
};

}  // namespace bdl
