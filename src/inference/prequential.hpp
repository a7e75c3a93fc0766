// One-step-ahead scores of a stream: what the belief said about an observation before it saw it.
#pragma once

#include "posterior/linearized_outputs.hpp"

namespace bdl {

enum class ScoreKind { none = 0, plug_in = 1, linearized = 2 };  // words of option "score"

/// Sums over the targets seen so far.
struct PrequentialSums {
  Index examples = 0;         ///< with a score
  Index targets = 0;          ///< of them; a class number is one target
  double log_density = 0;     ///< over the examples, in nats
  double squared_error = 0;   ///< over the targets, of the plug-in mean; of class numbers: 1 if wrong
  PrequentialSums& operator+=(const PrequentialSums& other);
};

template <class T>
class Prequential {
 public:
  /// Scores the examples x, y (columns; NaN where missing); `scores` holds one log density for each, NaN without.
  PrequentialSums score(const Model<T>& model, const Posterior<T>& q, ConstMatrixView<T> x, ConstMatrixView<T> y,
                        ScoreKind kind, std::span<double> scores);

 private:
  void add_errors(const Likelihood& likelihood, const T* f, const T* y, PrequentialSums& sums);
  Buffer<T> outputs_, scratch_;
  Buffer<double> mean_, variance_;
  LinearizedOutputs<T> linearized_;
  LinearizedDensity density_;
};

}  // namespace bdl
