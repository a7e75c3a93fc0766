// Diagonal covariance in moment parameters: Sigma = diag(v). The diagonal family in natural parameters is the
// low-rank precision of rank 0; the two differ in what a step makes of them
// (docs/theory/natural-gradients.md, "Natural gradients in moment parameters").
#pragma once

#include "base/error.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

template <class T>
class DiagonalMomentPosterior final : public Posterior<T> {
 public:
  explicit DiagonalMomentPosterior(Index dimension);

  Family family() const override { return Family::diagonal_moment; }
  Index rank() const override { return 0; }
  ConstSpan<T> variance() const { return variance_.first(this->dimension_); }
  /// Sets v (> 0).
  void set_variance(ConstSpan<T> variance);

  std::unique_ptr<Posterior<T>> clone() const override;
  void assign(const Posterior<T>& other) override;
  void swap(Posterior<T>& other) override;
  void tensors(const TensorVisitor<T>& visit) override;
  void accept_tensors() override { finish(); }
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
  double log_det_covariance() const override { return log_det_; }
  double trace_precision(const Posterior<T>& q, Scratch& scratch) const override;

 private:
  void finish();
  Buffer<T> variance_;
  double log_det_ = 0;
};

/// Fails with ERROR_UNSUPPORTED for other families.
template <class T>
const DiagonalMomentPosterior<T>& as_diagonal_moment(const Posterior<T>& q) {
  if (q.family() != Family::diagonal_moment)
    fail(Status::ERROR_UNSUPPORTED, "the posterior is not of the diagonal-moment family");
  return static_cast<const DiagonalMomentPosterior<T>&>(q);
}

}  // namespace bdl
