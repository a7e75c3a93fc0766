#include "predict/local_passes.hpp"

namespace bdl {

template <class T>
LocalPasses<T>::LocalPasses(const Model<T>& model, const Posterior<T>& q)
    : graph_(*model.graph()), q_(q), network_(graph_) {
  network_.choose(NoiseEstimator::local);
  find_blocks(q, true, blocks_);
}

/// Samples of a seed are steps of the stream, and examples the rest of its key.
template <class T>
void LocalPasses<T>::forward(std::uint64_t seed, Index sample, Index first, ConstMatrixView<T> x,
                             MatrixView<T> f, Scratch& scratch) {
  constexpr Index most_tiles = Index{1} << 24;
  const StreamNoise<T> source(seed, Stream::prediction_weight_noise, sample * most_tiles + first % most_tiles,
                              network_.layout(std::ssize(blocks_)), false);
  network_.begin(q_.mean(), blocks_, x.cols, 1, source);
  graph_.forward(network_, x, f, scratch, q_.statistics());
}

template class LocalPasses<float>;
template class LocalPasses<double>;

}  // namespace bdl
