// Full covariance, held as the dense Sigma = L L^T in double: what moment parameters step in. For small D.
// After process noise L is found when it is asked for.
#pragma once

#include "base/deferred.hpp"
#include "linalg/dense/positive_matrix.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

template <class T>
class FullMomentPosterior final : public Posterior<T> {
 public:
  explicit FullMomentPosterior(Index dimension);

  Family family() const override { return Family::full_moment; }
  Index rank() const override { return this->dimension_; }
  ConstMatrixView<double> covariance() const { return covariance_.matrix(); }
  /// Sets Sigma from its lower triangle; fails with ERROR_INVALID_ARGUMENT unless positive definite.
  void set_covariance(ConstMatrixView<double> covariance);
  /// Its Cholesky factor; rank-one updates make it differ in rounding from a new one.
  ConstMatrixView<double> factor() const { return factorized().lower(); }

  std::unique_ptr<Posterior<T>> clone() const override;
  void assign(const Posterior<T>& other) override;
  void swap(Posterior<T>& other) override;
  void tensors(const TensorVisitor<T>& visit) override;
  void accept_tensors() override;
  void complete() const override { factorized(); }
  bool keeps_covariance() const override { return keeps_covariance_; }
  void write_covariance(const TensorSource<T>&) override { keeps_covariance_ = true; }
  void set_isotropic(double precision) override;
  void set_diagonal(ConstSpan<T> precision, std::optional<std::uint64_t> sign_seed) override;
  double update(const PosteriorStep<T>& step, Scratch& scratch) override;
  double squared_shift(const Posterior<T>& from, ConstSpan<T> shift, Scratch& scratch) const override;
  void drift(const Posterior<T>& from, const Drift<T>& drift, Scratch& scratch) override;
  void solve(MatrixView<T> x, Scratch& scratch) const override;
  void color(ConstSpan<T> mean, MatrixView<T> eps, ConstMatrixView<T>, Scratch& scratch) const override;
  void variances(MatrixView<T> x, std::span<double> out, Scratch& scratch) const override;
  void marginal_variance(std::span<T> out, Scratch& scratch) const override;
  void precision_diagonal(std::span<T> out) const override;
  void multiply_precision(ConstSpan<T> x, std::span<T> out, Scratch& scratch) const override;
  double quadratic(ConstSpan<T> x, Scratch& scratch) const override;
  double log_det_covariance() const override { return factorized().log_det(); }
  double trace_precision(const Posterior<T>& q, Scratch& scratch) const override;

 private:
  /// Returns Sigma with its factor, computed first if due.
  const PositiveMatrix& factorized() const;
  /// Says that L belongs to Sigma, so that steps change both, or that Sigma is kept and L is due.
  void hold_factor() {
    keeps_covariance_ = false;
    factor_is_due_.set_due(false);
  }
  void hold_covariance() {
    keeps_covariance_ = true;
    factor_is_due_.set_due(true);
  }
  bool suits_covariance(const PosteriorStep<T>& step) const {
    return step.descent == Descent::natural && !step.goes_on && reduces(step);
  }
  /// True if the step takes a few columns off Sigma.
  bool reduces(const PosteriorStep<T>& step) const {
    return step.curvature.rows && step.curvature.rows->count() < this->dimension_ && !step.leaves_prior();
  }
  double update_by_covariance(const FullMomentPosterior& from, const PosteriorStep<T>& step,
                              Scratch& scratch);
  double update_natural(const PositiveMatrix& old, const PosteriorStep<T>& step, Scratch& scratch);
  double descend(const PositiveMatrix& old, const PosteriorStep<T>& step, Scratch& scratch);
  double reduce(const PositiveMatrix& old, const PosteriorStep<T>& step, Scratch& scratch);
  mutable PositiveMatrix covariance_;
  mutable Deferred factor_is_due_;
  bool keeps_covariance_ = false;
  double squared_shift_ = 0;  // d^T Lambda d of the step that made it
};

/// Fails with ERROR_UNSUPPORTED for other families.
template <class T>
const FullMomentPosterior<T>& as_full_moment(const Posterior<T>& q);

}  // namespace bdl
