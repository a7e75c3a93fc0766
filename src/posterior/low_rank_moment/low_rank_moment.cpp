#include "posterior/low_rank_moment/low_rank_moment.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/profile.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

// Number of columns that share a pass over W; each is computed as if it were alone.
constexpr Index most_columns = 8;

/// Calls visit(first, count) for groups of columns.
template <class Visit>
void for_columns(Index columns, Visit&& visit) {
  for (Index first = 0; first < columns; first += most_columns)
    visit(first, std::min(most_columns, columns - first));
}

}  // namespace

template <class T>
const LowRankMomentPosterior<T>& as_low_rank_moment(const Posterior<T>& q) {
  if (q.family() != Family::low_rank_moment)
    fail(Status::ERROR_UNSUPPORTED, "the posterior is not of the low-rank-moment family");
  return static_cast<const LowRankMomentPosterior<T>&>(q);
}

template <class T>
LowRankMomentPosterior<T>::LowRankMomentPosterior(Index dimension, Index rank)
    : Posterior<T>(dimension), rank_(rank), w_(dimension * rank), s_(dimension) {
  set_isotropic(1);
}

template <class T>
void LowRankMomentPosterior<T>::factorize(Scratch& scratch) {
  const StageTimer timer(Stage::solve);
  if (!inverse_.factorize(std::as_const(*this).w(), std::as_const(*this).s(), scratch))
    fail_not_positive("covariance");
}

template <class T>
void LowRankMomentPosterior<T>::set_covariance(ConstMatrixView<T> w, ConstSpan<T> s) {
  std::ranges::copy(s, s_.data());
  std::fill_n(w_.data(), this->dimension_ * rank_, T(0));
  for (Index k = 0; k < w.cols; ++k) std::ranges::copy(w.column(k), this->w().column_data(k));
  Scratch scratch;
  factorize(scratch);
}

template <class T>
std::unique_ptr<Posterior<T>> LowRankMomentPosterior<T>::clone() const {
  auto copy = std::make_unique<LowRankMomentPosterior>(this->dimension_, rank_);
  copy->assign(*this);
  return copy;
}

template <class T>
void LowRankMomentPosterior<T>::assign(const Posterior<T>& other) {
  const LowRankMomentPosterior& that = as_low_rank_moment(other);
  this->copy_base(that);
  std::copy_n(that.w_.data(), this->dimension_ * rank_, w_.data());
  std::ranges::copy(that.s(), s_.data());
  inverse_.copy(that.inverse_);
}

template <class T>
void LowRankMomentPosterior<T>::swap(Posterior<T>& other) {
  auto& that = static_cast<LowRankMomentPosterior&>(other);
  this->swap_base(that);
  w_.swap(that.w_);
  s_.swap(that.s_);
  std::swap(inverse_, that.inverse_);
}

template <class T>
void LowRankMomentPosterior<T>::tensors(const TensorVisitor<T>& visit) {
  this->visit_mean(visit);
  visit(matrix_tensor<T>("low_rank", w()));
  visit(vector_tensor<T>("diagonal", TensorRole::positive, s()));
}

template <class T>
void LowRankMomentPosterior<T>::accept_tensors() {
  Scratch scratch;
  factorize(scratch);
}

template <class T>
void LowRankMomentPosterior<T>::set_isotropic(double precision) {
  std::fill_n(w_.data(), this->dimension_ * rank_, T(0));
  std::fill_n(s_.data(), this->dimension_, static_cast<T>(1 / precision));
  static_cast<void>(inverse_.set_diagonal(rank_, std::as_const(*this).s()));
}

/// W = +-sqrt(0.1 v / K) and s = 0.9 v for the variances v, or W = 0 and s = v.
template <class T>
void LowRankMomentPosterior<T>::set_diagonal(ConstSpan<T> precision, std::optional<std::uint64_t> sign_seed) {
  const bool has_signs = sign_seed && rank_ > 0;
  const double fraction = has_signs ? 0.1 : 0;
  std::fill_n(w_.data(), this->dimension_ * rank_, T(0));
  std::ranges::transform(precision, s_.data(), [=](T p) { return static_cast<T>(1 - fraction) / p; });
  for (Index k = 0; has_signs && k < rank_; ++k) {
    const auto column = w().column(k);
    fill_uniform({*sign_seed, Stream::initialization, 1, static_cast<std::uint32_t>(k)}, 0, column, T(-1),
                 T(1));
    std::ranges::transform(column, precision, column.begin(), [&](T sign, T p) {
      const T size = std::sqrt(static_cast<T>(fraction / static_cast<double>(rank_)) / p);
      return sign < 0 ? -size : size;
    });
  }
  accept_tensors();
}

