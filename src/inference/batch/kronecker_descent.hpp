// K-FAC and noisy K-FAC (Martens and Grosse 2015; Zhang et al. 2018; Osawa et al. 2019): the mean goes down
// the gradient over a Kronecker-factored curvature per example, moving averages of Omega and Gamma, which is
// also the posterior's: Lambda = N (curvature + reg + gamma) / tau, with the prior's share reg = tau Lambda_0
// / N (docs/mathematics/kronecker.md, "Steps").
#pragma once

#include "inference/batch/first_order.hpp"
#include "inference/methods/schedule.hpp"
#include "posterior/blocks/blocks.hpp"
#include "posterior/kronecker/joint_basis.hpp"

namespace bdl {

/// What goes on from step to step.
template <class T>
struct KroneckerAverages {
  Index steps = 0;             ///< 0: the rest has no meaning
  Buffer<T> momentum;          ///< of the gradient per example, the prior's in it
  Buffer<T> point_squares;     ///< mean squared gradients of points
  KroneckerFactors factors;    ///< lower triangles
  Buffer<double> eigenvalues;  ///< of each matrix Omega's, then Gamma's; their vectors are the posterior's
  bool knows_prior = false;    ///< found again where it is not
  Buffer<T> prior;             ///< what of a prior of the family is diagonal along those vectors
};

/// Of all matrices' factors.
Index eigenvalue_count(const std::vector<MatrixShape>& shapes);

template <class T>
struct KroneckerStep {
  const BlockedRows<T>& rows;
  ConstSpan<T> w;              ///< of the rows' curvature; sums are over all N examples
  ConstSpan<T> prior_slope;    ///< Lambda_0 (mean - mu_0)
  ConstSpan<T> point_squares;  ///< summed squared gradients of the points
  double temperature, next_temperature;
  const BlocksPosterior<T>* prior = nullptr;  ///< of the family, in place of the diagonal
};

/// A start near a prior of the family: its precision and `added` times I; points stay as they are.
template <class T>
void start_near(const BlocksPosterior<T>& prior, T added, BlocksPosterior<T>& q);

template <class T>
class KroneckerDescent {
 public:
  /// `to` becomes the posterior after the step. Fails with ERROR_DIVERGED where something is not finite.
  void move(const DescentStep<T>& step, const KroneckerStep<T>& more, const Options& options,
            Posterior<T>& to);
  /// Memory for steps of posteriors like q, with a prior of the family or another one.
  void reserve(const Posterior<T>& q, const BlockedRows<T>& rows, bool has_prior);
  /// Does the next step look at the rows' curvature?
  bool renews_factors(const Options& options) const {
    return now_.steps == 0 || now_.steps % options.factor_interval == 0;
  }
  /// The averages become those of the last step.
  void commit() noexcept { std::swap(now_, next_); }
  /// The next step begins new averages.
  void forget() noexcept { now_.steps = 0; }
  /// It is another one now.
  void forget_prior() noexcept { now_.knows_prior = false; }
  const KroneckerAverages<T>& averages() const { return now_; }
  void restore(KroneckerAverages<T>&& averages) { now_ = std::move(averages); }
  /// By which the last step was shortened: nu of option kl_clip.
  double shortening() const { return shortening_; }

 private:
  void average_factors(const DescentStep<T>& step, const KroneckerStep<T>& more, const Options& options);
  void join_start(double initial, double rate);
  void average_momentum(const DescentStep<T>& step, const KroneckerStep<T>& more, const MomentumTerms& terms);
  void find_vectors(const DescentStep<T>& step, const KroneckerStep<T>& more, const Options& options,
                    BlocksPosterior<T>& to);
  void find_vectors(std::size_t k, const KroneckerPosterior<T>* prior, double reg, KroneckerPosterior<T>& to);
  MatrixView<T> prior_along(std::size_t k, Index offset);
  void find_direction(Index offset, const KroneckerPosterior<T>& at);
  void move_mean(const DescentStep<T>& step, double factor, double most, std::span<T> to);
  void find_point_directions(const DescentStep<T>& step, const KroneckerStep<T>& more,
                             const Options& options);
  /// Curvature per example along the pairs of eigenvectors, with what is added to it.
  struct Added {
    double damping, reg;  ///< gamma, tau / N
    bool is_split;
  };
  /// Of one matrix, whose parameters begin at `offset`: the diagonal.
  struct PriorPart {
    Index offset;
    ConstSpan<T> precision;
  };
  void write_curvature(std::size_t k, const KroneckerPosterior<T>& at, const PriorPart& prior,
                       const Added& added, MatrixView<T> out);
  void write_prior(std::size_t k, const KroneckerPosterior<T>& at, const PriorPart& prior, MatrixView<T> out);
  ConstSpan<double> input_values(std::size_t k) const;
  ConstSpan<double> output_values(std::size_t k) const;

  KroneckerAverages<T> now_, next_;
  Buffer<T> direction_;
  FactorEigen eigen_;
  JointBasis<T> joint_;
  Scratch scratch_;
  PosteriorScratch<T> of_posterior_;
  std::vector<MatrixShape> shapes_;
  double shortening_ = 1;
};

}  // namespace bdl
