// The moving averages of K-FAC, matrix by matrix of the network (kfac.cpp has the step).
#pragma once

#include "options/options.hpp"
#include "posterior/blocks/blocks.hpp"
#include "posterior/kronecker/joint_basis.hpp"

namespace bdl {

template <class T>
struct KroneckerAverages {
  Index steps = 0;             ///< gradients in the averages; 0: the rest has no meaning
  Buffer<T> momentum;          ///< of the gradient per example, the prior's in it
  Buffer<T> point_squares;     ///< mean squared gradients of point parameters
  KroneckerFactors factors;    ///< Omega and Gamma of each matrix, lower triangles
  Buffer<double> eigenvalues;  ///< of each matrix Omega's, then Gamma's; their vectors are the posterior's
  bool knows_prior = false;    ///< true if `prior` is there; else it is found again
  Buffer<T> prior;             ///< the diagonal, along those vectors, of a prior of the family
};

/// Number of eigenvalues of all matrices' factors.
Index eigenvalue_count(const std::vector<MatrixShape>& shapes);

/// Starts q near a prior of the family: at its precision plus `added` times I. Point parameters stay as they
/// are.
template <class T>
void start_near(const BlocksPosterior<T>& prior, T added, BlocksPosterior<T>& q);

template <class T>
class KfacAverages {
 public:
  const KroneckerAverages<T>& now() const { return now_; }
  void restore(KroneckerAverages<T>&& averages) { now_ = std::move(averages); }
  void commit() noexcept { std::swap(now_, next_); }
  void forget() noexcept { now_.steps = 0; }
  /// Called when the prior has become another one.
  void forget_prior() noexcept { now_.knows_prior = false; }
  /// True if the next step looks at the rows' curvature.
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
  // Memory of the steps.
  FactorEigen eigen_;
  JointBasis<T> joint_;
};

}  // namespace bdl
