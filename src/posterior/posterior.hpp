// A posterior is what is known of the parameters: a Gaussian q(theta) = N(mu, Sigma), or the masks of
// dropout. The interface below says what every family can do; step.hpp says what a step is, kind.hpp what a
// posterior is created with, tensors.hpp how its numbers are read and written, point_parameters.hpp how
// parameters without uncertainty stand in it, families.hpp which families there are. Each family has a
// folder:
//
//   low_rank/         Sigma^-1 = U U^T + diag(d): SLANG's steps, and with rank 0 those of VOGN and other
//                     diagonal methods
//   full/             a dense Sigma^-1 or a dense Sigma, for few parameters
//   diagonal/         diag(v) in moment parameters, and the steps of all diagonal families
//   low_rank_moment/  Sigma = diag(s) + W W^T, which first-order methods learn
//   kronecker/        a layer's precision in the basis of its Kronecker factors
//   blocks/           independent blocks, each a posterior of another family
//   dropout/          masks of units
//
// docs/theory/gaussians.md has what each family computes, natural-gradients.md the step of each.
#pragma once

#include <memory>
#include <optional>

#include "base/scratch.hpp"
#include "posterior/kind.hpp"
#include "posterior/step.hpp"
#include "posterior/tensors.hpp"
#include "rng/philox.hpp"

namespace bdl {

template <class T>
class Posterior {
 public:
  using Scalar = T;
  virtual ~Posterior() = default;
  virtual Family family() const = 0;
  virtual Index rank() const = 0;
  /// Returns what another posterior like this one is created with.
  PosteriorKind kind() const;
  Index dimension() const { return dimension_; }
  /// True if steps take a Hessian as a matrix; others take its diagonal, or rows.
  bool takes_matrix() const { return bdl::takes_matrix(family()); }
  /// True if natural steps move the mean by the covariance that was there before them.
  bool moves_by_former_covariance() const { return is_moment(family()); }
  bool is_gaussian() const { return family() != Family::dropout; }
  bool is_diagonal() const {
    const bool has_factor = family() == Family::low_rank || family() == Family::low_rank_moment;
    return family() == Family::diagonal_moment || (has_factor && rank() == 0);
  }
  ConstSpan<T> mean() const { return {mean_at_, static_cast<std::size_t>(dimension_)}; }
  std::span<T> mean() { return {mean_at_, static_cast<std::size_t>(dimension_)}; }
  /// Moves the mean to D numbers of a posterior that this one is a block of.
  void place_mean(T* memory);
  /// True if it is as created, so that an optimizer may choose the start.
  bool is_blank() const { return blank_; }
  /// Says that it is as created, or else a Gaussian whose numbers all count.
  void set_blank(bool blank) {
    blank_ = blank;
    has_covariance_ = true;
  }
  /// False if training has found its mean only: the numbers of its covariance are those of the start.
  bool has_covariance() const { return has_covariance_; }
  void set_has_covariance(bool has_covariance) { has_covariance_ = has_covariance; }
  /// Makes it N(0, I) and blank again; cannot fail.
  void reset();

  /// Point parameters are held as independent N(mu_j, 1), which steps leave alone and which are nothing but
  /// their mean to whoever draws or reads (point_parameters.hpp).
  const PointLayout& point_parameters() const { return points_; }
  /// Takes over a network's point parameters, where it is N(0, I), with statistics at their start. On failure
  /// nothing changes.
  void adopt(PointLayout points);
  /// Running statistics of the network: n means and n variances.
  ConstSpan<double> statistics() const { return statistics_.first(points_.statistics); }
  std::span<double> statistics() { return statistics_.first(points_.statistics); }
  /// Sets them to means 0 and variances 1.
  void reset_statistics();

  /// Returns the posterior of the same mean by which linearised predictions are made in place of this one
  /// (train/approximate/refine.hpp). Null if there is none, or if the mean has changed since.
  const std::shared_ptr<const Posterior>& refinement() const;
  void refine(std::shared_ptr<const Posterior> refinement) { refinement_ = std::move(refinement); }

  virtual std::unique_ptr<Posterior> clone() const = 0;
  /// Copies a posterior of the same family and sizes; allocates nothing.
  virtual void assign(const Posterior& other) = 0;
  /// Exchanges contents with a posterior of the same family and sizes; refinements, which belong to what has
  /// been, are gone.
  virtual void swap(Posterior& other) = 0;

  /// Visits the posterior's numbers, the mean first, in an order that depends on the kind only. What is
  /// written through it counts after accept_tensors(): write_tensors() does both.
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
  /// of random signs, which plain gradients would never move from 0 (docs/theory/streams.md, "Where a
  /// stream starts"), and only diag(Sigma^-1) is the precision; a tenth of Sigma where that has the low-rank
  /// part, and then the precision is 1 / diag(Sigma).
  virtual void set_diagonal(ConstSpan<T> precision, std::optional<std::uint64_t> sign_seed) = 0;

