#include "posterior/low_rank_moment/low_rank_moment.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/profile.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

constexpr Index most_columns = 8;  // columns that share a pass over W; each is computed as if it were alone

[[noreturn]] void fail_covariance() {
  fail(Status::ERROR_DIVERGED, "the posterior covariance is not finite and positive definite");
}

/// visit(first, count) for groups of columns.
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
  return dynamic_cast<const LowRankMomentPosterior<T>&>(q);
}

template <class T>
LowRankMomentPosterior<T>::LowRankMomentPosterior(Index dimension, Index rank)
    : Posterior<T>(dimension), rank_(rank), w_(dimension * rank), s_(dimension) {
  set_isotropic(1);
}

template <class T>
void LowRankMomentPosterior<T>::factorize(TallScratch& scratch) {
  const StageTimer timer(Stage::solve);
  if (!inverse_.factorize(std::as_const(*this).w(), std::as_const(*this).s(), scratch)) fail_covariance();
}

template <class T>
void LowRankMomentPosterior<T>::set_covariance(ConstMatrixView<T> w, ConstSpan<T> s) {
  std::ranges::copy(s, s_.data());
  std::fill_n(w_.data(), this->dimension_ * rank_, T(0));
  for (Index k = 0; k < w.cols; ++k) std::ranges::copy(w.column(k), this->w().column_data(k));
  TallScratch scratch;
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
  auto& that = dynamic_cast<LowRankMomentPosterior&>(other);
  this->swap_base(that);
  w_.swap(that.w_);
  s_.swap(that.s_);
  std::swap(inverse_, that.inverse_);
}

template <class T>
Index LowRankMomentPosterior<T>::bytes() const {
  return Posterior<T>::bytes() + w_.bytes() + s_.bytes() + inverse_.bytes();
}

template <class T>
void LowRankMomentPosterior<T>::tensors(const TensorVisitor<T>& visit) {
  this->visit_mean(visit);
  visit(matrix_tensor<T>("low_rank", w()));
  visit(vector_tensor<T>("diagonal", TensorRole::positive, s()));
}

