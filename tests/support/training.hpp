// Optimizers in a few lines, and the step of docs/theory/natural-gradients.md, "SLANG" in dense matrices
// to compare them with.
#pragma once

#include <memory>
#include <vector>

#include "model/network.hpp"
#include "support/posteriors.hpp"
#include "train/start.hpp"
#include "train/step.hpp"

namespace bdl::testing {

template <class T>
std::shared_ptr<Network<T>> make_network(const std::vector<Index>& sizes, const Likelihood& likelihood,
                                         bool bias = true, bdl_activation activation = BDL_TANH) {
  return std::make_shared<Network<T>>(sizes, activation, bias, likelihood);
}

template <class T>
std::shared_ptr<Posterior<T>> make_posterior(Index dimension, Index rank) {
  return std::make_shared<LowRankPosterior<T>>(dimension, rank);
}

/// As a step learns it from these samples.
template <class T>
void learn_prior_from(const Prior<T>& prior, ConstMatrixView<T> thetas, double weight, Scales& scales) {
  std::vector<double> squares(prior.groups().size());
  prior.mean_squares(thetas, squares);
  scales.learn_prior(prior.groups(), squares, weight);
}

/// Scales stay as they are, and the posterior starts from precision 1.
inline Options plain_options() {
  Options options;
  options.learn_prior = options.learn_noise = 0;
  options.initial_precision = 1;
  return options;
}

/// Returns the memory of the caller's rows, for step_on_rows().
template <class T>
MatrixView<T> rows_to_fill(Optimizer<T>& optimizer, Index count) {
  return optimizer.memory.rows.resize(optimizer.posterior()->dimension(), count);
}

/// Writes columns into what the optimizer wants filled.
template <class T>
void fill(MatrixView<T> to, const Dense& from) {
  for (Index j = 0; j < to.cols; ++j)
    for (Index i = 0; i < to.rows; ++i) to(i, j) = static_cast<T>(from(i, j));
}

template <class T>
void step_on(Optimizer<T>& optimizer, const Dense& x, const Dense& y) {
  fill(optimizer.batch_x(x.cols), x);
  fill(optimizer.batch_y(y.cols), y);
  train_step(optimizer, x.cols);
}

/// One slang step in dense matrices. Rank < 0: the full covariance, nothing is truncated.
struct ReferenceStep {
  Index rank;
  Dense mean, low_rank, diagonal, momentum, prior;  // Sigma^-1 = low_rank + diag(diagonal)
  double gamma;
  Index t = 0;

  ReferenceStep(Index kept, const Dense& start, double precision, const Dense& lambda, double momentum_weight)
      : rank(kept),
        mean(start),
        low_rank(start.rows, start.rows),
        diagonal(start.rows, 1, precision),
        momentum(start.rows, 1),
        prior(lambda),
        gamma(momentum_weight) {}
  Dense precision() const { return low_rank + diagonal_matrix(diagonal); }
  /// ghat = sum_r c_r b_r, Ghat = sum_r w_r b_r b_r^T, both scaled by N / (M S).
  void take(const Dense& gradient, const Dense& curvature, double alpha, double beta) {
    const Dense target = (1 - beta) * low_rank + beta * curvature;
    low_rank = rank < 0 ? target : top_part(target, rank);
    diagonal = (1 - beta) * diagonal + beta * prior + diagonal_of(target) - diagonal_of(low_rank);
    momentum = gamma * momentum + (1 - gamma) * gradient;
    Dense total = 1 / (1 - std::pow(gamma, static_cast<double>(++t))) * momentum;
    for (Index i = 0; i < mean.rows; ++i) total(i, 0) += prior(i, 0) * mean(i, 0);
    mean = mean - alpha * (inverse_of(precision()) * total);
  }
};

}  // namespace bdl::testing
