// The moving averages of K-FAC for each matrix of the network; kfac.cpp has the step.
#pragma once

#include "options/options.hpp"
#include "posterior/blocks/blocks.hpp"
#include "posterior/kronecker/joint_basis.hpp"

namespace bdl {

template <class T>
struct KroneckerAverages {
  Index steps = 0;             ///< number of gradients in the averages; if 0, the rest has no meaning
  Buffer<T> momentum;          ///< averages of the gradient per example, which includes the prior's
  Buffer<T> point_squares;     ///< mean squared gradients of point parameters
  KroneckerFactors factors;    ///< Omega and Gamma of each matrix, lower triangles
  Buffer<double> eigenvalues;  ///< Omega's, then Gamma's of each matrix; the posterior has the vectors
  bool knows_prior = false;    ///< true if `prior` is valid; else it is computed again
  Buffer<T> prior;             ///< diagonal of a prior of the family in the basis of those eigenvectors
};

/// Number of eigenvalues of all matrices' factors.
Index eigenvalue_count(const std::vector<MatrixShape>& shapes);

/// Sets q's precision to that of `prior`, which is of the same family, plus `added` times I. Point
/// parameters stay as they are.
template <class T>
void start_near(const BlocksPosterior<T>& prior, T added, BlocksPosterior<T>& q);

/// The present averages and those of the step in progress.
template <class T>
class KfacAverages {
 public:
  const KroneckerAverages<T>& now() const { return now_; }
  void restore(KroneckerAverages<T>&& averages) { now_ = std::move(averages); }
  void commit() noexcept { std::swap(now_, next_); }
  void forget() noexcept { now_.steps = 0; }
  /// Forgets what was computed from the prior, which has changed.
  void forget_prior() noexcept { now_.knows_prior = false; }
  /// True if the next step averages the minibatch's factors.
  bool renews_factors(const Options& options) const {
    return now_.steps == 0 || now_.steps % options.factor_interval == 0;
  }
  /// The factor by which option "kl_clip" shortened the last step.
  double shortening() const { return shortening_; }

 private:
  template <class>
  friend class KfacStep;
  KroneckerAverages<T> now_, next_;
  double shortening_ = 1;
  // Kept from step to step, so that steps allocate nothing.
  FactorEigen eigen_;
  JointBasis<T> joint_;
};

}  // namespace bdl
