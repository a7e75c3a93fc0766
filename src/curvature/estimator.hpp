// Estimators of the expected gradient g = sum_r c_r b_r and curvature G = sum_r w_r b_r b_r^T of the negative
// log likelihood over posterior samples (docs/theory/rows.md, "What a row is").
#pragma once

#include <memory>

#include "curvature/rows.hpp"
#include "model/model.hpp"
#include "network/layer.hpp"
#include "rng/philox.hpp"

namespace bdl {

/// Seeds that are back-propagated: the loss gradient (mc-ef, lin-ef), or the C columns of a square root of
/// the loss Hessian (mc-ggn, lin-hess), which combine to the gradient. The other two kinds have the gradient
/// first, and then, for the curvature only, the gradients for all labels weighted by their probabilities
/// (that root's columns for likelihoods other than the categorical), or the gradient for one label drawn from
/// the model.
enum class CurvatureKind {
  empirical_fisher = 0,
  gauss_newton = 1,
  gradient_and_all_labels = 2,
  gradient_and_one_label = 3
};

struct BatchSize {
  Index examples = 0, samples = 0;
  CurvatureKind kind = CurvatureKind::empirical_fisher;
  bool apart = false;  ///< true if the rows of single-index models are not merged
};

/// Kind of seeds, their scale N / (M S), and the arguments of a forward pass.
struct SeedSpec {
  CurvatureKind kind = CurvatureKind::empirical_fisher;
  double scale = 1;
  /// Key of layers that are random in training; null: the network is evaluated without noise.
  const StreamKey* noise = nullptr;
  /// True if each sample and example has a row of its own, even if an example's rows are multiples of x_i.
  bool apart = false;
  /// Running statistics of layers that normalise.
  Statistics statistics{};
  /// Random stream of labels that are drawn from the model.
  StreamKey labels{};
};

/// Gradient and curvature of one minibatch, as rows, at S parameter samples.
template <class T>
struct Estimate {
  ExampleRows<T>* rows = nullptr;
  ConstSpan<T> c, w;                   // scaled by N / (M S)
  double expected_log_likelihood = 0;  // (1/S) sum_is log p(y_i | x_i, theta_s), constants included
  bool merged = false;  // true if row i is x_i itself, and c_i and w_i have the seeds of all its samples
};

template <class T>
class BlockedRows;
template <class T>
struct Tape;

template <class T>
class Estimator {
 public:
  virtual ~Estimator() = default;
  /// Returns the rows layer by layer; null for a custom model. tape() has the numbers that they are computed
  /// from.
  virtual const BlockedRows<T>* blocks() const { return nullptr; }
  virtual const Tape<T>* tape() const { return nullptr; }
  /// Returns the number and the cost of the rows of a batch of this size.
  virtual RowsCost cost(const BatchSize& size) const = 0;
  /// True if the rows compute sums and sums of squares faster together.
  virtual bool has_sums_together() const { return false; }
  /// Estimates at thetas (D x S) for x (inputs x M) and y (targets x M, NaN where missing). Views of the
  /// estimate live until the next call.
  virtual Estimate<T> estimate(ConstMatrixView<T> thetas, ConstMatrixView<T> x, ConstMatrixView<T> y,
                               const SeedSpec& seeds) = 0;
  /// Writes sum_r c_r b_r over the rows of sample s of S in the last estimate, whose rows must be apart and
  /// whose seeds must be gradients.
  virtual void sum_sample(Index s, Index samples, ConstSpan<T> c, std::span<T> out) = 0;
  /// Writes sum_r w_r b_r^2 of the point parameters, without gaps between them, in the last estimate.
  virtual void point_squares(ConstSpan<T> w, std::span<T> out) const = 0;
  /// Returns the outputs at the last estimate: C x M S, column s M + i.
  virtual ConstMatrixView<T> outputs() const = 0;
};

/// Returns the estimator for a network (rows by blocks) or for a custom model (dense rows). The model must
/// outlive it.
template <class T>
std::unique_ptr<Estimator<T>> make_estimator(const Model<T>& model);

}  // namespace bdl