/// W <- sqrt(inflation) W, s <- inflation s + noise.
template <class T>
void LowRankMomentPosterior<T>::drift(const Posterior<T>& from, const Drift<T>& drift, Scratch& scratch) {
  const LowRankMomentPosterior& old = as_low_rank_moment(from);
  const T *before = old.s().data(), *noise = drift.noise.data(), *mean = old.mean().data(), *w = old.w().data;
  const T inflation = static_cast<T>(drift.inflation), transition = static_cast<T>(drift.transition),
          root = static_cast<T>(std::sqrt(drift.inflation));
  T *to_w = w_.data(), *to_s = s_.data(), *to = this->mean().data();
  for_each_index(this->dimension_ * rank_, [=](Index i) BDL_INLINE_LAMBDA { to_w[i] = root * w[i]; });
  for_each_index(this->dimension_, [=](Index i) BDL_INLINE_LAMBDA {
    to_s[i] = inflation * before[i] + (noise ? noise[i] : T(0));
    to[i] = transition * mean[i];
  });
  factorize(scratch);
}

/// X = diag(s) X + W (W^T X).
template <class T>
void LowRankMomentPosterior<T>::solve(MatrixView<T> x, Scratch& scratch) const {
  const StageTimer timer(Stage::solve);
  const T* const s = s_.data();
  for_columns(x.cols, [&](Index first, Index count) {
    const Scratch::Frame frame(scratch);
    const MatrixView<T> some = x.columns(first, count);
    const auto projected = scratch.matrix<double>(rank_, count);
    const auto coefficients = scratch.matrix<T>(rank_, count);
    tall_project<T>(w(), some, {}, Divide::by_d, projected, scratch);
    std::transform(projected.data, projected.data + projected.size(), coefficients.data,
                   [](double value) { return static_cast<T>(value); });
    for (Index j = 0; j < count; ++j) {
      T* const column = some.column_data(j);
      for_each_index(some.rows, [=](Index i) BDL_INLINE_LAMBDA { column[i] *= s[i]; });
    }
    tall_combine<T>(w(), coefficients, true, some, scratch);
  });
}

template <class T>
void LowRankMomentPosterior<T>::color(ConstSpan<T> mean, MatrixView<T> eps, ConstMatrixView<T> more,
                                      Scratch& scratch) const {
  const T *s = s_.data(), *centre = mean.data();
  for_columns(eps.cols, [&](Index first, Index count) {
    for (Index j = first; j < first + count; ++j) {
      T* const column = eps.column_data(j);
      for_each_index(eps.rows, [=](Index i) BDL_INLINE_LAMBDA {
        column[i] = (centre ? centre[i] : T(0)) + std::sqrt(s[i]) * column[i];
      });
    }
    tall_combine<T>(w(), more.columns(first, count), true, eps.columns(first, count), scratch);
  });
}

/// sum s x^2 + |W^T x|^2.
template <class T>
void LowRankMomentPosterior<T>::variances(MatrixView<T> x, std::span<double> out, Scratch& scratch) const {
  const StageTimer timer(Stage::solve);
  for_columns(x.cols, [&](Index first, Index count) {
    const Scratch::Frame frame(scratch);
    const auto projected = scratch.matrix<double>(rank_, count);
    tall_project<T>(w(), x.columns(first, count), {}, Divide::by_d, projected, scratch);
    for (Index j = 0; j < count; ++j) {
      double sum = 0;
      for (const double value : projected.column(j)) sum += value * value;
      for (Index i = 0; i < x.rows; ++i) {
        const auto value = static_cast<double>(x(i, first + j));
        sum += static_cast<double>(s_.data()[i]) * value * value;
      }
      out[static_cast<std::size_t>(first + j)] = sum;
    }
  });
}

template <class T>
void LowRankMomentPosterior<T>::marginal_variance(std::span<T> out, Scratch&) const {
  std::ranges::copy(s(), out.begin());
  add_row_squares<T>(w(), 1, out);
}

/// out = (1 - h) / s.
template <class T>
void LowRankMomentPosterior<T>::precision_diagonal(std::span<T> out) const {
  Scratch scratch;
  inverse_.marginal_variance(w(), s(), out, scratch);
}

template <class T>
void LowRankMomentPosterior<T>::multiply_precision(ConstSpan<T> x, std::span<T> out, Scratch& scratch) const {
  std::ranges::copy(x, out.begin());
  inverse_.solve(w(), s(), {out.data(), this->dimension_, 1}, scratch);
}

/// Returns x^T Sigma^-1 x of one column, which is overwritten; a sum of squares.
template <class T>
double LowRankMomentPosterior<T>::quadratic_of(MatrixView<T> x, Scratch& scratch) const {
  double sum = 0;
  inverse_.variances(w(), s(), x, {&sum, 1}, scratch);
  return sum;
}

