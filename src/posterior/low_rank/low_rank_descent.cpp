// Plain gradient steps on (mu, d, U), and the passage of time (docs/mathematics/natural-gradients.md and
// streams.md).
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"
#include "parallel/parallel.hpp"
#include "posterior/low_rank/low_rank.hpp"

namespace bdl {
namespace {

template <class T>
void copy(ConstMatrixView<T> from, MatrixView<T> to) {
  for (Index k = 0; k < from.cols; ++k) std::ranges::copy(from.column(k), to.column_data(k));
}

/// sums += factor rowsums(A ∘ B).
template <class T>
void add_row_products(ConstMatrixView<T> a, ConstMatrixView<T> b, double factor, std::span<T> sums) {
  T* const to = sums.data();
  for (Index k = 0; k < a.cols; ++k) {
    const T *x = a.column_data(k), *y = b.column_data(k);
    for_each_index(a.rows, [=](Index i) BDL_INLINE_LAMBDA { to[i] += static_cast<T>(factor) * x[i] * y[i]; });
  }
}

/// Memory for apply_outer() with L columns of A and k of B.
template <class T>
void reserve_apply_outer(Index dimension, Index a, Index b, UpdateWorkspace<T>& workspace) {
  workspace.small.reserve(a * b);
  workspace.mixing.reserve(a * b);
  workspace.scratch.tall.reserve(dimension, a, b);
}

/// Y = A (A^T B).
template <class T>
void apply_outer(ConstMatrixView<T> a, ConstMatrixView<T> b, MatrixView<T> y, UpdateWorkspace<T>& workspace) {
  const Index size = a.cols * b.cols;
  const auto product = workspace.small.matrix(a.cols, b.cols);
  tall_project<T>(a, b, {}, Divide::by_d, product, workspace.scratch.tall);
  const auto mixing = workspace.mixing.matrix(a.cols, b.cols);
  std::transform(product.data, product.data + size, mixing.data, [](double v) { return static_cast<T>(v); });
  tall_combine<T>(a, mixing, false, y, workspace.scratch.tall);
}

}  // namespace

/// Y = A L^-T for the lower triangular factor L of a small matrix.
template <class T>
void combine_with_root(ConstMatrixView<T> a, MatrixView<double> lower, MatrixView<T> y,
                       UpdateWorkspace<T>& workspace) {
  const Index rank = a.cols;
  const auto mixing = workspace.mixing.matrix(rank, rank);
  const MatrixView<double> root(lower.data + rank * rank, rank, rank);
  for (Index j = 0; j < rank; ++j)
    for (Index i = 0; i < rank; ++i) root(i, j) = i == j ? 1 : 0;
  solve_lower_left(Op::transpose, lower, root);
  std::transform(root.data, root.data + rank * rank, mixing.data, [](double v) { return static_cast<T>(v); });
  tall_combine<T>(a, mixing, false, y, workspace.scratch.tall);
}

/// For combine_with_root() and what belongs to it.
template <class T>
void LowRankPosterior<T>::reserve_roots(UpdateWorkspace<T>& workspace) const {
  workspace.small.reserve(2 * rank_ * rank_);
  workspace.mixing.reserve(rank_ * rank_);
  workspace.vectors.reserve(this->dimension_);
  workspace.scratch.tall.reserve(this->dimension_, rank_, rank_);
}

/// diag(Sigma diag(d_0) Sigma - Sigma) added to `sums`: the share of the KL divergence without U_0.
template <class T>
void LowRankPosterior<T>::add_diagonal_kl(ConstSpan<T> prior, MatrixView<T> z, MatrixView<T> zk,
                                          std::span<T> sums, UpdateWorkspace<T>& workspace) const {
  TallScratch& scratch = workspace.scratch.tall;
  const auto small = workspace.small.matrix(rank_, rank_);
  tall_gram<T>(u(), d(), small, scratch);
  for (Index i = 0; i < rank_; ++i) small(i, i) += 1;
  if (!cholesky(small)) fail(Status::ERROR_DIVERGED, "the posterior precision is not finite");
  combine_with_root<T>(u(), small, z, workspace);  // Z = (U / d) L^-T, so Sigma = diag(1/d) - Z Z^T
  const T *now = d_.data(), *before = prior.data();
  for (Index k = 0; k < rank_; ++k) {
    T* const column = z.column_data(k);
    for_each_index(this->dimension_, [=](Index i) BDL_INLINE_LAMBDA { column[i] /= now[i]; });
  }
  T* const inverse = workspace.vectors.data();
  for_each_index(this->dimension_, [=](Index i) BDL_INLINE_LAMBDA { inverse[i] = 1 / before[i]; });
  tall_gram<T>(z, workspace.vectors.first(this->dimension_), small, scratch);  // Z^T diag(d_0) Z
  const auto mixing = workspace.mixing.matrix(rank_, rank_);
  std::transform(small.data, small.data + rank_ * rank_, mixing.data,
                 [](double v) { return static_cast<T>(v); });
  tall_combine<T>(z, mixing, false, zk, scratch);
  T* const squares = inverse;
  std::fill_n(squares, this->dimension_, T(0));
  add_row_products<T>(z, z, 1, workspace.vectors.first(this->dimension_));
  T* const to = sums.data();
  for_each_index(this->dimension_, [=](Index i) BDL_INLINE_LAMBDA {
    const T ratio = before[i] / now[i];
    to[i] += (ratio - 1) / now[i] + (1 - 2 * ratio) * squares[i];
  });
  add_row_products<T>(zk, z, 1, sums);
}

template <class T>
void LowRankPosterior<T>::reserve_descent(const StepSize& step, UpdateWorkspace<T>& workspace) const {
  const bool has_columns = step.leaves_prior && step.has_prior;
  const Index count = step.rows.count + (has_columns ? step.prior_rank : 0);
  bdl::reserve_columns(this->dimension_, step.rows.count, workspace);
  workspace.factor.reserve(this->dimension_ * (2 * count + 2 * rank_));
  reserve(std::max(count, rank_), workspace.scratch);
  if (step.leaves_prior) reserve_roots(workspace);
  reserve_apply_outer(this->dimension_, count, rank_, workspace);
}

/// With T = 2 Sigma M Sigma: mu' = mu - a m, d' = d + b/2 diag(T), U' = U + b T U.
template <class T>
double LowRankPosterior<T>::descend(const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace) {
  const auto& old = dynamic_cast<const LowRankPosterior&>(step.from);
  const auto* prior = step.at_prior() ? nullptr : dynamic_cast<const LowRankPosterior*>(step.prior);
  const bool has_kl = step.leaves_prior();
  const ConstSpan<T> prior_d = prior ? prior->d() : step.prior_precision;
  const Index dimension = this->dimension_, prior_rank = prior ? prior->rank_ : 0;
  const Index count = step.curvature.rows->count() + prior_rank;
  // F = [X, U_0] and S F, then two D x L matrices.
  const MatrixView<T> f = workspace.factor.matrix(dimension, count);
  const MatrixView<T> sf(f.data + f.size(), dimension, count), y(sf.data + sf.size(), dimension, rank_);
  const MatrixView<T> b(y.data + y.size(), dimension, rank_);
  curvature_columns(step.curvature, 1, workspace);
  if (prior) copy<T>(prior->u(), f.columns(count - prior_rank, prior_rank));
  copy<T>(f, sf);
  old.solve(sf, workspace.scratch);
  const auto twice = d_.first(dimension);  // diag(T)
  std::ranges::fill(twice, T(0));
  add_row_products<T>(sf, sf, 1, twice);
  if (has_kl) old.add_diagonal_kl(prior_d, y, b, twice, workspace);
  copy<T>(old.u(), y);
  old.solve(y, workspace.scratch);  // Sigma U
  apply_outer<T>(f, y, b, workspace);
  if (has_kl) add_scaled(prior_d, y, b);
  old.solve(b, workspace.scratch);
  return finish_descent(step, has_kl ? y : MatrixView<T>(), b, workspace);
}

/// B += diag(d) Y.
template <class T>
void LowRankPosterior<T>::add_scaled(ConstSpan<T> d, ConstMatrixView<T> y, MatrixView<T> b) {
  for (Index k = 0; k < y.cols; ++k) {
    const T *from = y.column_data(k), *scale = d.data();
    T* const to = b.column_data(k);
    for_each_index(y.rows, [=](Index i) BDL_INLINE_LAMBDA { to[i] += scale[i] * from[i]; });
  }
}

/// T U = b - y; d_ holds diag(T).
template <class T>
double LowRankPosterior<T>::finish_descent(const PosteriorStep<T>& step, ConstMatrixView<T> y,
                                           ConstMatrixView<T> b, UpdateWorkspace<T>& workspace) {
  const auto& old = dynamic_cast<const LowRankPosterior&>(step.from);
  const Index dimension = this->dimension_;
  const T half = static_cast<T>(step.curvature_rate / 2);
  double kept = 1;
  for (Index i = 0; i < dimension; ++i)
    if (const double ratio = 1 + static_cast<double>(half * d_.data()[i] / old.d_.data()[i]);
        !(ratio >= kept) && !std::isnan(kept))
      kept = ratio;
  const double part = shortened(kept, step.may_shorten());
  const T rate = static_cast<T>(part * step.curvature_rate), length = static_cast<T>(part * step.mean_rate);
  const T *d = old.d_.data(), *m = step.m.data(), *mean = old.mean().data();
  T *next = d_.data(), *to = this->mean().data();
  for_each_index(dimension, [=](Index i) BDL_INLINE_LAMBDA {
    next[i] = d[i] + rate / 2 * next[i];
    to[i] = mean[i] - length * m[i];
  });
  for (Index k = 0; k < rank_; ++k) {
    const T *u = old.u().column_data(k), *plus = b.column_data(k),
            *minus = y.data ? y.column_data(k) : nullptr;
    T* const column = u_.matrix(dimension, rank_).column_data(k);
    for_each_index(dimension, [=](Index i) BDL_INLINE_LAMBDA {
      column[i] = u[i] + rate * (minus ? plus[i] - minus[i] : plus[i]);
    });
  }
  factorize(workspace.scratch.tall);
  return part;
}

template <class T>
void LowRankPosterior<T>::reserve_drift(bool has_noise, UpdateWorkspace<T>& workspace) const {
  workspace.scratch.tall.reserve(this->dimension_, rank_, 0);
  if (has_noise && rank_ > 0) reserve_roots(workspace);
}

/// Sigma_0 = k Sigma + diag(q) stays in the family: with d_0 = 1 / (k / d + q) and r = d_0 / d,
/// U_0 = sqrt(k) diag(r) U L^-T, L L^T = I + U^T diag(q r) U.
template <class T>
void LowRankPosterior<T>::drift(const Posterior<T>& from, const Drift<T>& drift,
                                UpdateWorkspace<T>& workspace) {
  const auto& old = dynamic_cast<const LowRankPosterior&>(from);
  const Index dimension = this->dimension_;
  reserve_drift(!drift.noise.empty(), workspace);
  const T *before = old.d_.data(), *noise = drift.noise.data(), *mean = old.mean().data();
  const T inflation = static_cast<T>(drift.inflation), transition = static_cast<T>(drift.transition);
  T *d = d_.data(), *to = this->mean().data();
  for_each_index(dimension, [=](Index i) BDL_INLINE_LAMBDA {
    d[i] = 1 / (inflation / before[i] + (noise ? noise[i] : T(0)));
    to[i] = transition * mean[i];
  });
  const auto u = u_.matrix(dimension, rank_);
  if (noise && rank_ > 0) {
    const auto small = workspace.small.matrix(rank_, rank_);
    T* const scaled = workspace.vectors.data();  // 1 / (q r); a tiny floor stands for q = 0
    for_each_index(dimension, [=](Index i) BDL_INLINE_LAMBDA {
      scaled[i] = 1 / std::max(noise[i] * d[i] / before[i], std::numeric_limits<T>::min());
    });
    tall_gram<T>(old.u(), workspace.vectors.first(dimension), small, workspace.scratch.tall);
    for (Index i = 0; i < rank_; ++i) small(i, i) += 1;
    if (!cholesky(small)) fail(Status::ERROR_DIVERGED, "the drifted precision is not finite");
    combine_with_root<T>(old.u(), small, u, workspace);
  } else {
    copy<T>(old.u(), u);
  }
  const T root = std::sqrt(inflation);
  for (Index k = 0; k < rank_; ++k) {
    T* const column = u.column_data(k);
    for_each_index(dimension, [=](Index i) BDL_INLINE_LAMBDA { column[i] *= root * d[i] / before[i]; });
  }
  factorize(workspace.scratch.tall);
}

template class LowRankPosterior<float>;
template class LowRankPosterior<double>;

}  // namespace bdl
