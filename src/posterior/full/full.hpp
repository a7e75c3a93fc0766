// Full covariance, held as the dense precision Sigma^-1 = P = C C^T in double: what natural parameters step
// in. For small D, and the reference for the structured families. After process noise Sigma itself is held,
// and P is found when it is asked for.
#pragma once

#include "base/deferred.hpp"
#include "linalg/dense/positive_matrix.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

template <class T>
class FullPosterior final : public Posterior<T> {
 public:
  explicit FullPosterior(Index dimension);

  Family family() const override { return Family::full; }
  Index rank() const override { return this->dimension_; }
  ConstMatrixView<double> precision() const { return natural().matrix(); }
  /// Sets P from its lower triangle; fails with ERROR_INVALID_ARGUMENT unless positive definite.
  void set_precision(ConstMatrixView<double> precision);
  /// Its Cholesky factor; rank-one updates make it differ in rounding from a new one.
  ConstMatrixView<double> factor() const { return natural().lower(); }

  std::unique_ptr<Posterior<T>> clone() const override;
  void assign(const Posterior<T>& other) override;
  void swap(Posterior<T>& other) override;
  void tensors(const TensorVisitor<T>& visit) override;
  void accept_tensors() override;
  void complete() const override { natural(); }
  bool keeps_covariance() const override { return keeps_covariance_; }
  void read_covariance(const TensorVisitor<const T>& visit) const override;
  void write_covariance(const TensorSource<T>& source) override;
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
  double log_det_covariance() const override { return -natural().log_det(); }
  double trace_precision(const Posterior<T>& q, Scratch& scratch) const override;

 private:
  /// Returns P, computed first if Sigma is newer.
  const PositiveMatrix& natural() const;
  /// Says that P is what precision_ holds, or that Sigma is held and P is due.
  void hold_precision() {
    keeps_covariance_ = false;
    precision_is_due_.set_due(false);
  }
  void hold_covariance() {
    keeps_covariance_ = true;
    precision_is_due_.set_due(true);
  }
  bool suits_columns(const PosteriorStep<T>& step) const;
  bool suits_covariance(const PosteriorStep<T>& step) const;
  double update_natural(const FullPosterior& from, const PosteriorStep<T>& step, Scratch& scratch);
  double update_by_covariance(const FullPosterior& from, const PosteriorStep<T>& step, Scratch& scratch);
  double descend(const FullPosterior& from, const PosteriorStep<T>& step, Scratch& scratch);
  double plain_by_columns(const FullPosterior& from, const PosteriorStep<T>& step, const double* u,
                          Scratch& scratch);
  double plain_by_products(const FullPosterior& from, const PosteriorStep<T>& step, const double* u,
                           Scratch& scratch);
  void drift_covariance(const FullPosterior& from, const Drift<T>& drift);
  MatrixView<double> held(Buffer<double>& buffer) {
    return buffer.matrix(this->dimension_, this->dimension_);
  }
  ConstMatrixView<double> held(const Buffer<double>& buffer) const {
    return buffer.matrix(this->dimension_, this->dimension_);
  }

  mutable PositiveMatrix precision_;  // P
  mutable Deferred precision_is_due_;
  bool keeps_covariance_ = false;  // Sigma is stored, and P derived
  Buffer<double> covariance_;      // empty unless there was process noise
  double squared_shift_ = 0;       // d^T Lambda d of the step that made it
};

/// Fails with ERROR_UNSUPPORTED for other families.
template <class T>
const FullPosterior<T>& as_full(const Posterior<T>& q);

}  // namespace bdl
