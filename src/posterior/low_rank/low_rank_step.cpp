// Natural-gradient steps of the low-rank family (docs/theory/natural-gradients.md, "The low-rank step
// and its projection"): SLANG's, through products with the curvature rows alone; SLANG-OnlineEig's; and those
// of rank 0. Steps by few rows, as streams take them, are in low_rank_columns.cpp, plain gradients in
// low_rank_descent.cpp.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/profile.hpp"
#include "curvature/rows.hpp"
#include "linalg/tall/low_rank_projection.hpp"
#include "linalg/tall/tall.hpp"
#include "parallel/parallel.hpp"
#include "posterior/diagonal/diagonal_step.hpp"
#include "posterior/low_rank/low_rank.hpp"

namespace bdl {
namespace {

/// A = [sqrt(keep) U, sqrt(w_1) b_1 ... sqrt(w_n) b_n], the factor that a natural step makes of U and
/// curvature rows before its projection to L columns. It is never formed.
template <class T>
class UpdatedFactor final : public Factor<T> {
 public:
  /// Takes its weights from the scratch, where they stay until the caller's frame ends.
  UpdatedFactor(ConstMatrixView<T> u, double keep, Rows<T>& rows, ConstSpan<T> w, Scratch& scratch);
  /// Returns the sizes of its projection to so many columns.
  ProjectionSize size(Index rank) const;

  Index rows() const override { return u_.rows; }
  Index cols() const override { return u_.cols + rows_.count(); }
  void gram(MatrixView<double> out) override;
  void outer(MatrixView<double> out) override;
  void project(ConstMatrixView<T> q, MatrixView<T> out) override;
  void combine(ConstMatrixView<T> w, MatrixView<T> out) override;

 private:
  ConstMatrixView<T> u_;
  double root_keep_;
  Rows<T>& rows_;
  ConstSpan<T> w_;
  std::span<T> root_w_;
  Scratch& scratch_;
};

template <class T>
UpdatedFactor<T>::UpdatedFactor(ConstMatrixView<T> u, double keep, Rows<T>& rows, ConstSpan<T> w,
                                Scratch& scratch)
    : u_(u),
      root_keep_(std::sqrt(keep)),
      rows_(rows),
      w_(w),
      root_w_(scratch.take<T>(rows.count())),
      scratch_(scratch) {
  std::ranges::transform(w_, root_w_.begin(), [](T value) { return std::sqrt(value); });
}

template <class T>
ProjectionSize UpdatedFactor<T>::size(Index rank) const {
  const RowsCost cost = rows_.cost();
  const double u_flops = 2 * static_cast<double>(u_.rows) * static_cast<double>(u_.cols);
  return {u_.rows, u_.cols + cost.count, rank, cost.gram_flops, cost.product_flops + u_flops};
}

template <class T>
void UpdatedFactor<T>::gram(MatrixView<double> out) {
  const StageTimer timer(Stage::gram);
  const Scratch::Frame frame(scratch_);
  const Index rank = u_.cols, n = rows_.count();
  tall_gram<T>(u_, {}, out.block(0, 0, rank, rank), scratch_);
  const auto projected = scratch_.matrix<T>(rank, n);
  rows_.project(u_, projected);
  rows_.gram(out.block(rank, rank, n, n));
  for (Index j = 0; j < rank; ++j) {
    for (Index i = j; i < rank; ++i) out(i, j) *= root_keep_ * root_keep_;
    for (Index r = 0; r < n; ++r)
      out(rank + r, j) = root_keep_ * static_cast<double>(root_w_[static_cast<std::size_t>(r)]) *
                         static_cast<double>(projected(j, r));
  }
  const T* roots = root_w_.data();
  parallel_blocks(n, task_grain(n), [&](Index first, Index count) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      for (Index s = first; s < first + count; ++s) {
        double* column = out.column_data(rank + s) + rank;
        const double root = static_cast<double>(roots[s]);
        for (Index r = s; r < n; ++r) column[r] *= root * static_cast<double>(roots[r]);
      }
    });
  });
}

template <class T>
void UpdatedFactor<T>::outer(MatrixView<double> out) {
  for (Index j = 0; j < out.cols; ++j)
    for (Index i = j; i < out.rows; ++i) {
      double sum = 0;
      for (Index k = 0; k < u_.cols; ++k)
        sum += static_cast<double>(u_(i, k)) * static_cast<double>(u_(j, k));
      out(i, j) = root_keep_ * root_keep_ * sum;
    }
  rows_.add_outer(w_, out);
}

template <class T>
void UpdatedFactor<T>::project(ConstMatrixView<T> q, MatrixView<T> out) {
  const StageTimer timer(Stage::project);
  const Scratch::Frame frame(scratch_);
  const Index rank = u_.cols;
  const auto product = scratch_.matrix<double>(q.cols, rank);
  tall_project<T>(q, u_, {}, Divide::by_d, product, scratch_);
  for (Index j = 0; j < rank; ++j)
    for (Index i = 0; i < q.cols; ++i) out(i, j) = static_cast<T>(root_keep_ * product(i, j));
  const auto rest = out.columns(rank, rows_.count());
  rows_.project(q, rest);
  for (Index r = 0; r < rest.cols; ++r)
    for (T& value : rest.column(r)) value *= root_w_[static_cast<std::size_t>(r)];
}

