// Natural-gradient steps: the step on the whole precision in factored form, then its projection
// (docs/mathematics/natural-gradients.md, "The low-rank step and its projection").
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/profile.hpp"
#include "curvature/dense_rows.hpp"
#include "linalg/dense/cholesky.hpp"
#include "parallel/parallel.hpp"
#include "posterior/diagonal/diagonal_step.hpp"
#include "posterior/full/updated_factor.hpp"
#include "posterior/low_rank/low_rank.hpp"

namespace bdl {

template <class T>
double LowRankPosterior<T>::take(const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace) {
  const bool natural = step.descent == Descent::natural,
             projected = step.mean_update == MeanUpdate::projected;
  const StepSize size = size_of(step);
  reserve_step(size, workspace);
  double part = 1;
  if (takes_diagonals(size)) {
    part = take_diagonal(step, workspace);
  } else if (!step.curvature.rows) {
    fail(Status::ERROR_UNSUPPORTED,
         rank_ == 0 ? "an unprojected mean update takes curvature rows, not a Hessian"
                    : "a low-rank posterior takes curvature rows, not a Hessian (curvature \"mc-hess\")");
  } else if (!natural) {
    part = descend(step, workspace);
  } else if (step.low_rank_update == LowRankUpdate::moving_average) {
    average_rows(step, workspace);
  } else if (projected && !step.prior) {
    project_rows(step, workspace);
  } else {
    project_columns(step, workspace);
  }
  return part;
}

/// The choice that take() makes.
template <class T>
void LowRankPosterior<T>::reserve_step(const StepSize& step, UpdateWorkspace<T>& workspace) const {
  workspace.scratch.tall.reserve(this->dimension_, rank_, 0);
  reserve(1, workspace.scratch);
  if (takes_diagonals(step) || !step.has_rows) return;
  if (step.descent == Descent::plain)
    reserve_descent(step, workspace);
  else if (step.low_rank_update == LowRankUpdate::moving_average)
    reserve_average(step, workspace);
  else if (step.mean_update == MeanUpdate::projected && !step.has_prior)
    reserve_rows(step, workspace);
  else
    reserve_columns(step, workspace);
}

template <class T>
RowsUse LowRankPosterior<T>::use_of_rows(const StepSize& step) const {
  if (takes_diagonals(step) || !step.has_rows) return {};
  const bool averaged = step.low_rank_update == LowRankUpdate::moving_average,
             projected = step.mean_update == MeanUpdate::projected && !step.has_prior;
  if (step.descent == Descent::plain || !(averaged || projected))
    return {false, std::min(step.rows.count, most_columns_together), 0};
  return UpdatedFactor<T>::use_of_rows(
      averaged ? size_of_average(step.rows) : UpdatedFactor<T>::size(this->dimension_, rank_, step.rows),
      step.projection);
}

template <class T>
double LowRankPosterior<T>::take_diagonal(const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace) {
  const auto& old = dynamic_cast<const LowRankPosterior&>(step.from);
  const auto d = d_.first(this->dimension_);
  curvature_diagonal(step.curvature, d);
  const ConstSpan<T> prior = step.at_prior() ? ConstSpan<T>()
                             : step.prior    ? dynamic_cast<const LowRankPosterior&>(*step.prior).d()
                                             : step.prior_precision;
  const double part =
      bdl::take_diagonal<T>({DiagonalParameter::precision, step.descent, step.mean_rate, step.curvature_rate,
                             old.mean(), old.d(), step.m, d, prior, step.improves()},
                            step.may_shorten(), this->mean(), d);
  factorize(workspace.scratch.tall);
  return part;
}

/// mu' = mu - a Sigma' m.
template <class T>
void LowRankPosterior<T>::move_mean(const PosteriorStep<T>& step, PosteriorScratch<T>& scratch) {
  T* const mean = this->mean().data();
  if (step.m.empty()) {
    std::ranges::copy(step.from.mean(), mean);
    return;
  }
  std::ranges::copy(step.m, mean);
  solve({mean, this->dimension_, 1}, scratch);
  finish_mean(step);
}

/// mu' = mu - a times what the mean holds.
template <class T>
void LowRankPosterior<T>::finish_mean(const PosteriorStep<T>& step) {
  const T *old = step.from.mean().data(), length = static_cast<T>(step.mean_rate);
  T* const mean = this->mean().data();
  for_each_index(this->dimension_, [=](Index i) BDL_INLINE_LAMBDA { mean[i] = old[i] - length * mean[i]; });
}

template <class T>
void LowRankPosterior<T>::reserve_rows(const StepSize& step, UpdateWorkspace<T>& workspace) const {
  const ProjectionSize size = UpdatedFactor<T>::size(this->dimension_, rank_, step.rows);
  workspace.weights.reserve(step.rows.count);
  workspace.projection.reserve(size, step.projection);
  UpdatedFactor<T>::reserve(size, rank_, step.rows, step.projection, workspace);
}

/// Through products with the rows only: no D x n matrix.
template <class T>
void LowRankPosterior<T>::project_rows(const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace) {
  const auto& old = dynamic_cast<const LowRankPosterior&>(step.from);
  Rows<T>& rows = *step.curvature.rows;
  const auto w = scaled_weights(step, workspace);
  const double keep = step.has_kl() ? 1 - step.curvature_rate : 1;
  UpdatedFactor<T> factor(old.u(), keep, rows, w, workspace);
  const ProjectionSize size = UpdatedFactor<T>::size(this->dimension_, rank_, rows.cost());
  project(factor, size, old, step, u_.matrix(this->dimension_, rank_), workspace);
  const std::span<T> d = d_.first(this->dimension_);
  rows.sum_squares_then(w, d, [&](Index first, Index count) {
    const std::span<T> some = d.subspan(at(first), at(count));
    add_row_squares<T>(old.u().block(first, 0, count, rank_), keep, some);
    add_row_squares<T>(u().block(first, 0, count, rank_), -1, some);
  });
  correct_diagonal(old, step);
  factorize(workspace.scratch.tall);
  move_mean(step, workspace.scratch);
}

/// U = Q_L Lambda_L^1/2 of the factor.
template <class T>
void LowRankPosterior<T>::project(Factor<T>& factor, const ProjectionSize& size, const LowRankPosterior& old,
                                  const PosteriorStep<T>& step, MatrixView<T> u,
                                  UpdateWorkspace<T>& workspace) {
  if (choose_method(size, step.projection) == EigenMethod::randomized)
    start_range(old, step, size, workspace);
  workspace.projection.apply(factor, size, step.projection, u);
}

/// The randomized method starts from the present factor, and random directions where it is 0.
template <class T>
void LowRankPosterior<T>::start_range(const LowRankPosterior& old, const PosteriorStep<T>& step,
                                      const ProjectionSize& size, UpdateWorkspace<T>& workspace) {
  const auto start = workspace.projection.start(size, step.projection);
  StreamKey key = step.random;
  for (Index k = 0; k < start.cols; ++k, ++key.sample) {
    const bool warm = k < rank_ && std::ranges::any_of(old.u().column(k), [](T value) { return value != 0; });
    if (warm)
      std::ranges::copy(old.u().column(k), start.column_data(k));
    else
      fill_normal(key, 0, start.column(k));
  }
}

/// d' = (1 - b) d + b lambda + Delta; on entry d_ holds Delta, what the projection has lost of the diagonal:
/// >= 0, and clipped where rounding says otherwise.
template <class T>
void LowRankPosterior<T>::correct_diagonal(const LowRankPosterior& from, const PosteriorStep<T>& step) {
  const T keep = static_cast<T>(step.has_kl() ? 1 - step.curvature_rate : 1),
          rate = static_cast<T>(step.curvature_rate);
  const T *old = from.d().data(), *lambda = step.prior_precision.data();
  T* d = d_.data();
  for_each_index(this->dimension_, [=](Index i) BDL_INLINE_LAMBDA {
    d[i] = keep * old[i] + (lambda ? rate * lambda[i] : T(0)) + (d[i] < 0 ? T(0) : d[i]);
  });
}

/// Diagonal of the updated precision before the rows: (1 - b) d + b d_0.
template <class T>
void LowRankPosterior<T>::mix_diagonal(const PosteriorStep<T>& step) {
  const T* old = dynamic_cast<const LowRankPosterior&>(step.from).d().data();
  const T* prior = step.prior ? dynamic_cast<const LowRankPosterior&>(*step.prior).d().data()
                              : step.prior_precision.data();
  T* d = d_.data();
  if (!step.leaves_prior())
    return for_each_index(this->dimension_, [=](Index i) BDL_INLINE_LAMBDA { d[i] = old[i]; });
  const T keep = static_cast<T>(1 - step.curvature_rate), rate = static_cast<T>(step.curvature_rate);
  for_each_index(this->dimension_,
                 [=](Index i) BDL_INLINE_LAMBDA { d[i] = keep * old[i] + rate * prior[i]; });
}

/// U^T U, its lower triangle.
template <class T>
void LowRankPosterior<T>::write_gram(MatrixView<double> gram, TallScratch& scratch) const {
  if (!has_gram_) return tall_gram<T>(u(), {}, gram, scratch);
  for (Index j = 0; j < rank_; ++j) std::copy_n(gram_.data() + j * rank_, rank_, gram.column_data(j));
}

/// tall_grams for A = [U, X] with what is known of U: one thin pass.
template <class T>
void LowRankPosterior<T>::known_grams(const LowRankPosterior& old, ConstMatrixView<T> x, ConstSpan<T> m,
                                      MatrixView<double> gram, MatrixView<double> weighted,
                                      std::span<double> projected, UpdateWorkspace<T>& workspace) {
  const Index cols = rank_ + x.cols;
  const auto plain = workspace.squares.matrix(cols, x.cols);
  const MatrixView<double> divided(plain.data + plain.size(), cols, x.cols + 1);
  tall_cross<T>(old.u(), x, old.d(), m, plain, divided, workspace.scratch.tall);
  old.write_gram(gram.block(0, 0, rank_, rank_), workspace.scratch.tall);
  const auto core = old.woodbury_.core();
  for (Index j = 0; j < rank_; ++j) {
    for (Index i = j; i < rank_; ++i) {  // Bc Bc^T - I
      double sum = i == j ? -1 : 0;
      for (Index k = 0; k <= j; ++k) sum += core(i, k) * core(j, k);
      weighted(i, j) = sum;
    }
    for (Index r = 0; r < x.cols; ++r) {
      gram(rank_ + r, j) = plain(j, r);
      weighted(rank_ + r, j) = divided(j, r);
    }
  }
  for (Index r = 0; r < x.cols; ++r)
    for (Index i = rank_ + r; i < cols; ++i) {
      gram(i, rank_ + r) = plain(i, r);
      weighted(i, rank_ + r) = divided(i, r);
    }
  std::ranges::copy(divided.column(x.cols), projected.begin());
}

template <class T>
void LowRankPosterior<T>::reserve_columns(const StepSize& step, UpdateWorkspace<T>& workspace) const {
  const Index count = step.rows.count, cols = rank_ + count + (step.leaves_prior ? step.prior_rank : 0);
  bdl::reserve_columns(this->dimension_, count, workspace);
  if (step.leaves_prior) {
    reserve_grams(this->dimension_, cols, workspace.scratch.tall);
  } else {
    workspace.squares.reserve(cols * (2 * count + 1));
    reserve_cross(this->dimension_, rank_, count, workspace.scratch.tall);
  }
  workspace.small.reserve(cols * (2 * cols + rank_ + 1) + rank_ * rank_);
  workspace.eigen.reserve(cols, drops(cols) ? cols : rank_);
  reserve_update(this->dimension_, rank_, cols, workspace.scratch.tall);
}

/// With the rows as columns, for few rows: two passes over [U, U_0, X], the first of which gives the mean's
/// step by the precision before the projection too.
template <class T>
void LowRankPosterior<T>::project_columns(const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace) {
  const auto& old = dynamic_cast<const LowRankPosterior&>(step.from);
  const bool mixed = step.leaves_prior();
  const double rate = step.curvature_rate, keep = mixed ? 1 - rate : 1;
  const ConstMatrixView<T> prior = mixed && step.prior
                                       ? dynamic_cast<const LowRankPosterior&>(*step.prior).u()
                                       : ConstMatrixView<T>(nullptr, this->dimension_, 0);
  const auto x = curvature_columns(step.curvature, rate, workspace);
  const TallColumns<T> a{{{old.u(), std::sqrt(keep)}, {prior, std::sqrt(rate)}, {x, 1.0}}};
  mix_diagonal(step);
  const Index cols = a.cols();
  const MatrixView<double> gram = workspace.small.matrix(cols, cols);
  const MatrixView<double> weighted(gram.data + cols * cols, cols, cols);
  const MatrixView<double> c(weighted.data + cols * cols, cols, rank_ + 1);
  TallScratch& scratch = workspace.scratch.tall;
  if (mixed)
    tall_grams<T>(a, d(), step.m, gram, weighted, c.column(rank_), scratch);
  else
    known_grams(old, x, step.m, gram, weighted, c.column(rank_), workspace);
  for (Index i = 0; i < cols; ++i) weighted(i, i) += 1;
  if (!cholesky(weighted))
    fail(Status::ERROR_DIVERGED, "the posterior precision is not finite and positive definite");
  cholesky_solve(weighted, c.columns(rank_, 1));
  const MatrixView<double> core(c.data + cols * (rank_ + 1), rank_, rank_);
  const TallUpdate<T> update{u_.matrix(this->dimension_, rank_),
                             d_.first(this->dimension_),
                             step.m,
                             this->mean(),
                             gram_.matrix(rank_, rank_),
                             core};
  if (rank_ > 0) workspace.eigen.compute(gram, drops(cols) ? cols : rank_);
  const auto vectors = workspace.eigen.vectors();
  for (Index k = 0; k < rank_; ++k) std::ranges::copy(vectors.column(k), c.column_data(k));
  if (drops(cols))
    tall_drop<T>(a, vectors.column(rank_), c.column(rank_), update, scratch);
  else
    tall_rotate<T>(a, c, update, scratch);
  if (!woodbury_.factorize(core, d()))
    fail(Status::ERROR_DIVERGED, "the posterior precision is not finite and positive definite");
  has_gram_ = true;
  if (step.mean_update == MeanUpdate::projected)
    move_mean(step, workspace.scratch);
  else
    finish_mean(step);
}

template class LowRankPosterior<float>;
template class LowRankPosterior<double>;

}  // namespace bdl
