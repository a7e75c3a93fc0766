// Estimators of the expected gradient g = sum_r c_r b_r and curvature G = sum_r w_r b_r b_r^T of the negative
// log likelihood over posterior samples (docs/mathematics/rows.md, "What a row is").
#pragma once

#include <memory>

#include "curvature/rows.hpp"
#include "model/model.hpp"
#include "network/layer.hpp"
#include "rng/philox.hpp"

namespace bdl {

/// Which seeds are back-propagated: the loss gradient (mc-ef), or the C columns of a square root of the loss
/// Hessian (mc-ggn), of which the gradient is a combination; or the gradient, and behind it as curvature the
/// gradients for all labels by their probabilities (for other likelihoods than the categorical one that
/// root's columns), or for one label drawn from the model.
enum class CurvatureKind {
  empirical_fisher = 0,
  gauss_newton = 1,
  gradient_and_all_labels = 2,
  gradient_and_one_label = 3
};

struct BatchSize {
  Index examples = 0, samples = 0;
  CurvatureKind kind = CurvatureKind::empirical_fisher;
  bool apart = false;  ///< rows of single-index models are not merged
};

/// Which seeds, and with which scale N / (M S).
struct SeedSpec {
  CurvatureKind kind = CurvatureKind::empirical_fisher;
  double scale = 1;
  /// Of layers that are random in training; none: they are not.
  const StreamKey* noise = nullptr;
  /// One row per sample and example even where those of one example are multiples of each other.
  bool apart = false;
  /// Of layers that normalise.
  Statistics statistics{};
  /// Of labels that are drawn from the model.
  StreamKey labels{};
};

/// What one minibatch under S parameter samples says.
template <class T>
struct Estimate {
  ExampleRows<T>* rows = nullptr;
  ConstSpan<T> c, w;                   // scaled by N / (M S)
  double expected_log_likelihood = 0;  // (1/S) sum_is log p(y_i | x_i, theta_s), constants included
  bool merged = false;                 // row i is x_i itself, and c_i has the seeds of all its samples
};

template <class T>
class BlockedRows;
template <class T>
struct Tape;

template <class T>
class Estimator {
 public:
  virtual ~Estimator() = default;
  /// Its rows by layers, and the tape that they are made of; null for a user's model.
  virtual const BlockedRows<T>* blocks() const { return nullptr; }
  virtual const Tape<T>* tape() const { return nullptr; }
  /// Number and cost of the rows such a batch makes.
  virtual RowsCost cost(const BatchSize& size) const = 0;
  /// Do its rows have it?
  virtual bool has_sums_together() const { return false; }
  /// thetas: D x S; x: inputs x M; y: targets x M, NaN where missing. Views of the estimate live until the
  /// next call.
  virtual Estimate<T> estimate(ConstMatrixView<T> thetas, ConstMatrixView<T> x, ConstMatrixView<T> y,
                               const SeedSpec& seeds) = 0;
  /// sum_r c_r b_r over the rows of sample s of S: of the last estimate, its samples apart and its seeds the
  /// gradients.
  virtual void sum_sample(Index s, Index samples, ConstSpan<T> c, std::span<T> out) = 0;
  /// sum_r w_r b_r^2 of the point parameters, one after the other: of the last estimate.
  virtual void point_squares(ConstSpan<T> w, std::span<T> out) const = 0;
  /// Of the last estimate: C x M S, column s M + i.
  virtual ConstMatrixView<T> outputs() const = 0;
};

/// The estimator for a network (rows by blocks) or a user's own model (dense rows). The model must outlive
/// it.
template <class T>
std::unique_ptr<Estimator<T>> make_estimator(const Model<T>& model);

}  // namespace bdl
