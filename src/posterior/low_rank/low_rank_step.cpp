// Natural-gradient steps of the low-rank family (docs/mathematics/natural-gradients.md, "The low-rank step
// and its projection"): SLANG's, through products with the curvature rows alone; SLANG-OnlineEig's; and those
// of rank 0. Steps by few rows, as streams take them, are in low_rank_columns.cpp, plain gradients in
// low_rank_descent.cpp.
#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/tall/tall.hpp"
#include "parallel/parallel.hpp"
#include "posterior/diagonal/diagonal_step.hpp"
#include "posterior/low_rank/low_rank.hpp"
#include "posterior/low_rank/updated_factor.hpp"

namespace bdl {

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

/// One step of SLANG, with beta = rate, from the evidence's rows G = [b_1 ... b_n] in the place of the
/// gradients.
template <class T>
void LowRankPosterior<T>::update_by_projection(const LowRankPosterior& from, const PosteriorStep<T>& step,
                                               Scratch& scratch) {
  const double rate = step.curvature_rate, keep = step.has_kl() ? 1 - rate : 1;
  const ConstSpan<T> w = scaled_weights(step.curvature, rate, scratch);
  project(from, keep, *step.curvature.rows, w, step.projection, step.random, scratch);
  correct_diagonal(from, keep, rate, step.prior_precision);
  factorize(scratch);
  move_mean(from, step.mean_rate, step.m, scratch);
}

/// U = fast_eig((1 - beta) U U^T + beta G G^T, L), by products with G alone. With the randomized method U U^T
/// is never more than what it stands for, so that Delta >= 0.
template <class T>
void LowRankPosterior<T>::project(const LowRankPosterior& from, double keep, Rows<T>& rows, ConstSpan<T> w,
                                  const ProjectionOptions& options, const StreamKey& random,
                                  Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  UpdatedFactor<T> a(from.u(), keep, rows, w, scratch);
  project_to_low_rank<T>(a, a.size(rank_), options, {from.u(), random}, mutable_u(), scratch);
  const std::span<T> delta = mutable_d();  // diag(A A^T - U U^T)
  rows.sum_squares(w, delta);
  add_row_squares<T>(from.u(), keep, delta);
  add_row_squares<T>(u(), -1, delta);
}

/// d = (1 - beta) d + beta lambda + Delta, where only rounding makes a Delta negative.
template <class T>
void LowRankPosterior<T>::correct_diagonal(const LowRankPosterior& from, double keep, double rate,
                                           ConstSpan<T> prior_precision) {
  const T kept = static_cast<T>(keep), added = static_cast<T>(rate);
  const T *old = from.d().data(), *lambda = prior_precision.data();
  T* const d = d_.data();
  for_each_index(this->dimension_, [=](Index i) BDL_INLINE_LAMBDA {
    d[i] = kept * old[i] + (lambda ? added * lambda[i] : T(0)) + (d[i] < 0 ? T(0) : d[i]);
  });
}

/// mu = mu - alpha Sigma m.
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

/// SLANG-OnlineEig (Mishkin et al. 2018, appendix B; docs/mathematics/natural-gradients.md,
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
  const auto v = scratch.matrix<T>(this->dimension_, rank_);  // sqrt(b) Q_L Lambda_L^1/2
  project_to_low_rank<T>(a, a.size(rank_), step.projection, {from.u(), step.random}, v, scratch);
  rows.sum_squares(w, mutable_d());
  add_row_squares<T>(v, -1, mutable_d());
  correct_diagonal(from, 1 - rate, rate, step.prior_precision);
  average_columns(from, v, rate, scratch);
  factorize(scratch);
  move_mean(from, step.mean_rate, step.m, scratch);
}

/// U' = (1 - b) U + sqrt(b) V, each column of V beside the one of U that it is nearest to, its sign turned;
/// the diagonal has what the eigenpairs leave of the curvature's.
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
