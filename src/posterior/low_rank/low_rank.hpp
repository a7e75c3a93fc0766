// Low-rank precision: Sigma^-1 = U U^T + diag(d) (docs/theory/gaussians.md, "Woodbury through a Cholesky
// factor"); rank 0 is the diagonal family. The step of SLANG consists of fast_eig(), correct_diagonal(),
// factorize() and move_mean(); low_rank_step.cpp has them, and how update() chooses among them and the steps
// of other methods.
#pragma once

#include "base/error.hpp"
#include "linalg/tall/woodbury.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

template <class T>
class LowRankPosterior final : public Posterior<T> {
 public:
  LowRankPosterior(Index dimension, Index rank);

  Family family() const override { return Family::low_rank; }
  Index rank() const override { return rank_; }
  ConstMatrixView<T> u() const { return u_.matrix(this->dimension_, rank_); }
  ConstSpan<T> d() const { return d_.first(this->dimension_); }
  /// Sets U and d (> 0); an empty U means 0.
  void set_precision(ConstMatrixView<T> u, ConstSpan<T> d);

  // A step of SLANG from another posterior, in the order of its paper (Mishkin et al. 2018, Algorithm 1):

  /// Lines 7 and 9, equations (6) and (7): U <- Q_L Lambda_L^1/2 by the L leading eigenpairs of A A^T, where
  /// A = [sqrt(keep) U, sqrt(w_r) b_r] with the U of `from`.
  void fast_eig(const LowRankPosterior& from, double keep, Rows<T>& rows, ConstSpan<T> w,
                const ProjectionOptions& options, const StreamKey& random, Scratch& scratch);
  /// Lines 8 and 10, equations (9) and (10): d <- keep d + rate lambda + Delta with the d of `from`, where
  /// Delta = diag(A A^T - U U^T) is the diagonal that fast_eig() has lost; no lambda means 0.
  void correct_diagonal(const LowRankPosterior& from, double keep, double rate, Rows<T>& rows, ConstSpan<T> w,
                        ConstSpan<T> prior_precision);
  /// Factorises I + U^T diag(1/d) U, for Sigma. Fails with ERROR_DIVERGED unless U and d make a precision.
  void factorize(Scratch& scratch);
  /// mu <- mu - rate Sigma m with the mu of `from` and this Sigma; without m the mean stays.
  void move_mean(const LowRankPosterior& from, double rate, ConstSpan<T> m, Scratch& scratch);

  std::unique_ptr<Posterior<T>> clone() const override;
  void assign(const Posterior<T>& other) override;
  void swap(Posterior<T>& other) override;
  void tensors(const TensorVisitor<T>& visit) override;
  void accept_tensors() override;
  void set_isotropic(double precision) override;
  void set_diagonal(ConstSpan<T> precision, std::optional<std::uint64_t> sign_seed) override;
  double update(const PosteriorStep<T>& step, Scratch& scratch) override;
  void drift(const Posterior<T>& from, const Drift<T>& drift, Scratch& scratch) override;
  void solve(MatrixView<T> x, Scratch& scratch) const override;
  void color(ConstSpan<T> mean, MatrixView<T> eps, ConstMatrixView<T>, Scratch& scratch) const override;
  void variances(MatrixView<T> x, std::span<double> out, Scratch& scratch) const override;
  void marginal_variance(std::span<T> out, Scratch& scratch) const override;
  void precision_diagonal(std::span<T> out) const override;
  void multiply_precision(ConstSpan<T> x, std::span<T> out, Scratch& scratch) const override;
  double quadratic(ConstSpan<T> x, Scratch& scratch) const override;
  double log_det_covariance() const override { return woodbury_.log_det_covariance(); }
  double trace_precision(const Posterior<T>& q, Scratch& scratch) const override;

  /// The Cholesky factor of I + U^T diag(1/d) U, lower triangular.
  ConstMatrixView<double> core() const { return woodbury_.core(); }

 private:
  MatrixView<T> mutable_u() { return u_.matrix(this->dimension_, rank_); }
  std::span<T> mutable_d() { return d_.first(this->dimension_); }

  void set_diagonal_precision(double precision);

  // low_rank_step.cpp
  double update_diagonal(const LowRankPosterior& from, const PosteriorStep<T>& step, Scratch& scratch);
  void update_by_projection(const LowRankPosterior& from, const PosteriorStep<T>& step, Scratch& scratch);
  void add_diagonal(const LowRankPosterior& from, double keep, double rate, ConstSpan<T> prior_precision);
  void update_by_average(const LowRankPosterior& from, const PosteriorStep<T>& step, Scratch& scratch);
  void average_columns(const LowRankPosterior& from, ConstMatrixView<T> v, double rate, Scratch& scratch);

  // low_rank_columns.cpp
  void update_by_columns(const LowRankPosterior& from, const PosteriorStep<T>& step, Scratch& scratch);
  void mix_diagonal(const LowRankPosterior& from, const PosteriorStep<T>& step);
  void write_gram(MatrixView<double> gram, Scratch& scratch) const;
  void write_known_grams(ConstMatrixView<T> x, ConstSpan<T> m, MatrixView<double> gram,
                         MatrixView<double> weighted, std::span<double> projected, Scratch& scratch) const;

  // low_rank_descent.cpp
  double descend(const LowRankPosterior& from, const PosteriorStep<T>& step, Scratch& scratch);
  void add_diagonal_kl(ConstSpan<T> prior, MatrixView<T> z, MatrixView<T> zk, std::span<T> sums,
                       Scratch& scratch) const;
  double finish_descent(const LowRankPosterior& from, const PosteriorStep<T>& step, ConstMatrixView<T> y,
                        ConstMatrixView<T> b, Scratch& scratch);

  Index rank_;
  Buffer<T> u_, d_;
  Woodbury<T> woodbury_;
  Buffer<double> gram_;  // U^T U where the last step has left it, identical to what tall_gram gives
  bool has_gram_ = false;
};

/// Fails with ERROR_UNSUPPORTED for other families.
template <class T>
const LowRankPosterior<T>& as_low_rank(const Posterior<T>& q) {
  if (q.family() != Family::low_rank)
    fail(Status::ERROR_UNSUPPORTED, "the posterior is not of the low-rank family");
  return static_cast<const LowRankPosterior<T>&>(q);
}

}  // namespace bdl
