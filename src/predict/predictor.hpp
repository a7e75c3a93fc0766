// Predictions of one model and posterior, again and again: what they need is drawn once, and later ones
// allocate nothing.
#pragma once

#include "predict/memory.hpp"
#include "predict/predict.hpp"

namespace bdl {

template <class T>
class Predictor {
 public:
  using Scalar = T;
  /// Copies model and posterior: what becomes of them changes no prediction.
  Predictor(const Model<T>& model, const Posterior<T>& posterior, const PredictSpec& spec);
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;

  const Model<T>& model() const { return *model_; }
  /// For one prediction at a time.
  Query<T> query(const Array& x) { return {*model_, *posterior_, x, spec_, &memory_}; }

 private:
  void reserve_rules();
  std::unique_ptr<const Model<T>> model_;
  std::unique_ptr<const Posterior<T>> posterior_;
  PredictSpec spec_;
  PredictMemory<T> memory_;
};

}  // namespace bdl