  /// Becomes what the step makes of step.from (same family, another object): mean and covariance. Returns the
  /// fraction of the step that was taken, 1 unless it had to be shortened to stay positive definite. Fails
  /// with ERROR_DIVERGED if the result is not finite or, unless steps may be shortened, not positive
  /// definite, and with ERROR_UNSUPPORTED for a curvature the family cannot use.
  virtual double update(const PosteriorStep<T>& step, Scratch& scratch) = 0;
  /// Returns d^T Lambda d with the Lambda of `from`, for the shift d of the mean by which update() has made
  /// this of it.
  virtual double squared_shift(const Posterior& from, ConstSpan<T> shift, Scratch& scratch) const {
    return from.quadratic(shift, scratch);
  }
  /// Becomes `from` after the passage of time, exactly.
  virtual void drift(const Posterior& from, const Drift<T>& drift, Scratch& scratch) = 0;

  /// X = Sigma X.
  virtual void solve(MatrixView<T> x, Scratch& scratch) const = 0;
  /// Number of standard normals that a draw takes besides D: one for each column of a factor of Sigma.
  virtual Index factor_normals() const { return 0; }
  /// Turns columns of N(0, I), of D and in `more` of factor_normals() numbers, into columns of N(mean,
  /// Sigma); an empty mean is 0.
  virtual void color(ConstSpan<T> mean, MatrixView<T> eps, ConstMatrixView<T> more,
                     Scratch& scratch) const = 0;
  /// out_j = x_j^T Sigma x_j in double, as sums of squares, for the columns of X, which are overwritten.
  virtual void variances(MatrixView<T> x, std::span<double> out, Scratch& scratch) const = 0;
  /// out = diag(Sigma).
  virtual void marginal_variance(std::span<T> out, Scratch& scratch) const = 0;
  /// out = diag(Sigma^-1).
  virtual void precision_diagonal(std::span<T> out) const = 0;
  /// out = Sigma^-1 x.
  virtual void multiply_precision(ConstSpan<T> x, std::span<T> out, Scratch& scratch) const = 0;
  /// Returns x^T Sigma^-1 x.
  virtual double quadratic(ConstSpan<T> x, Scratch& scratch) const = 0;
  virtual double log_det_covariance() const = 0;
  /// Returns tr(Sigma^-1 Sigma_q).
  virtual double trace_precision(const Posterior& q, Scratch& scratch) const = 0;

 protected:
  explicit Posterior(Index dimension);
  void swap_base(Posterior& other) noexcept;
  void copy_base(const Posterior& other);
  /// Visits the mean, and the statistics if there are any.
  void visit_mean(const TensorVisitor<T>& visit);
  /// Returns kind() without the point parameters.
  virtual PosteriorKind family_kind() const { return {family(), dimension_, rank(), {}, {}}; }
  Index dimension_;

 private:
  Buffer<T> mean_;  // empty where the mean is in memory of another posterior
  T* mean_at_;
  bool blank_ = true, has_covariance_ = true;
  PointLayout points_;
  Buffer<double> statistics_;
  std::shared_ptr<const Posterior> refinement_;
};

/// Writes columns theta_s = mu + Sigma^1/2 eps of the streams (key.sample + s).
template <class T>
void sample(const Posterior<T>& q, StreamKey key, MatrixView<T> thetas, Scratch& scratch);

/// Returns log q(theta) of the parameters that are no point parameters.
template <class T>
double log_density(const Posterior<T>& q, ConstSpan<T> theta, Scratch& scratch);

/// Returns the entropy of the parameters that are no point parameters.
template <class T>
double entropy(const Posterior<T>& q);

/// Returns KL(q || N(0, diag(precision)^-1)) = 1/2 [sum lambda (Sigma_ii + mu_i^2) - D - sum log lambda -
/// log|Sigma|], without point parameters.
template <class T>
double kl_to_prior(const Posterior<T>& q, ConstSpan<T> precision, Scratch& scratch);

/// Returns KL(q || p) = 1/2 [tr(P Sigma_q) + (mu_p - mu_q)^T P (mu_p - mu_q) - D + log|Sigma_p| -
/// log|Sigma_q|]. Fails with ERROR_SHAPE unless both have the same point parameters.
template <class T>
double kl(const Posterior<T>& q, const Posterior<T>& p, Scratch& scratch);

/// out(i, j) = Sigma(rows_i, cols_j).
template <class T>
void covariance_block(const Posterior<T>& q, ConstSpan<Index> rows, ConstSpan<Index> cols,
                      MatrixView<double> out, Scratch& scratch);

/// q's mean = from's mean - rate Sigma m with the Sigma of `metric`: what a projected natural step does.
template <class T>
void move_mean_by(Posterior<T>& q, const Posterior<T>& from, const Posterior<T>& metric, double rate,
                  ConstSpan<T> m, Scratch& scratch);

}  // namespace bdl