template <class T>
void UpdatedFactor<T>::combine(ConstMatrixView<T> w, MatrixView<T> out) {
  const StageTimer timer(Stage::combine);
  const Scratch::Frame frame(scratch_);
  const Index rank = u_.cols, n = rows_.count();
  const auto top = scratch_.matrix<T>(rank, w.cols), scaled = scratch_.matrix<T>(n, w.cols);
  const T keep = static_cast<T>(root_keep_);
  for (Index j = 0; j < w.cols; ++j) {
    for (Index i = 0; i < rank; ++i) top(i, j) = keep * w(i, j);
    for (Index r = 0; r < n; ++r) scaled(r, j) = root_w_[static_cast<std::size_t>(r)] * w(rank + r, j);
  }
  rows_.combine(scaled, out);
  tall_combine<T>(u_, top, true, out, scratch_);
}

}  // namespace

template <class T>
double LowRankPosterior<T>::update(const PosteriorStep<T>& step, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const LowRankPosterior& from = as_low_rank(step.from);
  const bool is_projected = step.mean_update == MeanUpdate::projected;
  if (rank_ == 0 && (step.descent == Descent::plain || is_projected))
    return update_diagonal(from, step, scratch);
  if (!step.curvature.rows)
    fail(Status::ERROR_UNSUPPORTED,
         rank_ == 0 ? "an unprojected mean update takes curvature rows, not a Hessian"
                    : "a low-rank posterior takes curvature rows, not a Hessian (curvature \"mc-hess\")");
  if (step.descent == Descent::plain) return descend(from, step, scratch);
  if (step.low_rank_update == LowRankUpdate::moving_average)
    update_by_average(from, step, scratch);
  else if (is_projected && !step.prior)
    update_by_projection(from, step, scratch);
  else
    update_by_columns(from, step, scratch);
  return 1;
}

/// Takes the step of steps/slang.cpp for callers that have a posterior and rows, but no minibatch: streams
/// and Laplace's approximation.
template <class T>
void LowRankPosterior<T>::update_by_projection(const LowRankPosterior& from, const PosteriorStep<T>& step,
                                               Scratch& scratch) {
  const double beta = step.curvature_rate, keep = step.has_kl() ? 1 - beta : 1;
  const ConstSpan<T> w = scaled_weights(step.curvature, beta, scratch);
  fast_eig(from, keep, *step.curvature.rows, w, step.projection, step.random, scratch);
  correct_diagonal(from, keep, beta, *step.curvature.rows, w, step.prior_precision);
  factorize(scratch);
  move_mean(from, step.mean_rate, step.m, scratch);
}

/// Equations (6) and (7): U' = Q_L Lambda_L^1/2, by products with G alone. The randomized method only loses
/// from A A^T, so the diagonal that is lost is not negative.
template <class T>
void LowRankPosterior<T>::fast_eig(const LowRankPosterior& from, double keep, Rows<T>& rows, ConstSpan<T> w,
                                   const ProjectionOptions& options, const StreamKey& random,
                                   Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  UpdatedFactor<T> a(from.u(), keep, rows, w, scratch);
  project_to_low_rank<T>(a, a.size(rank_), options, {from.u(), random}, mutable_u(), scratch);
}

/// Equation (9): Delta = diag((1 - beta) U U^T + beta G G^T - U' U'^T), in the memory of d. Then (10).
template <class T>
void LowRankPosterior<T>::correct_diagonal(const LowRankPosterior& from, double keep, double rate,
                                           Rows<T>& rows, ConstSpan<T> w, ConstSpan<T> prior_precision) {
  const std::span<T> delta = mutable_d();
  rows.sum_squares(w, delta);
  add_row_squares<T>(from.u(), keep, delta);
  add_row_squares<T>(u(), -1, delta);
  add_diagonal(from, keep, rate, prior_precision);
}

/// Equation (10): d' = (1 - beta) d + beta lambda + Delta, where d' holds Delta on entry. Only rounding makes
/// a Delta negative; it counts as 0.
template <class T>
void LowRankPosterior<T>::add_diagonal(const LowRankPosterior& from, double keep, double rate,
                                       ConstSpan<T> prior_precision) {
  const T kept = static_cast<T>(keep), added = static_cast<T>(rate);
  const T *old = from.d().data(), *lambda = prior_precision.data();
  T* const d = d_.data();
  for_each_index(this->dimension_, [=](Index i) BDL_INLINE_LAMBDA {
    d[i] = kept * old[i] + (lambda ? added * lambda[i] : T(0)) + (d[i] < 0 ? T(0) : d[i]);
  });
}

/// Equation (11): mu' = mu - alpha Sigma' m.
template <class T>
void LowRankPosterior<T>::move_mean(const LowRankPosterior& from, double rate, ConstSpan<T> m,
                                    Scratch& scratch) {
  if (m.empty())
    std::ranges::copy(from.mean(), this->mean().begin());
  else
    move_mean_by<T>(*this, from, *this, rate, m, scratch);
}

