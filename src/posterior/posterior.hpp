// What is believed: a Gaussian q(theta) = N(mu, Sigma), or the masks of dropout. One interface, one file per
// family.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "base/plan.hpp"
#include "curvature/curvature.hpp"
#include "linalg/dense/positive_matrix.hpp"
#include "linalg/tall/low_rank_projection.hpp"
#include "linalg/tall/tall.hpp"
#include "options/choices.hpp"
#include "posterior/kind.hpp"
#include "posterior/tensors.hpp"
#include "rng/philox.hpp"

namespace bdl {

/// Scratch of the const operations; it grows to its need and is then reused.
template <class T>
struct PosteriorScratch {
  TallScratch tall;
  Buffer<double> small;
  Buffer<T> coefficients;  // of a factor's columns
  Buffer<T> matrices;      // of a block that is one
};

/// Steepest descent of the loss is taken in the metric of the Fisher information (natural gradient) or in
/// that of the family's parameters.
enum class Descent { natural, plain };

/// How steps with a low-rank or diagonal precision move the mean: by the covariance after the projection to
/// the family, or by the one before it (docs/mathematics/natural-gradients.md, "Which covariance moves the
/// mean").
enum class MeanUpdate { projected, unprojected };

/// One step down a loss, minus the expected log likelihood, perhaps plus KL(q || prior), given by its
/// derivatives with respect to (mu, Sigma): m, and M = (H + [KL] (Lambda_0 - Lambda)) / 2
/// (docs/mathematics/natural-gradients.md, "The loss and its derivatives"). Families map (m, M) to their
/// parameters.
template <class T>
struct PosteriorStep {
  const Posterior<T>& from;  ///< (mu, Sigma)
  Descent descent = Descent::natural;
  ConstSpan<T> m{};          ///< includes Lambda_0 (mu - mu_0) if the loss has the KL; empty: the mean stays
  Curvature<T> curvature{};  ///< H
  double mean_rate = 1, curvature_rate = 1;
  /// Lambda_0: that of a posterior of the same family (perhaps `from` itself) or diag(prior_precision); none
  /// of both if the loss has no KL.
  const Posterior<T>* prior = nullptr;
  ConstSpan<T> prior_precision{};
  MeanUpdate mean_update = MeanUpdate::projected;
  LowRankUpdate low_rank_update = LowRankUpdate::projected;
  bool goes_on = false;  ///< steps that leave the prior follow, and ask for the result's precision
  Indefinite indefinite =
      Indefinite::shorten;  ///< what becomes of a step that can lose positive definiteness
  ProjectionOptions projection{};
  StreamKey random{};  ///< directions of the randomized projection
  /// Points of the posterior that `from` is a block of, with the number of the block's first parameter; null:
  /// from's own points.
  const PointLayout* points = nullptr;
  Index first_parameter = 0;