template <class T>
double LowRankMomentPosterior<T>::quadratic(ConstSpan<T> x, Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const auto copy = scratch.matrix<T>(this->dimension_, 1);
  std::ranges::copy(x, copy.data);
  return quadratic_of(copy, scratch);
}

/// The sum of the quadratic forms of F's columns, sums of squares, for q's Sigma = F F^T. diag(s_q) and W_q
/// are such columns where q is of this family, the diagonal ones together in O(D K).
template <class T>
double LowRankMomentPosterior<T>::trace_precision(const Posterior<T>& q, Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const Index dimension = this->dimension_, normals = q.factor_normals();
  const auto* const same = q.family() == this->family() ? &as_low_rank_moment(q) : nullptr;
  double trace = 0;
  const auto column = scratch.matrix<T>(dimension, 1), more = scratch.matrix<T>(normals, 1);
  if (same || q.is_diagonal()) {
    const auto variance = scratch.take<T>(dimension);
    same ? static_cast<void>(std::ranges::copy(same->s(), variance.begin()))
         : q.marginal_variance(variance, scratch);
    precision_diagonal(column.column(0));
    for (Index i = 0; i < dimension; ++i)
      trace += static_cast<double>(column(i, 0)) * static_cast<double>(variance[at(i)]);
  }
  for (Index k = 0; same && k < same->rank(); ++k) {
    std::ranges::copy(same->w().column(k), column.data);
    trace += quadratic_of(column, scratch);
  }
  if (same || q.is_diagonal()) return trace;
  for (Index j = 0; j < dimension + normals; ++j) {
    std::ranges::fill(column.column(0), T(0));
    std::ranges::fill(more.column(0), T(0));
    (j < dimension ? column(j, 0) : more(j - dimension, 0)) = 1;
    q.color({}, column, more, scratch);
    trace += quadratic_of(column, scratch);
  }
  return trace;
}

template <class T>
double LowRankMomentPosterior<T>::update(const PosteriorStep<T>&, Scratch&) {
  fail(Status::ERROR_UNSUPPORTED, "a low-rank-moment posterior has no natural-gradient steps");
}

template <class T>
void kl_gradient_from(const LowRankMomentPosterior<T>& q, Index first, ConstSpan<T> prior_mean,
                      ConstSpan<T> prior_precision, const LowRankMomentGradient<T>& out, Scratch& scratch) {
  const Index count = std::ssize(prior_precision);
  const ConstMatrixView<T> w_rows = q.w().block(first, 0, count, q.rank());
  const T *lambda = prior_precision.data(), *mean = q.mean().data() + first, *prior = prior_mean.data(),
          *s = q.s().data() + first;
  if (!out.mean.empty()) {
    T* const to = out.mean.data();
    for_each_index(
        count, [=](Index i) BDL_INLINE_LAMBDA { to[i] = lambda[i] * (mean[i] - (prior ? prior[i] : T(0))); });
  }
  tall_ridge<T>(w_rows, {s, at(count)}, q.core(), out.low_rank, out.log_sigma, scratch);
  for (Index k = 0; k < out.low_rank.cols; ++k) {
    T* const to = out.low_rank.column_data(k);
    const T* const w = w_rows.column_data(k);
    for_each_index(count, [=](Index i) BDL_INLINE_LAMBDA { to[i] = lambda[i] * w[i] - to[i]; });
  }
  if (!out.log_sigma.empty()) {
    T* const to = out.log_sigma.data();
    for_each_index(count, [=](Index i) BDL_INLINE_LAMBDA { to[i] = lambda[i] * s[i] - to[i]; });
  }
}

template <class T>
void kl_gradient(const LowRankMomentPosterior<T>& q, ConstSpan<T> prior_mean, ConstSpan<T> prior_precision,
                 const LowRankMomentGradient<T>& out, Scratch& scratch) {
  kl_gradient_from(q, 0, prior_mean, prior_precision, out, scratch);
}

#define BDL_INSTANTIATE(T)                                                                            \
  template class LowRankMomentPosterior<T>;                                                           \
  template const LowRankMomentPosterior<T>& as_low_rank_moment(const Posterior<T>&);                  \
  template void kl_gradient(const LowRankMomentPosterior<T>&, ConstSpan<T>, ConstSpan<T>,             \
                            const LowRankMomentGradient<T>&, Scratch&);                               \
  template void kl_gradient_from(const LowRankMomentPosterior<T>&, Index, ConstSpan<T>, ConstSpan<T>, \
                                 const LowRankMomentGradient<T>&, Scratch&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