/// Moves each parameter by itself, for rank 0.
template <class T>
double LowRankPosterior<T>::update_diagonal(const LowRankPosterior& from, const PosteriorStep<T>& step,
                                            Scratch& scratch) {
  const std::span<T> d = mutable_d();
  curvature_diagonal(step.curvature, d);
  const ConstSpan<T> prior = step.at_prior() ? ConstSpan<T>()
                             : step.prior    ? as_low_rank(*step.prior).d()
                                             : step.prior_precision;
  const double fraction =
      update_diagonal_by<T>({DiagonalParameter::precision, step.descent, step.mean_rate, step.curvature_rate,
                             from.mean(), from.d(), step.m, d, prior, step.improves()},
                            step.may_shorten(), this->mean(), d);
  factorize(scratch);
  return fraction;
}

namespace {

/// Returns |x| in double.
template <class T>
double norm(ConstSpan<T> column) {
  double sum = 0;
  for (const T value : column) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

/// Makes U^T V, which `products` holds, cosines between columns. A column of zeros has no direction, and
/// cosine 0.
template <class T>
void scale_to_cosines(ConstMatrixView<T> u, ConstMatrixView<T> v, MatrixView<double> products) {
  for (Index k = 0; k < u.cols; ++k) {
    const double of_u = norm(u.column(k)), of_v = norm(v.column(k));
    for (Index i = 0; i < u.cols; ++i) {
      if (of_u > 0) products(k, i) /= of_u;
      if (of_v > 0) products(i, k) /= of_v;
    }
  }
}

struct Pair {
  Index u, v;
  double cosine;
};

/// Returns the pair of columns with the largest |cosine|, and strikes both out.
Pair strike_nearest(MatrixView<double> cosines) {
  constexpr double struck = std::numeric_limits<double>::quiet_NaN();
  Pair nearest{-1, -1, 0};
  for (Index j = 0; j < cosines.cols; ++j)
    for (Index i = 0; i < cosines.rows; ++i)
      if (nearest.u < 0 ? !std::isnan(cosines(i, j)) : std::abs(cosines(i, j)) > std::abs(nearest.cosine))
        nearest = {i, j, cosines(i, j)};
  if (nearest.u < 0) fail_not_positive("precision");
  for (Index k = 0; k < cosines.rows; ++k) cosines(nearest.u, k) = cosines(k, nearest.v) = struck;
  return nearest;
}

}  // namespace

/// SLANG-OnlineEig (Mishkin et al. 2018, appendix B; docs/theory/natural-gradients.md,
/// "SLANG-OnlineEig"): the factor is a moving average of the eigenpairs V of each curvature alone.
template <class T>
void LowRankPosterior<T>::update_by_average(const LowRankPosterior& from, const PosteriorStep<T>& step,
                                            Scratch& scratch) {
  if (step.prior_precision.empty())
    fail(Status::ERROR_UNSUPPORTED, "option low_rank_update \"moving_average\" is for batches");
  const double rate = step.curvature_rate;
  Rows<T>& rows = *step.curvature.rows;
  const ConstSpan<T> w = scaled_weights(step.curvature, rate, scratch);
  UpdatedFactor<T> a({nullptr, this->dimension_, 0}, 1, rows, w, scratch);
  const auto v = scratch.matrix<T>(this->dimension_, rank_);  // sqrt(beta) Q_L Lambda_L^1/2
  project_to_low_rank<T>(a, a.size(rank_), step.projection, {from.u(), step.random}, v, scratch);
  rows.sum_squares(w, mutable_d());
  add_row_squares<T>(v, -1, mutable_d());
  add_diagonal(from, 1 - rate, rate, step.prior_precision);
  average_columns(from, v, rate, scratch);
  factorize(scratch);
  move_mean(from, step.mean_rate, step.m, scratch);
}

/// U' = (1 - beta) U + sqrt(beta) V. Each column of V is added to the column of U that is nearest to it, with
/// the sign that makes their product positive.
template <class T>
void LowRankPosterior<T>::average_columns(const LowRankPosterior& from, ConstMatrixView<T> v, double rate,
                                          Scratch& scratch) {
  const auto cosines = scratch.matrix<double>(rank_, rank_);
  tall_project<T>(from.u(), v, {}, Divide::by_d, cosines, scratch);
  scale_to_cosines<T>(from.u(), v, cosines);
  const T keep = static_cast<T>(1 - rate);
  for (Index k = 0; k < rank_; ++k) {
    const Pair pair = strike_nearest(cosines);
    const T add = static_cast<T>(std::copysign(std::sqrt(rate), pair.cosine));
    const T *before = from.u().column_data(pair.u), *found = v.column_data(pair.v);
    T* const after = mutable_u().column_data(pair.u);
    for_each_index(this->dimension_,
                   [=](Index i) BDL_INLINE_LAMBDA { after[i] = keep * before[i] + add * found[i]; });
  }
}

template class LowRankPosterior<float>;
template class LowRankPosterior<double>;

}  // namespace bdl
