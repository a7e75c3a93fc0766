// Diagonal covariance in moment parameters: Sigma = diag(v). The diagonal family in natural parameters is the
// low-rank precision of rank 0; the two differ in what a step makes of them
// (docs/mathematics/natural-gradients.md, "Natural gradients in moment parameters").
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
  Index bytes() const override;
  void tensors(const TensorVisitor<T>& visit) override;
  void accept_tensors() override { finish(); }
  void set_isotropic(double precision) override;
  void set_diagonal(ConstSpan<T> precision, std::optional<std::uint64_t> spread_seed) override;
  double take(const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace) override;
  bool bound_leverages(ExampleRows<T>& rows, ConstSpan<T> z, std::span<double> out,
                       LeverageScratch<T>&) const override {
    rows.gradient_squares(z, variance(), out);
    return true;
  }
  void reserve_leverages(Index, LeverageScratch<T>&) const override {}
  bool moves_by_former_covariance() const override { return true; }
  void drift(const Posterior<T>& from, const Drift<T>& drift, UpdateWorkspace<T>& workspace) override;
  void reserve_step(const StepSize& step, UpdateWorkspace<T>& workspace) const override {
    if (step.has_prior && step.leaves_prior) workspace.vectors.reserve(this->dimension_);
  }
  RowsUse use_of_rows(const StepSize&) const override { return {}; }
  void reserve_drift(bool, UpdateWorkspace<T>&) const override {}
  void reserve(Index, PosteriorScratch<T>&) const override {}
  void reserve_marginals(PosteriorScratch<T>&) const override {}
  void solve(MatrixView<T> x, PosteriorScratch<T>& scratch) const override;
  void color(ConstSpan<T> mean, MatrixView<T> eps, ConstMatrixView<T>,
             PosteriorScratch<T>& scratch) const override;
  void variances(MatrixView<T> x, std::span<double> out, PosteriorScratch<T>& scratch) const override;
  void marginal_variance(std::span<T> out, PosteriorScratch<T>& scratch) const override;
  void precision_diagonal(std::span<T> out) const override;
  void multiply_precision(ConstSpan<T> x, std::span<T> out, PosteriorScratch<T>& scratch) const override;
  double quadratic(ConstSpan<T> x, PosteriorScratch<T>& scratch) const override;
  double log_det_covariance() const override { return log_det_; }
  double trace_precision(const Posterior<T>& q, PosteriorScratch<T>& scratch) const override;

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
  return dynamic_cast<const DiagonalMomentPosterior<T>&>(q);
}

}  // namespace bdl
