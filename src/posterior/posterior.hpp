// What is believed: a Gaussian q(theta) = N(mu, Sigma). One interface, one file per family.
#pragma once

#include <memory>

#include "curvature/rows.hpp"
#include "linalg/low_rank_projection.hpp"
#include "linalg/tall.hpp"
#include "rng/philox.hpp"

namespace bdl {

enum class Family { low_rank = 1, full = 2 };

/// Scratch of the const operations; it grows to its need and is then reused.
template <class T>
struct PosteriorScratch {
  TallScratch tall;
  Buffer<double> small;
};

/// Sigma^-1 <- project((1 - rate) Sigma^-1 + sum_r w_r b_r b_r^T + rate diag(prior precision)); the weights
/// hold the rate and N / (M S) already (spec/slang.md).
template <class T>
struct PrecisionUpdate {
  Rows<T>* rows;
  ConstSpan<T> w;
  double rate;
  ConstSpan<T> prior_precision;
  ProjectionOptions projection;
  StreamKey random;  ///< directions of the randomized projection
};

/// Scratch of update().
template <class T>
struct UpdateWorkspace {
  LowRankProjection<T> projection;
  Buffer<T> root_weights, projected, weights;
  PosteriorScratch<T> scratch;
};

template <class T>
class Posterior {
 public:
  using Scalar = T;
  virtual ~Posterior() = default;
  virtual Family family() const = 0;
  virtual Index rank() const = 0;
  Index dimension() const { return dimension_; }
  ConstSpan<T> mean() const { return mean_.first(dimension_); }
  std::span<T> mean() { return mean_.first(dimension_); }
  /// Blank: as created, so that an optimizer may choose the start.
  bool is_blank() const { return blank_; }
  void set_blank(bool blank) { blank_ = blank; }
  /// Back to N(0, I), blank; cannot fail.
  void reset();

  virtual std::unique_ptr<Posterior> clone() const = 0;
  /// Exchanges contents with a posterior of the same family and sizes.
  virtual void swap(Posterior& other) = 0;
  virtual Index bytes() const = 0;

  /// Sigma^-1 = precision I (> 0); the mean stays. Allocates nothing and cannot fail.
  virtual void set_isotropic(double precision) = 0;
  /// This posterior's precision becomes the update of `from`'s (same family, another object); the mean is not
  /// touched. Fails with ERROR_DIVERGED if the result is not finite and positive definite.
  virtual void update(const Posterior& from, const PrecisionUpdate<T>& update,
                      UpdateWorkspace<T>& workspace) = 0;
  virtual Index update_bytes(const RowsCost& cost, const ProjectionOptions& options) const = 0;

  /// Memory for solve() and color() of this many columns: they cannot fail then.
  virtual void reserve(Index columns, PosteriorScratch<T>& scratch) const = 0;
  /// X = Sigma X.
  virtual void solve(MatrixView<T> x, PosteriorScratch<T>& scratch) const = 0;
  /// Columns of N(0, I) become columns of N(mean, Sigma); an empty mean is 0.
  virtual void color(ConstSpan<T> mean, MatrixView<T> eps, PosteriorScratch<T>& scratch) const = 0;
  virtual void marginal_variance(std::span<T> out, PosteriorScratch<T>& scratch) const = 0;
  virtual void precision_diagonal(std::span<T> out) const = 0;
  /// x^T Sigma^-1 x.
  virtual double quadratic(ConstSpan<T> x, PosteriorScratch<T>& scratch) const = 0;
  virtual double log_det_covariance() const = 0;
  /// tr(Sigma^-1 Sigma_q).
  virtual double trace_precision(const Posterior& q, PosteriorScratch<T>& scratch) const = 0;

 protected:
  explicit Posterior(Index dimension);
  void swap_base(Posterior& other) noexcept;
  void copy_base(const Posterior& other);
  Index dimension_;
  Buffer<T> mean_;
  bool blank_ = true;
};

/// Columns theta_s = mu + Sigma^1/2 eps of the streams (key.sample + s).
template <class T>
void sample(const Posterior<T>& q, StreamKey key, MatrixView<T> thetas, PosteriorScratch<T>& scratch);

template <class T>
double log_density(const Posterior<T>& q, ConstSpan<T> theta, PosteriorScratch<T>& scratch);

double entropy(Index dimension, double log_det_covariance);

/// KL(q || N(0, diag(precision)^-1)) = 1/2 [sum lambda (Sigma_ii + mu_i^2) - D - sum log lambda -
/// log|Sigma|].
template <class T>
double kl_to_prior(const Posterior<T>& q, ConstSpan<T> precision, PosteriorScratch<T>& scratch);

/// KL(q || p) = 1/2 [tr(P Sigma_q) + (mu_p - mu_q)^T P (mu_p - mu_q) - D + log|Sigma_p| - log|Sigma_q|].
template <class T>
double kl(const Posterior<T>& q, const Posterior<T>& p, PosteriorScratch<T>& scratch);

/// out(i, j) = Sigma(rows_i, cols_j).
template <class T>
void covariance_block(const Posterior<T>& q, ConstSpan<Index> rows, ConstSpan<Index> cols,
                      MatrixView<double> out, PosteriorScratch<T>& scratch);

}  // namespace bdl
