// Memory of predictions. A predictor keeps it, so that predictions of no more examples than before allocate
// nothing.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "evidence/blocks.hpp"
#include "likelihood/gaussian_integrals.hpp"
#include "model/model.hpp"
#include "posterior/linearized_outputs.hpp"
#include "predict/mixture_quantile.hpp"

namespace bdl {

/// Forward passes in which each example has noise of its own, instead of draws of the parameters.
template <class T>
class LocalPasses {
 public:
  /// The posterior of the network must be low-rank-moment; both must outlive this.
  LocalPasses(const Model<T>& model, const Posterior<T>& q);
  /// Computes F for examples X, numbered from `first` on, with the noise of a sample.
  void forward(std::uint64_t seed, Index sample, Index first, ConstMatrixView<T> x, MatrixView<T> f,
               Scratch& scratch);

 private:
  const Graph<T>& graph_;
  const Posterior<T>& q_;
  NoisyNetwork<T> network_;
  std::vector<BlockPosterior<T>> blocks_;
};

/// Memory for one model, posterior and PredictSpec.
template <class T>
struct PredictMemory {
  /// True if all draws that the spec asks for are kept; else as many as ChunkLimits allow.
  bool keeps_draws = false;

  Buffer<T> thetas;  ///< draws [first_draw, last_draw)
  Index first_draw = 0, last_draw = 0;
  Scratch scratch;         ///< of operations of the posterior
  Buffer<double> normals;  ///< for method linearized_monte_carlo
  Index normals_drawn = 0;
  std::vector<double> weights;  ///< equal weights of draws

  std::optional<LocalPasses<T>> local;  ///< for method local_monte_carlo
  Buffer<T> x, f, all;                  ///< inputs and outputs of examples
  Scratch passes;                       ///< of forward passes
  Buffer<double> mixture, root;
  std::optional<LinearizedOutputs<T>> linearized;
  NormalRule rule, information_rule;
  std::optional<Likelihood> one_output;  ///< for one logit at a time

  std::array<Buffer<double>, 3> results;
  Buffer<double> numbers, target, random, uniform;  ///< for results computed from a mixture
  std::vector<Tail> tails;
  Components components;
};

/// The query's memory, or memory for this prediction alone.
template <class T>
class MemoryOf {
 public:
  explicit MemoryOf(const Query<T>& query) : memory_(query.memory) {
    if (!memory_) memory_ = &own_.emplace();
  }
  PredictMemory<T>& operator*() const { return *memory_; }
  PredictMemory<T>* operator->() const { return memory_; }

 private:
  PredictMemory<T>* memory_;
  std::optional<PredictMemory<T>> own_;
};

}  // namespace bdl
