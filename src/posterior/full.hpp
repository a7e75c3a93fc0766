// Full covariance: Sigma^-1 = P dense, held and factorised in double. For small D, and the reference for the
// others.
#pragma once

#include "posterior/posterior.hpp"

namespace bdl {

template <class T>
class FullPosterior final : public Posterior<T> {
 public:
  explicit FullPosterior(Index dimension);

  Family family() const override { return Family::full; }
  Index rank() const override { return this->dimension_; }
  ConstMatrixView<double> precision() const { return precision_.matrix(this->dimension_, this->dimension_); }
  /// Sets P from its lower triangle; fails with ERROR_INVALID_ARGUMENT unless positive definite.
  void set_precision(ConstMatrixView<double> precision);

  std::unique_ptr<Posterior<T>> clone() const override;
  void swap(Posterior<T>& other) override;
  Index bytes() const override;
  void set_isotropic(double precision) override;
  double take(const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace) override;
  void drift(const Posterior<T>& from, const Drift<T>& drift, UpdateWorkspace<T>& workspace) override;
  Index update_bytes(const RowsCost&, const ProjectionOptions&) const override { return 0; }
  void reserve(Index columns, PosteriorScratch<T>& scratch) const override;
  void solve(MatrixView<T> x, PosteriorScratch<T>& scratch) const override;
  void color(ConstSpan<T> mean, MatrixView<T> eps, PosteriorScratch<T>& scratch) const override;
  void marginal_variance(std::span<T> out, PosteriorScratch<T>& scratch) const override;
  void precision_diagonal(std::span<T> out) const override;
  void multiply_precision(ConstSpan<T> x, std::span<T> out, PosteriorScratch<T>& scratch) const override;
  double quadratic(ConstSpan<T> x, PosteriorScratch<T>& scratch) const override;
  double log_det_covariance() const override { return log_det_; }
  double trace_precision(const Posterior<T>& q, PosteriorScratch<T>& scratch) const override;

 private:
  [[nodiscard]] bool factorize();
  MatrixView<double> square(Buffer<double>& buffer) {
    return buffer.matrix(this->dimension_, this->dimension_);
  }
  ConstMatrixView<double> lower() const { return lower_.matrix(this->dimension_, this->dimension_); }
  Buffer<double> precision_, lower_;  // P and its Cholesky factor C
  double log_det_ = 0;
};

}  // namespace bdl