  bool may_shorten() const { return indefinite != Indefinite::error; }
  /// A natural step of a precision is taken to second order (docs/mathematics/guard.md, "The improved
  /// Bayesian learning rule"), unless it is by rows, by which none is lost.
  bool improves() const {
    return indefinite == Indefinite::improved && descent == Descent::natural && !curvature.rows;
  }
  bool has_kl() const { return prior || !prior_precision.empty(); }
  /// Lambda_0 = Lambda, as in the first inner iteration of an observation.
  bool at_prior() const { return prior == &from; }
  bool leaves_prior() const { return has_kl() && !at_prior(); }
};

/// As much of a step as its memory depends on.
struct StepSize {
  RowsCost rows;         ///< of a curvature given by rows
  bool has_rows = true;  ///< it is not a matrix or a diagonal
  Descent descent = Descent::natural;
  MeanUpdate mean_update = MeanUpdate::projected;
  LowRankUpdate low_rank_update = LowRankUpdate::projected;
  bool leaves_prior = false, has_prior = false;  ///< has_prior: Lambda_0 is a posterior's, of this rank
  Index prior_rank = 0;
  double most_rate = 1;  ///< of the curvature
  bool goes_on = false;
  bool after_noise = false;  ///< time adds noise to Sigma before the step
  ProjectionOptions projection{};
};

template <class T>
StepSize size_of(const PosteriorStep<T>& step);

/// theta <- transition theta + N(0, Q) in time: mu <- transition mu, Sigma <- inflation Sigma + diag(noise);
/// inflation is transition^2 over the forgetting factor, an empty noise 0 (docs/mathematics/streams.md, "The
/// passage of time").
template <class T>
struct Drift {
  double transition = 1, inflation = 1;
  ConstSpan<T> noise;
};

/// Scratch of take() and drift().
template <class T>
struct UpdateWorkspace {
  Buffer<T> diagonal;  // of a block
  Buffer<double> outer;
  LowRankProjection<T> projection;
  Buffer<T> weights, root_weights, projected, mixing, factor, vectors;
  Buffer<double> small, squares;
  TopEigen eigen;
  DenseScratch dense;
  PosteriorScratch<T> scratch;
};

/// Scratch of leverages.
template <class T>
struct LeverageScratch {
  Buffer<T> inverse, columns, projected;
  Buffer<double> small;
  PosteriorScratch<T> solve;
};

/// Columns that curvature_columns() makes at a time, by n weights each.
inline constexpr Index most_columns_together = 32;

/// Memory for the two functions below.
template <class T>
void reserve_columns(Index dimension, Index count, UpdateWorkspace<T>& workspace) {
  workspace.mixing.reserve(count * std::min(count, most_columns_together));
  workspace.factor.reserve(dimension * count);
}

/// rate w_r for each row, in workspace.weights.
template <class T>
ConstSpan<T> scaled_weights(const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace);

/// The columns sqrt(rate w_r) b_r (D x n), in workspace.factor.
template <class T>
MatrixView<T> curvature_columns(const Curvature<T>& curvature, double rate, UpdateWorkspace<T>& workspace);

template <class T>
class Posterior {
 public:
  using Scalar = T;
  virtual ~Posterior() = default;
  virtual Family family() const = 0;
  virtual Index rank() const = 0;
  /// What to create another of its kind with.
  PosteriorKind kind() const;
  Index dimension() const { return dimension_; }
  /// Does it take a Hessian as a matrix? Others take its diagonal, or rows.
  virtual bool takes_matrix() const { return false; }
  bool is_gaussian() const { return family() != Family::dropout; }
  bool is_diagonal() const {
    const bool has_factor = family() == Family::low_rank || family() == Family::low_rank_moment;
    return family() == Family::diagonal_moment || (has_factor && rank() == 0);
  }
  ConstSpan<T> mean() const { return {mean_at_, static_cast<std::size_t>(dimension_)}; }
  std::span<T> mean() { return {mean_at_, static_cast<std::size_t>(dimension_)}; }
  /// From now on the mean, as it is, stands in D numbers of somebody else: of a posterior that this is a part
  /// of.
  void place_mean(T* memory);
  /// Blank: as created, so that an optimizer may choose the start.
  bool is_blank() const { return blank_; }
  void set_blank(bool blank) { blank_ = blank; }
  /// Back to N(0, I), blank; cannot fail.
  void reset();

  /// Point parameters stand as independent N(mu_j, 1), which steps leave alone and which are nothing but
  /// their mean to whoever draws or reads (points.hpp).
  const PointLayout& points() const { return points_; }
  /// Those of a network, for one that is N(0, I) there: statistics at their start. Whole or not at all.
  void adopt(PointLayout points);
  /// n means and n variances.
  ConstSpan<double> statistics() const { return statistics_.first(points_.statistics); }
  std::span<double> statistics() { return statistics_.first(points_.statistics); }
  /// To means 0 and variances 1.
  void reset_statistics();

  virtual std::unique_ptr<Posterior> clone() const = 0;
  /// This posterior becomes a copy of one of the same family and sizes; allocates nothing.
  virtual void assign(const Posterior& other) = 0;
  /// Exchanges contents with a posterior of the same family and sizes.
  virtual void swap(Posterior& other) = 0;
  /// Of its numbers.
  virtual Index bytes() const { return mean_.bytes() + statistics_.bytes(); }
  /// By which they grow in such steps, from or to here.
  virtual Index bytes_to_grow(const StepSize&) const { return 0; }

  /// Visits the belief's numbers, the mean first, in an order that depends on the kind only. What is written
  /// through it counts after accept_tensors(): write_tensors() does both.
  virtual void tensors(const TensorVisitor<T>& visit) = 0;
  void read_tensors(const TensorVisitor<const T>& visit) const;
  Index tensor_count() const;
  /// Finds what follows from written tensors, which fit their roles. Fails with ERROR_INVALID_ARGUMENT if
  /// they make no posterior.
  virtual void accept_tensors() {}
  /// Computes tensors that are due, as read_tensors() does first. May take long, or fail with ERROR_DIVERGED.
  virtual void complete() const {}
  /// True if steps keep Sigma, as after process noise. Precision and factor then give it up to rounding only,
  /// so checkpoints also store read_covariance().
  virtual bool keeps_covariance() const { return false; }
  virtual void read_covariance(const TensorVisitor<const T>&) const {}
  /// Called after write_tensors(): takes Sigma from the source and keeps it.
  virtual void write_covariance(const TensorSource<T>&) {}

