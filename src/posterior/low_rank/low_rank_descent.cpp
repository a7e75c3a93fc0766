// Plain gradient steps on (mu, d, U), and the passage of time (docs/theory/natural-gradients.md and
// streams.md).
#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"
#include "linalg/tall/tall.hpp"
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

/// B += diag(d) Y.
template <class T>
void add_scaled(ConstSpan<T> d, ConstMatrixView<T> y, MatrixView<T> b) {
  for (Index k = 0; k < y.cols; ++k) {
    const T *from = y.column_data(k), *scale = d.data();
    T* const to = b.column_data(k);
    for_each_index(y.rows, [=](Index i) BDL_INLINE_LAMBDA { to[i] += scale[i] * from[i]; });
  }
}

/// Y = A C for a small C in double, rounded first.
template <class T>
void combine_rounded(ConstMatrixView<T> a, ConstMatrixView<double> c, MatrixView<T> y, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const auto rounded = scratch.matrix<T>(c.rows, c.cols);
  std::transform(c.data, c.data + c.size(), rounded.data, [](double v) { return static_cast<T>(v); });
  tall_combine<T>(a, rounded, false, y, scratch);
}

/// Y = A (A^T B).
template <class T>
void apply_outer(ConstMatrixView<T> a, ConstMatrixView<T> b, MatrixView<T> y, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const auto product = scratch.matrix<double>(a.cols, b.cols);
  tall_project<T>(a, b, {}, Divide::by_d, product, scratch);
  combine_rounded<T>(a, product, y, scratch);
}

/// Y = A L^-T for L L^T = I + A^T diag(1/d) A.
template <class T>
void combine_with_root(ConstMatrixView<T> a, ConstSpan<T> d, MatrixView<T> y, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const Index rank = a.cols;
  const auto lower = scratch.matrix<double>(rank, rank), root = scratch.matrix<double>(rank, rank);
  tall_gram<T>(a, d, lower, scratch);
  for (Index i = 0; i < rank; ++i) lower(i, i) += 1;
  if (!cholesky(lower)) fail_not_positive("precision");
  for (Index j = 0; j < rank; ++j)
    for (Index i = 0; i < rank; ++i) root(i, j) = i == j ? 1 : 0;
  solve_lower_left(Op::transpose, lower, root);
  combine_rounded<T>(a, root, y, scratch);
}

}  // namespace

/// Adds diag(Sigma diag(d_0) Sigma - Sigma): what the KL divergence brings without U_0. Z and ZK are
/// overwritten.
template <class T>
void LowRankPosterior<T>::add_diagonal_kl(ConstSpan<T> prior, MatrixView<T> z, MatrixView<T> zk,
                                          std::span<T> sums, Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  combine_with_root<T>(u(), d(), z, scratch);  // Z = (U / d) L^-T, so Sigma = diag(1/d) - Z Z^T
  const T *now = d_.data(), *before = prior.data();
  for (Index k = 0; k < rank_; ++k) {
    T* const column = z.column_data(k);
    for_each_index(this->dimension_, [=](Index i) BDL_INLINE_LAMBDA { column[i] /= now[i]; });
  }
  const auto vector = scratch.take<T>(this->dimension_);
  T* const inverse = vector.data();
  for_each_index(this->dimension_, [=](Index i) BDL_INLINE_LAMBDA { inverse[i] = 1 / before[i]; });
  const auto gram = scratch.matrix<double>(rank_, rank_);
  tall_gram<T>(z, vector, gram, scratch);  // Z^T diag(d_0) Z
  combine_rounded<T>(z, gram, zk, scratch);
  T* const squares = inverse;
  std::ranges::fill(vector, T(0));
  add_row_products<T>(z, z, 1, vector);
  T* const to = sums.data();
  for_each_index(this->dimension_, [=](Index i) BDL_INLINE_LAMBDA {
    const T ratio = before[i] / now[i];
    to[i] += (ratio - 1) / now[i] + (1 - 2 * ratio) * squares[i];
  });
  add_row_products<T>(zk, z, 1, sums);
}

