// One-step-ahead scores of a stream: each observation is predicted before the posterior learns from it.
#pragma once

#include "options/choices.hpp"
#include "posterior/linearized_outputs.hpp"

namespace bdl {

/// Sums over the targets scored so far, in the caller's units.
struct PrequentialSums {
  double examples = 0, targets = 0;  ///< their numbers, or sums of weights; a class number is one target
  double log_density = 0;            ///< over the examples, in nats
  double error = 0;  ///< over the targets: squared error at the parameters' mean, or 1 for a wrong class
  PrequentialSums& operator+=(const PrequentialSums& other);
};

template <class T>
class Prequential {
 public:
  /// The model must outlive it.
  explicit Prequential(const Model<T>& model) : model_(model), linearized_(model) {}
  /// Predicts the outputs for x (columns, standardised): at the mean, and if linearised their covariances.
  void predict(const Posterior<T>& q, ConstMatrixView<T> x, ScoreKind kind);
  /// Scores the targets y of the examples that were predicted so (NaN where missing). `scores` receives one
  /// log density for each, or NaN if `kind` is none.
  PrequentialSums score(ConstMatrixView<T> y, ScoreKind kind, std::span<double> scores);
  /// Return the mean of output c for predicted example i, and its variance, which is 0 unless linearised.
  double mean(Index i, Index c) const { return f_.data()[i * model_.outputs() + c]; }
  double variance(Index i, Index c, ScoreKind kind) const {
    return kind == ScoreKind::linearized ? linearized_.covariance(i)(c, c) : 0;
  }

 private:
  void reserve(Index examples, ScoreKind kind);
  void add_error(const double* f, const T* y, PrequentialSums& sums);
  const Model<T>& model_;
  LinearizedOutputs<T> linearized_;
  Buffer<T> outputs_;
  Scratch scratch_;
  Buffer<double> f_, mean_, density_scratch_;
};

}  // namespace bdl
