// What a prediction computes with. Kept by a predictor, it serves any number of predictions: those of no more
// examples than before allocate nothing.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "likelihood/logistic_rule.hpp"
#include "linalg/dense/symmetric_root.hpp"
#include "posterior/linearized_outputs.hpp"
#include "predict/component_quantile.hpp"
#include "predict/local_passes.hpp"

namespace bdl {

/// Of one model, posterior and PredictSpec.
template <class T>
struct PredictMemory {
  /// All draws that the spec asks for are kept; else as many as ChunkLimits allow.
  bool keeps_draws = false;

  Buffer<T> thetas;  ///< draws [first_draw, last_draw) stand in it
  Index first_draw = 0, last_draw = 0;
  PosteriorScratch<T> posterior;
  Buffer<double> normals;  ///< of BDL_LINEARIZED_MONTE_CARLO
  Index normals_drawn = 0;
  std::vector<double> weights;  ///< of equal draws

  std::optional<LocalPasses<T>> local;  ///< of BDL_LOCAL_MONTE_CARLO
  Scratch passes;                       ///< of forward passes
  Buffer<T> x, f, all;                  ///< of examples on their way through the model
  Buffer<double> mixture, root;
  std::optional<LinearizedOutputs<T>> linearized;
  SymmetricRoot root_finder;
  NormalRule rule, information_rule;
  std::optional<Likelihood> one_output;  ///< of logits one by one

  std::array<Buffer<double>, 3> results;
  Buffer<double> numbers, target, random, uniform;  ///< of what is made of a mixture
  std::vector<Tail> tails;
  Components components;
};

/// The query's memory, or one for this prediction alone.
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
