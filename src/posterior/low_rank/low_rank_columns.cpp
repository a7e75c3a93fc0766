// Natural-gradient steps by few rows, as streams take them, with the rows written out as columns: two passes
// over [U, U_0, X] (docs/theory/natural-gradients.md, "The low-rank step and its projection").
#include <algorithm>
#include <cmath>

#include "linalg/dense/cholesky.hpp"
#include "linalg/eigen/eigenpairs.hpp"
#include "linalg/tall/tall_step.hpp"
#include "parallel/parallel.hpp"
#include "posterior/low_rank/low_rank.hpp"

namespace bdl {
namespace {

/// Bc Bc^T - I for the lower triangular Bc, lower triangle.
void write_product(ConstMatrixView<double> lower, MatrixView<double> out) {
  for (Index j = 0; j < lower.cols; ++j)
    for (Index i = j; i < lower.rows; ++i) {
      double sum = i == j ? -1 : 0;
      for (Index k = 0; k <= j; ++k) sum += lower(i, k) * lower(j, k);
      out(i, j) = sum;
    }
}

}  // namespace

/// Writes the diagonal of the updated precision before the rows: (1 - b) d + b d_0.
template <class T>
void LowRankPosterior<T>::mix_diagonal(const LowRankPosterior& from, const PosteriorStep<T>& step) {
  const T* const old = from.d().data();
  const T* const prior = step.prior ? as_low_rank(*step.prior).d().data() : step.prior_precision.data();
  T* const d = d_.data();
  if (!step.leaves_prior())
    return for_each_index(this->dimension_, [=](Index i) BDL_INLINE_LAMBDA { d[i] = old[i]; });
  const T keep = static_cast<T>(1 - step.curvature_rate), rate = static_cast<T>(step.curvature_rate);
  for_each_index(this->dimension_,
                 [=](Index i) BDL_INLINE_LAMBDA { d[i] = keep * old[i] + rate * prior[i]; });
}

/// Writes the lower triangle of U^T U.
template <class T>
void LowRankPosterior<T>::write_gram(MatrixView<double> gram, Scratch& scratch) const {
  if (!has_gram_) return tall_gram<T>(u(), {}, gram, scratch);
  for (Index j = 0; j < rank_; ++j) std::copy_n(gram_.data() + j * rank_, rank_, gram.column_data(j));
}

/// Writes tall_grams for A = [U, X] with what is known of U: one thin pass.
template <class T>
void LowRankPosterior<T>::write_known_grams(ConstMatrixView<T> x, ConstSpan<T> m, MatrixView<double> gram,
                                            MatrixView<double> weighted, std::span<double> projected,
                                            Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const Index cols = rank_ + x.cols;
  const auto plain = scratch.matrix<double>(cols, x.cols), divided = scratch.matrix<double>(cols, x.cols + 1);
  tall_cross<T>(u(), x, d(), m, plain, divided, scratch);
  write_gram(gram.block(0, 0, rank_, rank_), scratch);
  write_product(core(), weighted);
  for (Index j = 0; j < rank_; ++j)
    for (Index r = 0; r < x.cols; ++r) {
      gram(rank_ + r, j) = plain(j, r);
      weighted(rank_ + r, j) = divided(j, r);
    }
  for (Index r = 0; r < x.cols; ++r)
    for (Index i = rank_ + r; i < cols; ++i) {
      gram(i, rank_ + r) = plain(i, r);
      weighted(i, rank_ + r) = divided(i, r);
    }
  std::ranges::copy(divided.column(x.cols), projected.begin());
}

/// The first pass gives the mean's step by the precision before the projection too.
template <class T>
void LowRankPosterior<T>::update_by_columns(const LowRankPosterior& from, const PosteriorStep<T>& step,
                                            Scratch& scratch) {
  const bool is_mixed = step.leaves_prior();
  const double rate = step.curvature_rate, keep = is_mixed ? 1 - rate : 1;
  const ConstMatrixView<T> prior = is_mixed && step.prior ? as_low_rank(*step.prior).u()
                                                          : ConstMatrixView<T>(nullptr, this->dimension_, 0);
  const auto x = scratch.matrix<T>(this->dimension_, step.curvature.rows->count());
  write_curvature_columns(step.curvature, rate, x, scratch);
  const TallColumns<T> a{{{from.u(), std::sqrt(keep)}, {prior, std::sqrt(rate)}, {x, 1.0}}};
  mix_diagonal(from, step);
  const Index cols = a.cols();
  const auto gram = scratch.matrix<double>(cols, cols), weighted = scratch.matrix<double>(cols, cols),
             c = scratch.matrix<double>(cols, rank_ + 1), core = scratch.matrix<double>(rank_, rank_);
  if (is_mixed)
    tall_grams<T>(a, d(), step.m, gram, weighted, c.column(rank_), scratch);
  else
    from.write_known_grams(x, step.m, gram, weighted, c.column(rank_), scratch);
  for (Index i = 0; i < cols; ++i) weighted(i, i) += 1;
  if (!cholesky(weighted)) fail_not_positive("precision");
  cholesky_solve(weighted, c.columns(rank_, 1));
  const TallUpdate<T> to{mutable_u(), mutable_d(), step.m, this->mean(), gram_.matrix(rank_, rank_), core};
  // Where one direction is lost, it is cheaper to know that one than those that stay.
  const bool drops = cols == rank_ + 1 && rank_ > 0 && cols <= most_dropping_columns;
  const Index count = rank_ > 0 ? (drops ? cols : rank_) : 0;
  const auto vectors = largest_positive_pairs(gram, count, 1e-12, scratch).vectors;
  for (Index k = 0; k < rank_; ++k) std::ranges::copy(vectors.column(k), c.column_data(k));
  if (drops)
    tall_drop<T>(a, vectors.column(rank_), c.column(rank_), to, scratch);
  else
    tall_rotate<T>(a, c, to, scratch);
  if (!woodbury_.factorize(core, d())) fail_not_positive("precision");
  has_gram_ = true;
  if (step.mean_update == MeanUpdate::projected) return move_mean(from, step.mean_rate, step.m, scratch);
  const T *old = from.mean().data(), length = static_cast<T>(step.mean_rate);
  T* const mean = this->mean().data();
  for_each_index(this->dimension_, [=](Index i) BDL_INLINE_LAMBDA { mean[i] = old[i] - length * mean[i]; });
}

template class LowRankPosterior<float>;
template class LowRankPosterior<double>;

}  // namespace bdl
