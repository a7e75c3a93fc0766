// Full covariance, held as the dense Sigma = L L^T in double: what moment parameters step in. For small D.
// After process noise L is found when somebody asks for it.
#pragma once

#include "base/deferred.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

template <class T>
class FullMomentPosterior final : public Posterior<T> {
 public:
  explicit FullMomentPosterior(Index dimension);

  Family family() const override { return Family::full_moment; }
  Index rank() const override { return this->dimension_; }
  bool takes_matrix() const override { return true; }
  ConstMatrixView<double> covariance() const { return covariance_.matrix(); }
  /// Sets Sigma from its lower triangle; fails with ERROR_INVALID_ARGUMENT unless positive definite.
  void set_covariance(ConstMatrixView<double> covariance);
  /// Its Cholesky factor; rank-one updates make it differ in rounding from a new one.
  ConstMatrixView<double> factor() const { return factorized().lower(); }

  std::unique_ptr<Posterior<T>> clone() const override;
  void assign(const Posterior<T>& other) override;
  void swap(Posterior<T>& other) override;
  Index bytes() const override;
  void tensors(const TensorVisitor<T>& visit) override;
  void accept_tensors() override;
  void complete() const override { factorized(); }
  bool keeps_covariance() const override { return keeps_covariance_; }
  void write_covariance(const TensorSource<T>&) override { keeps_covariance_ = true; }
  void set_isotropic(double precision) override;
  void set_diagonal(ConstSpan<T> precision, std::optional<std::uint64_t> spread_seed) override;
  double take(const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace) override;
  double squared_shift(const Posterior<T>& from, ConstSpan<T> shift,
                       PosteriorScratch<T>& scratch) const override;
  bool moves_by_former_covariance() const override { return true; }
  void drift(const Posterior<T>& from, const Drift<T>& drift, UpdateWorkspace<T>& workspace) override;
  void reserve_step(const StepSize& step, UpdateWorkspace<T>& workspace) const override;
  RowsUse use_of_rows(const StepSize& step) const override;
  void reserve_drift(bool, UpdateWorkspace<T>&) const override {}
  void reserve(Index columns, PosteriorScratch<T>& scratch) const override;
  void reserve_marginals(PosteriorScratch<T>&) const override {}
  void reserve_variances(Index columns, PosteriorScratch<T>& scratch) const override;
  void solve(MatrixView<T> x, PosteriorScratch<T>& scratch) const override;
  void color(ConstSpan<T> mean, MatrixView<T> eps, ConstMatrixView<T>,
             PosteriorScratch<T>& scratch) const override;
  void variances(MatrixView<T> x, std::span<double> out, PosteriorScratch<T>& scratch) const override;
  void marginal_variance(std::span<T> out, PosteriorScratch<T>& scratch) const override;
  void precision_diagonal(std::span<T> out) const override;
  void multiply_precision(ConstSpan<T> x, std::span<T> out, PosteriorScratch<T>& scratch) const override;
  double quadratic(ConstSpan<T> x, PosteriorScratch<T>& scratch) const override;
  double log_det_covariance() const override { return factorized().log_det(); }
  double trace_precision(const Posterior<T>& q, PosteriorScratch<T>& scratch) const override;

 private:
  /// Returns Sigma with its factor, computed first if due.
  const PositiveMatrix& factorized() const;
  /// From now on L belongs to Sigma, and steps change both; or Sigma is kept and L is to be found.
  void hold_factor() {
    keeps_covariance_ = false;
    factor_is_due_.set_due(false);
  }
  void hold_covariance() {
    keeps_covariance_ = true;
    factor_is_due_.set_due(true);
  }
  bool suits_covariance(const StepSize& step) const {
    return step.descent == Descent::natural && !step.goes_on && reduces(step);
  }
  void reserve_step(const StepSize& step, bool by_covariance, UpdateWorkspace<T>& workspace) const;
  double take_by_covariance(const FullMomentPosterior& from, const PosteriorStep<T>& step,
                            UpdateWorkspace<T>& workspace);
  bool reduces(const StepSize& step) const {
    return step.has_rows && step.rows.count < this->dimension_ && !step.leaves_prior;
  }
  double take_natural(const PositiveMatrix& old, const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace);
  double take_plain(const PositiveMatrix& old, const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace);
  double reduce(const PositiveMatrix& old, const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace);
  mutable PositiveMatrix covariance_;
  mutable Deferred factor_is_due_;
  bool keeps_covariance_ = false;
  double squared_shift_ = 0;  // d^T Lambda d of the step that made it
};

/// Fails with ERROR_UNSUPPORTED for other families.
template <class T>
const FullMomentPosterior<T>& as_full_moment(const Posterior<T>& q);

}  // namespace bdl
