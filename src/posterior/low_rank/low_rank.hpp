// Low-rank precision: Sigma^-1 = U U^T + diag(d) (docs/mathematics/gaussians.md, "Woodbury through a Cholesky
// factor"); rank 0 is the diagonal family.
#pragma once

#include "base/error.hpp"
#include "linalg/tall/tall_step.hpp"
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

  std::unique_ptr<Posterior<T>> clone() const override;
  void assign(const Posterior<T>& other) override;
  void swap(Posterior<T>& other) override;
  Index bytes() const override;
  void tensors(const TensorVisitor<T>& visit) override;
  void accept_tensors() override;
  void set_isotropic(double precision) override;
  void set_diagonal(ConstSpan<T> precision, std::optional<std::uint64_t> spread_seed) override;
  double take(const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace) override;
  bool bound_leverages(ExampleRows<T>& rows, ConstSpan<T> z, std::span<double> out,
                       LeverageScratch<T>& scratch) const override;
  void leverages(ExampleRows<T>& rows, ConstSpan<T> z, ConstSpan<Index> which, std::span<double> out,
                 LeverageScratch<T>& scratch) const override;
  void reserve_leverages(Index n, LeverageScratch<T>& scratch) const override;
  void drift(const Posterior<T>& from, const Drift<T>& drift, UpdateWorkspace<T>& workspace) override;
  void reserve_step(const StepSize& step, UpdateWorkspace<T>& workspace) const override;
  RowsUse use_of_rows(const StepSize& step) const override;
  void reserve_drift(bool has_noise, UpdateWorkspace<T>& workspace) const override;
  void reserve(Index columns, PosteriorScratch<T>& scratch) const override;
  void reserve_marginals(PosteriorScratch<T>& scratch) const override;
  void solve(MatrixView<T> x, PosteriorScratch<T>& scratch) const override;
  void color(ConstSpan<T> mean, MatrixView<T> eps, ConstMatrixView<T>,
             PosteriorScratch<T>& scratch) const override;
  void variances(MatrixView<T> x, std::span<double> out, PosteriorScratch<T>& scratch) const override;
  void marginal_variance(std::span<T> out, PosteriorScratch<T>& scratch) const override;
  void precision_diagonal(std::span<T> out) const override;
  void multiply_precision(ConstSpan<T> x, std::span<T> out, PosteriorScratch<T>& scratch) const override;
  double quadratic(ConstSpan<T> x, PosteriorScratch<T>& scratch) const override;
  double log_det_covariance() const override { return woodbury_.log_det_covariance(); }
  double trace_precision(const Posterior<T>& q, PosteriorScratch<T>& scratch) const override;

 private:
  void factorize(TallScratch& scratch);

  bool takes_diagonals(const StepSize& step) const {
    return rank_ == 0 && (step.descent == Descent::plain || step.mean_update == MeanUpdate::projected);
  }

  // low_rank_step.cpp
  double take_diagonal(const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace);
  void reserve_rows(const StepSize& step, UpdateWorkspace<T>& workspace) const;
  void project_rows(const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace);
  void reserve_columns(const StepSize& step, UpdateWorkspace<T>& workspace) const;
  /// Where one direction is lost, it is cheaper to know that one than those that stay.
  bool drops(Index cols) const { return cols == rank_ + 1 && rank_ > 0 && cols <= most_dropping_columns; }
  void project_columns(const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace);
  void start_range(const LowRankPosterior& old, const PosteriorStep<T>& step, const ProjectionSize& size,
                   UpdateWorkspace<T>& workspace);
  void correct_diagonal(const LowRankPosterior& from, const PosteriorStep<T>& step);
  void project(Factor<T>& factor, const ProjectionSize& size, const LowRankPosterior& old,
               const PosteriorStep<T>& step, MatrixView<T> u, UpdateWorkspace<T>& workspace);
  void known_grams(const LowRankPosterior& old, ConstMatrixView<T> x, ConstSpan<T> m, MatrixView<double> gram,
                   MatrixView<double> weighted, std::span<double> projected, UpdateWorkspace<T>& workspace);
  void write_gram(MatrixView<double> gram, TallScratch& scratch) const;
  void mix_diagonal(const PosteriorStep<T>& step);
  void move_mean(const PosteriorStep<T>& step, PosteriorScratch<T>& scratch);
  void finish_mean(const PosteriorStep<T>& step);

  // low_rank_average.cpp
  ProjectionSize size_of_average(const RowsCost& rows) const {
    return {this->dimension_, rows.count, rank_, rows.gram_flops, rows.product_flops};
  }
  void reserve_average(const StepSize& step, UpdateWorkspace<T>& workspace) const;
  void average_rows(const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace);

  // low_rank_descent.cpp
  void reserve_descent(const StepSize& step, UpdateWorkspace<T>& workspace) const;
  void reserve_roots(UpdateWorkspace<T>& workspace) const;
  double descend(const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace);
  void add_diagonal_kl(ConstSpan<T> prior, MatrixView<T> z, MatrixView<T> zk, std::span<T> sums,
                       UpdateWorkspace<T>& workspace) const;
  static void add_scaled(ConstSpan<T> d, ConstMatrixView<T> y, MatrixView<T> b);
  double finish_descent(const PosteriorStep<T>& step, ConstMatrixView<T> y, ConstMatrixView<T> b,
                        UpdateWorkspace<T>& workspace);
  Index rank_;
  Buffer<T> u_, d_;
  Woodbury<T> woodbury_;
  Buffer<double> gram_;  // U^T U, where the last step has left it: the bits of tall_gram
  bool has_gram_ = false;
};

/// Fails with ERROR_UNSUPPORTED for other families.
template <class T>
const LowRankPosterior<T>& as_low_rank(const Posterior<T>& q) {
  if (q.family() != Family::low_rank)
    fail(Status::ERROR_UNSUPPORTED, "the posterior is not of the low-rank family");
  return dynamic_cast<const LowRankPosterior<T>&>(q);
}

}  // namespace bdl