template <class T>
void LowRankMomentPosterior<T>::accept_tensors() {
  TallScratch scratch;
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
void LowRankMomentPosterior<T>::set_diagonal(ConstSpan<T> precision,
                                             std::optional<std::uint64_t> spread_seed) {
  const bool spread = spread_seed && rank_ > 0;
  const double share = spread ? 0.1 : 0;
  std::fill_n(w_.data(), this->dimension_ * rank_, T(0));
  std::ranges::transform(precision, s_.data(), [share](T p) { return static_cast<T>(1 - share) / p; });
  for (Index k = 0; spread && k < rank_; ++k) {
    const auto column = w().column(k);
    fill_uniform({*spread_seed, Stream::initialization, 1, static_cast<std::uint32_t>(k)}, 0, column, T(-1),
                 T(1));
    std::ranges::transform(column, precision, column.begin(), [&](T sign, T p) {
      const T size = std::sqrt(static_cast<T>(share / static_cast<double>(rank_)) / p);
      return sign < 0 ? -size : size;
    });
  }
  accept_tensors();
}

template <class T>
void LowRankMomentPosterior<T>::reserve_drift(bool, UpdateWorkspace<T>& workspace) const {
  workspace.scratch.tall.reserve(this->dimension_, rank_, 0);
}

/// W <- sqrt(inflation) W, s <- inflation s + noise.
template <class T>
void LowRankMomentPosterior<T>::drift(const Posterior<T>& from, const Drift<T>& drift,
                                      UpdateWorkspace<T>& workspace) {
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
  factorize(workspace.scratch.tall);
}

template <class T>
void LowRankMomentPosterior<T>::reserve(Index columns, PosteriorScratch<T>& scratch) const {
  inverse_.reserve_scratch(this->dimension_, columns, scratch.tall, scratch.small);
  scratch.coefficients.reserve(rank_ * columns);
}

/// X = diag(s) X + W (W^T X).
template <class T>
void LowRankMomentPosterior<T>::solve(MatrixView<T> x, PosteriorScratch<T>& scratch) const {
  const StageTimer timer(Stage::solve);
  reserve(x.cols, scratch);
  const T* const s = s_.data();
  for_columns(x.cols, [&](Index first, Index count) {
    const MatrixView<T> some = x.columns(first, count);
    const MatrixView<double> projected = scratch.small.matrix(rank_, count);
    const MatrixView<T> coefficients = scratch.coefficients.matrix(rank_, count);
    tall_project<T>(w(), some, {}, Divide::by_d, projected, scratch.tall);
    std::transform(projected.data, projected.data + projected.size(), coefficients.data,
                   [](double value) { return static_cast<T>(value); });
    for (Index j = 0; j < count; ++j) {
      T* const column = some.column_data(j);
      for_each_index(some.rows, [=](Index i) BDL_INLINE_LAMBDA { column[i] *= s[i]; });
    }
    tall_combine<T>(w(), coefficients, true, some, scratch.tall);
  });
}

template <class T>
void LowRankMomentPosterior<T>::color(ConstSpan<T> mean, MatrixView<T> eps, ConstMatrixView<T> more,
                                      PosteriorScratch<T>& scratch) const {
  const T *s = s_.data(), *centre = mean.data();
  for_columns(eps.cols, [&](Index first, Index count) {
    for (Index j = first; j < first + count; ++j) {
      T* const column = eps.column_data(j);
      for_each_index(eps.rows, [=](Index i) BDL_INLINE_LAMBDA {
        column[i] = (centre ? centre[i] : T(0)) + std::sqrt(s[i]) * column[i];
      });
    }
    tall_combine<T>(w(), more.columns(first, count), true, eps.columns(first, count), scratch.tall);
  });
}

/// sum s x^2 + |W^T x|^2.
template <class T>
void LowRankMomentPosterior<T>::variances(MatrixView<T> x, std::span<double> out,
                                          PosteriorScratch<T>& scratch) const {
  const StageTimer timer(Stage::solve);
  reserve(x.cols, scratch);
  for_columns(x.cols, [&](Index first, Index count) {
    const MatrixView<double> projected = scratch.small.matrix(rank_, count);
    tall_project<T>(w(), x.columns(first, count), {}, Divide::by_d, projected, scratch.tall);
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
void LowRankMomentPosterior<T>::marginal_variance(std::span<T> out, PosteriorScratch<T>&) const {
  std::ranges::copy(s(), out.begin());
  add_row_squares<T>(w(), 1, out);
}

/// (1 - h) / s.
template <class T>
void LowRankMomentPosterior<T>::precision_diagonal(std::span<T> out) const {
  TallScratch scratch;
  inverse_.marginal_variance(w(), s(), out, scratch);
}

template <class T>
void LowRankMomentPosterior<T>::multiply_precision(ConstSpan<T> x, std::span<T> out,
                                                   PosteriorScratch<T>& scratch) const {
  std::ranges::copy(x, out.begin());
  inverse_.solve(w(), s(), {out.data(), this->dimension_, 1}, scratch.tall, scratch.small);
}

/// x^T Sigma^-1 x of one column, which is overwritten; a sum of squares.
template <class T>
double LowRankMomentPosterior<T>::quadratic_of(MatrixView<T> x, PosteriorScratch<T>& scratch) const {
  double sum = 0;
  inverse_.variances(w(), s(), x, {&sum, 1}, scratch.tall, scratch.small);
  return sum;
}

template <class T>
double LowRankMomentPosterior<T>::quadratic(ConstSpan<T> x, PosteriorScratch<T>& scratch) const {
  Buffer<T> copy(this->dimension_);
  std::ranges::copy(x, copy.data());
  return quadratic_of(copy.matrix(this->dimension_, 1), scratch);
}

/// With q's Sigma = F F^T, the sum of the quadratic forms of F's columns: sums of squares. diag(s_q) and W_q
/// are such columns where q is of this family, the diagonal ones together in O(D K).
template <class T>
double LowRankMomentPosterior<T>::trace_precision(const Posterior<T>& q, PosteriorScratch<T>& scratch) const {
  const Index dimension = this->dimension_;
  const auto* const same = dynamic_cast<const LowRankMomentPosterior*>(&q);
  double trace = 0;
  Buffer<T> work(dimension), more(q.factor_normals());
  const MatrixView<T> column = work.matrix(dimension, 1);
  if (same || q.is_diagonal()) {
    Buffer<T> variance(dimension);
    same ? static_cast<void>(std::ranges::copy(same->s(), variance.data()))
         : q.marginal_variance(variance.first(dimension), scratch);
    precision_diagonal(column.column(0));
    for (Index i = 0; i < dimension; ++i)
      trace += static_cast<double>(work.data()[i]) * static_cast<double>(variance.data()[i]);
  }
  for (Index k = 0; same && k < same->rank(); ++k) {
    std::ranges::copy(same->w().column(k), work.data());
    trace += quadratic_of(column, scratch);
  }
  if (same || q.is_diagonal()) return trace;
  const Index normals = dimension + q.factor_normals();
  for (Index j = 0; j < normals; ++j) {
    std::fill_n(work.data(), dimension, T(0));
    std::fill_n(more.data(), q.factor_normals(), T(0));
    (j < dimension ? work.data()[j] : more.data()[j - dimension]) = 1;
    q.reserve(1, scratch);
    q.color({}, column, more.matrix(q.factor_normals(), 1), scratch);
    trace += quadratic_of(column, scratch);
  }
  return trace;
}

template <class T>
double LowRankMomentPosterior<T>::take(const PosteriorStep<T>&, UpdateWorkspace<T>&) {
  fail(Status::ERROR_UNSUPPORTED, "a low-rank-moment posterior has no natural-gradient steps");
}

template const LowRankMomentPosterior<float>& as_low_rank_moment(const Posterior<float>&);
template const LowRankMomentPosterior<double>& as_low_rank_moment(const Posterior<double>&);
template class LowRankMomentPosterior<float>;
template class LowRankMomentPosterior<double>;

}  // namespace bdl