  /// Sigma^-1 = precision I (> 0); the mean stays. Allocates nothing and cannot fail.
  virtual void set_isotropic(double precision) = 0;
  /// Sigma^-1 = diag(precision) (> 0); the mean stays. With a seed, a tenth of it comes from a low-rank part
  /// of random signs, which plain gradients would never move from 0 (docs/mathematics/streams.md, "Where a
  /// stream starts"), and only diag(Sigma^-1) is the precision; a tenth of Sigma where that has the low-rank
  /// part, and then the precision is 1 / diag(Sigma).
  virtual void set_diagonal(ConstSpan<T> precision, std::optional<std::uint64_t> spread_seed) = 0;
  /// This posterior becomes what the step makes of step.from (same family, another object): mean and
  /// covariance. Returns the part of the step that was taken, 1 unless it had to be shortened to stay
  /// positive definite. Fails with ERROR_DIVERGED if the result is not finite or, without `shorten`, not
  /// positive definite, and with ERROR_UNSUPPORTED for a curvature the family cannot use.
  virtual double take(const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace) = 0;
  /// d^T Lambda d with the Lambda of `from`, for the shift d of the mean by which take() has made this of it.
  virtual double squared_shift(const Posterior& from, ConstSpan<T> shift,
                               PosteriorScratch<T>& scratch) const {
    return from.quadratic(shift, scratch);
  }
  /// Moment families move the mean of a natural step by the covariance they had before it.
  virtual bool moves_by_former_covariance() const { return false; }
  /// mean = from - rate Sigma m with the Sigma of `metric`: what take() does where the step has an m, if the
  /// step is natural and its mean update projected.
  void move_mean_by(const Posterior& from, const Posterior& metric, double rate, ConstSpan<T> m,
                    PosteriorScratch<T>& scratch);
  /// out_j >= g_j^T Sigma g_j for the gradients g_j = sum_k z_r b_r of single examples (ExampleRows).
  /// Infinite where only leverages() knows; true: equal.
  virtual bool bound_leverages(ExampleRows<T>& rows, ConstSpan<T> z, std::span<double> out,
                               LeverageScratch<T>& scratch) const;
  /// g_j^T Sigma g_j exactly for the j of `which`, where `out` holds the bounds.
  virtual void leverages(ExampleRows<T>& rows, ConstSpan<T> z, ConstSpan<Index> which, std::span<double> out,
                         LeverageScratch<T>& scratch) const;
  /// Memory for both, for n gradients: they allocate nothing then.
  virtual void reserve_leverages(Index n, LeverageScratch<T>& scratch) const;

  /// This posterior becomes `from` after the passage of time, exactly.
  virtual void drift(const Posterior& from, const Drift<T>& drift, UpdateWorkspace<T>& workspace) = 0;
  /// Memory for steps like that, which take() reserves first: it allocates nothing then.
  virtual void reserve_step(const StepSize& step, UpdateWorkspace<T>& workspace) const = 0;
  /// What such a step asks of rows.
  virtual RowsUse use_of_rows(const StepSize& step) const = 0;
  /// Memory for drift().
  virtual void reserve_drift(bool has_noise, UpdateWorkspace<T>& workspace) const = 0;
  /// Memory of its own for steps after noise, which bytes_to_grow() counts.
  virtual void reserve_noise() {}

