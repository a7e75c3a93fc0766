// The arithmetic of memory_estimate(): upper bounds, which may be coarse for small arrays.
//
// An optimizer holds, beside model and posterior,
//   copies of the posterior, moving averages, the prior and the minibatch          memory.cpp
//   the estimator's outputs, coefficients and rows, and the tape of a pass         memory_rows.cpp
//   sums over shards, and the rows that are joined from their messages             memory_rows.cpp
//   one Scratch, as large as its peak: memory of the evidence, and on top of it
//   the largest of a draw, samples for the scales, and the step                    memory_steps.cpp
//
// M examples at S samples with K seeds make n = M S K rows, or M of a generalised linear model. D is the
// number of parameters, L the rank. All terms are bytes, in double, which does not overflow.
#pragma once

#include <algorithm>
#include <cmath>

#include "linalg/eigen/eigenpairs.hpp"
#include "linalg/tall/low_rank_projection.hpp"
#include "linalg/tall/tall_blocks.hpp"
#include "methods/schedule.hpp"
#include "posterior/blocks/blocks.hpp"
#include "train/optimizer.hpp"

namespace bdl {

inline constexpr double wide = sizeof(double);

inline double squared(double size) {
  return size * size;
}

/// Bytes of a pass over a tall matrix of so many columns and others (linalg/tall/tall_blocks.hpp), in which
/// each task has so many sums.
inline double tall_pass(Index rows, double columns, double others, double sums) {
  const auto block = static_cast<double>(block_rows_for(static_cast<Index>(columns)));
  return static_cast<double>(part_count(rows)) * wide * (block * (1 + columns + others) + sums + 8);
}

/// Bytes that libLBFGS allocates: x, its gradient, those before, the direction, and pairs of steps.
inline double l_bfgs(Index variables, Index pairs) {
  return wide * static_cast<double>(variables) * (5 + 2 * static_cast<double>(pairs));
}

/// Bytes of memory in which eigenpairs are found by a reduction of the whole matrix.
inline double direct_eigenpairs(double size, double count) {
  return wide *
         static_cast<double>(largest_eigenpairs_numbers(static_cast<Index>(size), static_cast<Index>(count)));
}

/// Bytes of memory in which the `count` largest eigenpairs of a positive matrix are found (linalg/eigen/).
inline double eigenpairs(Index size, Index count) {
  const auto n = static_cast<double>(size), k = static_cast<double>(count);
  if (!suits_krylov(size, count)) return direct_eigenpairs(n, k);
  const double block = k + 6 + k / 8, basis = std::min({16 * block, n / 2, 512.0});
  return wide * (n * (basis + block) + basis * (basis + k + block) + squared(block)) +
         direct_eigenpairs(basis, k);
}

/// The sizes of an optimizer's steps. Functions return bytes, unless their comment says otherwise.
template <class T>
class StepBytes {
 public:
  StepBytes(const Optimizer<T>& optimizer, Index examples);
  double all() const;
  double exact();

 private:
  // Memory that is held from step to step.
  double posterior(const Posterior<T>& q) const;
  double copies() const;
  double averages() const;
  double prior() const;
  double tape(double examples, double sections) const;
  double estimator(Index examples) const;
  double noise(double m) const;
  double hessian(Index examples) const;
  double shards() const;
  double message(Index examples) const;
  double gathered_gradients() const;

  // Scratch memory of a step.
  double layer_rows(double m, Index n, Index vectors, bool grams) const;
  Index largest_block(const Posterior<T>& q) const;
  double widest() const;
  bool projects() const {
    return q_.family() == Family::low_rank && q_.rank() > 0 && kind_ == StepKind::natural_gradient;
  }
  Index vectors(Index n) const;
  double rows(double m) const;
  double draw(const Posterior<T>& q, double columns) const;
  double evidence(Index examples) const;
  double samples(Index examples) const;
  double scores() const;
  double update(const Posterior<T>& q, Index n) const;
  bool averages_pairs() const {
    return options_.low_rank_update == LowRankUpdate::moving_average && is_batch();
  }
  EigenMethod projection(Index dimension, Index rank, Index n) const;
  double low_rank_update(Index dimension, Index rank, Index n) const;
  double full_update(const Posterior<T>& q, Index n) const;
  double guard() const;
  double step() const;

  /// True if sums of squares are taken of the rows.
  bool has_squares() const {
    return kind_ == StepKind::vogn || kind_ == StepKind::ivon || guards_ ||
           (kind_ == StepKind::natural_gradient && !q_.takes_matrix() && gives_rows(options_.curvature));
  }
  bool is_batch() const { return o_.method().kind != MethodKind::stream; }
  double slope() const { return prior_ ? 3 * d_ * t_ + draw(*prior_, 1) : 0; }

  const Optimizer<T>& o_;
  const Options& options_;
  const Posterior<T>& q_;
  const Posterior<T>* prior_;
  const Graph<T>* graph_;
  const Likelihood* likelihood_;
  StepKind kind_;
  double t_ = sizeof(T), d_, m_, s_, k_ = 1, points_, outputs_ = 0;
  Index n_;  // number of rows of all examples
  bool is_merged_, is_exact_, is_noisy_, has_matrix_, gives_gradient_, guards_;
};

}  // namespace bdl
