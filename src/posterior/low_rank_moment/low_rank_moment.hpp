// Low rank plus diagonal covariance: Sigma = diag(s) + W W^T with W: D x K, of any rank K, also more than D
// (docs/theory/gaussians.md, "Low rank plus diagonal covariance"). Its precision diag(s)^-1 - B B^T is a
// diagonal less a low-rank part, which the precision family cannot hold. Everything but a factorisation of
// C = I + W^T diag(1/s) W, which is always positive definite, is O(D K).
#pragma once

#include "linalg/tall/woodbury.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

/// Ranks above D add nothing but a larger C, of K^2 numbers: up to this one they are legal.
inline constexpr Index most_rank_above_dimension = 256;

template <class T>
class LowRankMomentPosterior final : public Posterior<T> {
 public:
  LowRankMomentPosterior(Index dimension, Index rank);

  Family family() const override { return Family::low_rank_moment; }
  Index rank() const override { return rank_; }
  ConstMatrixView<T> w() const { return w_.matrix(this->dimension_, rank_); }
  ConstSpan<T> s() const { return s_.first(this->dimension_); }
  /// Writable views: changes count after factorize().
  MatrixView<T> w() { return w_.matrix(this->dimension_, rank_); }
  std::span<T> s() { return s_.first(this->dimension_); }
  /// Finds C; O(D K^2). Fails with ERROR_DIVERGED unless W is finite and s finite and positive.
  void factorize(Scratch& scratch);
  /// Sets W and s (> 0); an empty W means 0.
  void set_covariance(ConstMatrixView<T> w, ConstSpan<T> s);
  /// The lower Cholesky factor of C.
  ConstMatrixView<double> core() const { return inverse_.core(); }

  std::unique_ptr<Posterior<T>> clone() const override;
  void assign(const Posterior<T>& other) override;
  void swap(Posterior<T>& other) override;
  void tensors(const TensorVisitor<T>& visit) override;
  void accept_tensors() override;
  void set_isotropic(double precision) override;
  void set_diagonal(ConstSpan<T> precision, std::optional<std::uint64_t> sign_seed) override;
  void drift(const Posterior<T>& from, const Drift<T>& drift, Scratch& scratch) override;
  void solve(MatrixView<T> x, Scratch& scratch) const override;
  /// mean + sqrt(s) eps + W more.
  Index factor_normals() const override { return rank_; }
  void color(ConstSpan<T> mean, MatrixView<T> eps, ConstMatrixView<T> more, Scratch& scratch) const override;
  void variances(MatrixView<T> x, std::span<double> out, Scratch& scratch) const override;
  void marginal_variance(std::span<T> out, Scratch& scratch) const override;
  void precision_diagonal(std::span<T> out) const override;
  void multiply_precision(ConstSpan<T> x, std::span<T> out, Scratch& scratch) const override;
  double quadratic(ConstSpan<T> x, Scratch& scratch) const override;
  double log_det_covariance() const override { return -inverse_.log_det_covariance(); }
  double trace_precision(const Posterior<T>& q, Scratch& scratch) const override;

  /// It has no natural-gradient steps: ERROR_UNSUPPORTED.
  double update(const PosteriorStep<T>&, Scratch&) override;

 private:
  double quadratic_of(MatrixView<T> x, Scratch& scratch) const;
  Index rank_;
  Buffer<T> w_, s_;
  Woodbury<T> inverse_;  // (diag(s) + W W^T)^-1, which is this one's Sigma^-1
};

/// Fails with ERROR_UNSUPPORTED for other families.
template <class T>
const LowRankMomentPosterior<T>& as_low_rank_moment(const Posterior<T>& q);

/// Derivatives of KL(q || N(m, diag(1 / lambda))) by the parameters of a low-rank-moment posterior; empty
/// ones are not computed.
template <class T>
struct LowRankMomentGradient {
  std::span<T> mean{};       ///< lambda (mu - m)
  MatrixView<T> low_rank{};  ///< by W: lambda W - diag(1/s) W C^-1
  std::span<T> log_sigma{};  ///< by log sqrt(s): lambda s - (1 - h), where 1 - h_d = s_d (Sigma^-1)_dd
};

/// Writes the derivatives; an empty prior mean is 0. O(D K^2), one pass over W. Point parameters are
/// like others here.
template <class T>
void kl_gradient(const LowRankMomentPosterior<T>& q, ConstSpan<T> prior_mean, ConstSpan<T> prior_precision,
                 const LowRankMomentGradient<T>& out, Scratch& scratch);

/// Writes the derivatives by as many parameters as there are prior precisions, from `first` on; results are
/// identical.
template <class T>
void kl_gradient_from(const LowRankMomentPosterior<T>& q, Index first, ConstSpan<T> prior_mean,
                      ConstSpan<T> prior_precision, const LowRankMomentGradient<T>& out, Scratch& scratch);

}  // namespace bdl