/// T = 2 Sigma M Sigma gives mu' = mu - a m, d' = d + b/2 diag(T), U' = U + b T U.
template <class T>
double LowRankPosterior<T>::descend(const LowRankPosterior& from, const PosteriorStep<T>& step,
                                    Scratch& scratch) {
  const auto* const prior = step.at_prior() || !step.prior ? nullptr : &as_low_rank(*step.prior);
  const bool has_kl = step.leaves_prior();
  const ConstSpan<T> prior_d = prior ? prior->d() : step.prior_precision;
  const Index dimension = this->dimension_, rows = step.curvature.rows->count(),
              prior_rank = prior ? prior->rank_ : 0, count = rows + prior_rank;
  const auto f = scratch.matrix<T>(dimension, count), sf = scratch.matrix<T>(dimension, count),
             y = scratch.matrix<T>(dimension, rank_), b = scratch.matrix<T>(dimension, rank_);
  write_curvature_columns(step.curvature, 1, f.columns(0, rows), scratch);  // F = [X, U_0]
  if (prior) copy<T>(prior->u(), f.columns(rows, prior_rank));
  copy<T>(f, sf);
  from.solve(sf, scratch);         // Sigma F
  const auto twice = mutable_d();  // diag(T)
  std::ranges::fill(twice, T(0));
  add_row_products<T>(sf, sf, 1, twice);
  if (has_kl) from.add_diagonal_kl(prior_d, y, b, twice, scratch);
  copy<T>(from.u(), y);
  from.solve(y, scratch);  // Sigma U
  apply_outer<T>(f, y, b, scratch);
  if (has_kl) add_scaled<T>(prior_d, y, b);
  from.solve(b, scratch);
  return finish_descent(from, step, has_kl ? y : MatrixView<T>(), b, scratch);
}

/// T U = b - y; d_ holds diag(T).
template <class T>
double LowRankPosterior<T>::finish_descent(const LowRankPosterior& from, const PosteriorStep<T>& step,
                                           ConstMatrixView<T> y, ConstMatrixView<T> b, Scratch& scratch) {
  const Index dimension = this->dimension_;
  const T half = static_cast<T>(step.curvature_rate / 2);
  double kept = 1;
  for (Index i = 0; i < dimension; ++i)
    if (const double ratio = 1 + static_cast<double>(half * d_.data()[i] / from.d_.data()[i]);
        !(ratio >= kept) && !std::isnan(kept))
      kept = ratio;
  const double fraction = shortened(kept, step.may_shorten());
  const T rate = static_cast<T>(fraction * step.curvature_rate),
          length = static_cast<T>(fraction * step.mean_rate);
  const T *d = from.d_.data(), *m = step.m.data(), *mean = from.mean().data();
  T *next = d_.data(), *to = this->mean().data();
  for_each_index(dimension, [=](Index i) BDL_INLINE_LAMBDA {
    next[i] = d[i] + rate / 2 * next[i];
    to[i] = mean[i] - length * m[i];
  });
  for (Index k = 0; k < rank_; ++k) {
    const T *u = from.u().column_data(k), *plus = b.column_data(k),
            *minus = y.data ? y.column_data(k) : nullptr;
    T* const column = mutable_u().column_data(k);
    for_each_index(dimension, [=](Index i) BDL_INLINE_LAMBDA {
      column[i] = u[i] + rate * (minus ? plus[i] - minus[i] : plus[i]);
    });
  }
  factorize(scratch);
  return fraction;
}

/// Sigma_0 = k Sigma + diag(q) stays in the family: with d_0 = 1 / (k / d + q) and r = d_0 / d,
/// U_0 = sqrt(k) diag(r) U L^-T, L L^T = I + U^T diag(q r) U.
template <class T>
void LowRankPosterior<T>::drift(const Posterior<T>& from, const Drift<T>& drift, Scratch& scratch) {
  const LowRankPosterior& old = as_low_rank(from);
  const Scratch::Frame frame(scratch);
  const Index dimension = this->dimension_;
  const T *before = old.d_.data(), *noise = drift.noise.data(), *mean = old.mean().data();
  const T inflation = static_cast<T>(drift.inflation), transition = static_cast<T>(drift.transition);
  T *d = d_.data(), *to = this->mean().data();
  for_each_index(dimension, [=](Index i) BDL_INLINE_LAMBDA {
    d[i] = 1 / (inflation / before[i] + (noise ? noise[i] : T(0)));
    to[i] = transition * mean[i];
  });
  const auto u = mutable_u();
  if (noise && rank_ > 0) {
    const auto inverse = scratch.take<T>(dimension);
    T* const scaled = inverse.data();  // 1 / (q r); a tiny floor stands for q = 0
    for_each_index(dimension, [=](Index i) BDL_INLINE_LAMBDA {
      scaled[i] = 1 / std::max(noise[i] * d[i] / before[i], std::numeric_limits<T>::min());
    });
    combine_with_root<T>(old.u(), inverse, u, scratch);
  } else {
    copy<T>(old.u(), u);
  }
  const T root = std::sqrt(inflation);
  for (Index k = 0; k < rank_; ++k) {
    T* const column = u.column_data(k);
    for_each_index(dimension, [=](Index i) BDL_INLINE_LAMBDA { column[i] *= root * d[i] / before[i]; });
  }
  factorize(scratch);
}

template class LowRankPosterior<float>;
template class LowRankPosterior<double>;

}  // namespace bdl