  /// Memory for solve() and color() of this many columns, and for products with the precision: they cannot
  /// fail then.
  virtual void reserve(Index columns, PosteriorScratch<T>& scratch) const = 0;
  /// The same for variances().
  virtual void reserve_variances(Index columns, PosteriorScratch<T>& scratch) const {
    reserve(columns, scratch);
  }
  /// The same for marginal_variance().
  virtual void reserve_marginals(PosteriorScratch<T>& scratch) const = 0;
  /// X = Sigma X.
  virtual void solve(MatrixView<T> x, PosteriorScratch<T>& scratch) const = 0;
  /// Standard normals that a draw takes besides D: one for each column of a factor of Sigma.
  virtual Index factor_normals() const { return 0; }
  /// Columns of N(0, I), of D and in `more` of factor_normals() numbers, become columns of N(mean, Sigma); an
  /// empty mean is 0.
  virtual void color(ConstSpan<T> mean, MatrixView<T> eps, ConstMatrixView<T> more,
                     PosteriorScratch<T>& scratch) const = 0;
  /// out_j = x_j^T Sigma x_j in double, as sums of squares, for the columns of X, which are overwritten.
  virtual void variances(MatrixView<T> x, std::span<double> out, PosteriorScratch<T>& scratch) const = 0;
  virtual void marginal_variance(std::span<T> out, PosteriorScratch<T>& scratch) const = 0;
  virtual void precision_diagonal(std::span<T> out) const = 0;
  /// out = Sigma^-1 x.
  virtual void multiply_precision(ConstSpan<T> x, std::span<T> out, PosteriorScratch<T>& scratch) const = 0;
  /// x^T Sigma^-1 x.
  virtual double quadratic(ConstSpan<T> x, PosteriorScratch<T>& scratch) const = 0;
  virtual double log_det_covariance() const = 0;
  /// tr(Sigma^-1 Sigma_q).
  virtual double trace_precision(const Posterior& q, PosteriorScratch<T>& scratch) const = 0;

 protected:
  explicit Posterior(Index dimension);
  void swap_base(Posterior& other) noexcept;
  void copy_base(const Posterior& other);
  /// With the statistics, if there are any.
  void visit_mean(const TensorVisitor<T>& visit);
  /// kind() but for the points.
  virtual PosteriorKind family_kind() const { return {family(), dimension_, rank(), {}, {}}; }
  Index dimension_;

 private:
  Buffer<T> mean_;  // empty where the mean stands somewhere else
  T* mean_at_;
  bool blank_ = true;
  PointLayout points_;
  Buffer<double> statistics_;
};

/// `copy` becomes one of q, unless it is there.
template <class T>
void reserve_copy(const Posterior<T>& q, std::unique_ptr<Posterior<T>>& copy) {
  if (copy) return;
  if (MemoryPlan::is_active()) return MemoryPlan::add(q.bytes());
  copy = q.clone();
}

/// A step that would leave less than `least_kept` of the former precision (of the covariance, in moment
/// families) in some direction is shortened so that it leaves half of it there: what the natural step of the
/// other parametrisation would about leave at that point.
inline constexpr double least_kept = 1e-8, shortened_to = 0.5;

/// A plain gradient's steps of a variance are as long however small it is, so that shortened ones may halve
/// it for ever: below this, far above what overflows in its inverse, it stays, and the mean takes whole
/// steps.
template <class T>
inline constexpr double least_variance = sizeof(T) == sizeof(float) ? 1e-30 : 1e-100;

/// For a parameter or direction of which the whole step leaves the part `kept` (perhaps negative): the part
/// of the step to be taken. Fails with ERROR_DIVERGED unless it may be shortened.
double shortened(double kept, bool may_shorten);

/// Columns theta_s = mu + Sigma^1/2 eps of the streams (key.sample + s).
template <class T>
void sample(const Posterior<T>& q, StreamKey key, MatrixView<T> thetas, PosteriorScratch<T>& scratch);

/// Without points.
template <class T>
double log_density(const Posterior<T>& q, ConstSpan<T> theta, PosteriorScratch<T>& scratch);

/// Of the parameters that have a density, all but points.
template <class T>
double entropy(const Posterior<T>& q);

/// KL(q || N(0, diag(precision)^-1)) = 1/2 [sum lambda (Sigma_ii + mu_i^2) - D - sum log lambda -
/// log|Sigma|], without points.
template <class T>
double kl_to_prior(const Posterior<T>& q, ConstSpan<T> precision, PosteriorScratch<T>& scratch);

/// Of posteriors with the same points, else ERROR_SHAPE: KL(q || p) = 1/2 [tr(P Sigma_q) + (mu_p - mu_q)^T P
/// (mu_p - mu_q) - D + log|Sigma_p| - log|Sigma_q|].
template <class T>
double kl(const Posterior<T>& q, const Posterior<T>& p, PosteriorScratch<T>& scratch);

/// out(i, j) = Sigma(rows_i, cols_j).
template <class T>
void covariance_block(const Posterior<T>& q, ConstSpan<Index> rows, ConstSpan<Index> cols,
                      MatrixView<double> out, PosteriorScratch<T>& scratch);

}  // namespace bdl
