// Full covariance, held as the dense precision Sigma^-1 = P = C C^T in double: what natural parameters step
// in. For small D, and the reference for the structured families.
#pragma once

#include "posterior/posterior.hpp"

namespace bdl {

template <class T>
class FullPosterior final : public Posterior<T> {
 public:
  explicit FullPosterior(Index dimension);

  Family family() const override { return Family::full; }
  Index rank() const override { return this->dimension_; }
  bool takes_matrix() const override { return true; }
  /// P, or its symmetric part.
  ConstMatrixView<double> precision() const { return precision_.matrix(); }
  /// Sets P from its lower triangle; fails with ERROR_INVALID_ARGUMENT unless positive definite.
  void set_precision(ConstMatrixView<double> precision);
  /// Its Cholesky factor; rank-one updates make it differ in rounding from a new one.
  ConstMatrixView<double> factor() const { return precision_.lower(); }
  /// After an unsymmetric step, P and Sigma are not symmetric: solve(), marginal_variance() and
  /// multiply_precision() use them as they are, everything else the symmetric part of P.
  bool is_unsymmetric() const { return unsymmetric_; }

  std::unique_ptr<Posterior<T>> clone() const override;
  void assign(const Posterior<T>& other) override;
  void swap(Posterior<T>& other) override;
  Index bytes() const override;
  Index bytes_to_grow(const StepSize& step) const override;
  void tensors(const TensorVisitor<T>& visit) override;
  void accept_tensors() override;
  bool is_whole_in_tensors() const override { return !unsymmetric_; }
  void set_isotropic(double precision) override;
  void set_diagonal(ConstSpan<T> precision, std::optional<std::uint64_t> spread_seed) override;
  double take(const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace) override;
  void drift(const Posterior<T>& from, const Drift<T>& drift, UpdateWorkspace<T>& workspace) override;
  void reserve_step(const StepSize& step, UpdateWorkspace<T>& workspace) const override;
  RowsUse use_of_rows(const StepSize& step) const override;
  void reserve_drift(bool has_noise, UpdateWorkspace<T>& workspace) const override;
  void reserve(Index columns, PosteriorScratch<T>& scratch) const override;
  void reserve_marginals(PosteriorScratch<T>& scratch) const override;
  void reserve_variances(Index columns, PosteriorScratch<T>& scratch) const override;
  void solve(MatrixView<T> x, PosteriorScratch<T>& scratch) const override;
  void color(ConstSpan<T> mean, MatrixView<T> eps, ConstMatrixView<T>,
             PosteriorScratch<T>& scratch) const override;
  void variances(MatrixView<T> x, std::span<double> out, PosteriorScratch<T>& scratch) const override;
  void marginal_variance(std::span<T> out, PosteriorScratch<T>& scratch) const override;
  void precision_diagonal(std::span<T> out) const override;
  void multiply_precision(ConstSpan<T> x, std::span<T> out, PosteriorScratch<T>& scratch) const override;
  double quadratic(ConstSpan<T> x, PosteriorScratch<T>& scratch) const override;
  double log_det_covariance() const override { return -precision_.log_det(); }
  double trace_precision(const Posterior<T>& q, PosteriorScratch<T>& scratch) const override;

 private:
  bool suits_columns(const StepSize& step, FactorUpdate update) const;
  double take_natural(const FullPosterior& from, const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace);
  double take_plain(const FullPosterior& from, const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace);
  double take_unsymmetric(const FullPosterior& from, const PosteriorStep<T>& step,
                          UpdateWorkspace<T>& workspace);
  static void twice_gradient(const FullPosterior& from, const PosteriorStep<T>& step, MatrixView<double> out,
                             UpdateWorkspace<T>& workspace);
  double plain_by_columns(const FullPosterior& from, const PosteriorStep<T>& step, const double* u,
                          UpdateWorkspace<T>& workspace);
  double plain_by_products(const FullPosterior& from, const PosteriorStep<T>& step, const double* u,
                           UpdateWorkspace<T>& workspace);
  ConstMatrixView<double> whole_precision() const;
  void drift_unsymmetric(const FullPosterior& from, const Drift<T>& drift, UpdateWorkspace<T>& workspace);
  void reserve_unsymmetric(Buffer<double>& precision, Buffer<double>& covariance) const;
  void reserve_unsymmetric() { reserve_unsymmetric(whole_precision_, whole_covariance_); }
  void reserve_unsymmetric_step(const StepSize& step, UpdateWorkspace<T>& workspace) const;
  MatrixView<double> held(Buffer<double>& buffer) {
    return buffer.matrix(this->dimension_, this->dimension_);
  }
  ConstMatrixView<double> held(const Buffer<double>& buffer) const {
    return buffer.matrix(this->dimension_, this->dimension_);
  }

  PositiveMatrix precision_;  // P, or its symmetric part
  bool unsymmetric_ = false;
  Buffer<double> whole_precision_, whole_covariance_;  // empty unless there was an unsymmetric step
};

/// Fails with ERROR_UNSUPPORTED for other families.
template <class T>
const FullPosterior<T>& as_full(const Posterior<T>& q);

}  // namespace bdl
