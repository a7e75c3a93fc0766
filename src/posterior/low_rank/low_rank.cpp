#include "posterior/low_rank/low_rank.hpp"

#include <algorithm>
#include <cmath>

#include "base/profile.hpp"
#include "linalg/tall/tall.hpp"
#include "parallel/parallel.hpp"

namespace bdl {

template <class T>
LowRankPosterior<T>::LowRankPosterior(Index dimension, Index rank)
    : Posterior<T>(dimension), rank_(rank), u_(dimension * rank), d_(dimension), gram_(rank * rank) {
  // A parallel loop, which asks the interrupt: the system hands out large memory as it is written.
  T* const u = u_.data();
  for_each_index(dimension * rank, [=](Index i) BDL_INLINE_LAMBDA { u[i] = 0; });
  set_diagonal_precision(1);
}

template <class T>
void LowRankPosterior<T>::set_precision(ConstMatrixView<T> u, ConstSpan<T> d) {
  std::ranges::copy(d, d_.data());
  std::fill_n(u_.data(), this->dimension_ * rank_, T(0));
  for (Index k = 0; k < u.cols; ++k) std::ranges::copy(u.column(k), mutable_u().column_data(k));
  Scratch scratch;
  factorize(scratch);
}

template <class T>
void LowRankPosterior<T>::factorize(Scratch& scratch) {
  const StageTimer timer(Stage::solve);
  has_gram_ = false;
  if (!woodbury_.factorize(u(), d(), scratch)) fail_not_positive("precision");
}

template <class T>
std::unique_ptr<Posterior<T>> LowRankPosterior<T>::clone() const {
  auto copy = std::make_unique<LowRankPosterior>(this->dimension_, rank_);
  copy->assign(*this);
  return copy;
}

template <class T>
void LowRankPosterior<T>::assign(const Posterior<T>& other) {
  const LowRankPosterior& that = as_low_rank(other);
  this->copy_base(that);
  std::copy_n(that.u_.data(), this->dimension_ * rank_, u_.data());
  std::copy_n(that.d_.data(), this->dimension_, d_.data());
  woodbury_.copy(that.woodbury_);
  has_gram_ = false;
}

template <class T>
void LowRankPosterior<T>::swap(Posterior<T>& other) {
  auto& that = static_cast<LowRankPosterior&>(other);
  this->swap_base(that);
  u_.swap(that.u_);
  d_.swap(that.d_);
  std::swap(woodbury_, that.woodbury_);
  gram_.swap(that.gram_);
  std::swap(has_gram_, that.has_gram_);
}

template <class T>
void LowRankPosterior<T>::tensors(const TensorVisitor<T>& visit) {
  this->visit_mean(visit);
  visit(matrix_tensor<T>("low_rank", mutable_u()));
  visit(vector_tensor<T>("diagonal", TensorRole::positive, mutable_d()));
}

template <class T>
void LowRankPosterior<T>::accept_tensors() {
  Scratch scratch;
  factorize(scratch);
}

template <class T>
void LowRankPosterior<T>::set_isotropic(double precision) {
  std::fill_n(u_.data(), this->dimension_ * rank_, T(0));
  set_diagonal_precision(precision);
}

/// Sets d, for a U of zeros.
template <class T>
void LowRankPosterior<T>::set_diagonal_precision(double precision) {
  std::fill_n(d_.data(), this->dimension_, static_cast<T>(precision));
  has_gram_ = false;
  static_cast<void>(woodbury_.set_diagonal(rank_, d()));
}

template <class T>
void LowRankPosterior<T>::solve(MatrixView<T> x, Scratch& scratch) const {
  const StageTimer timer(Stage::solve);
  woodbury_.solve(u(), d(), x, scratch);
}

template <class T>
void LowRankPosterior<T>::variances(MatrixView<T> x, std::span<double> out, Scratch& scratch) const {
  const StageTimer timer(Stage::solve);
  woodbury_.variances(u(), d(), x, out, scratch);
}

template <class T>
void LowRankPosterior<T>::color(ConstSpan<T> mean, MatrixView<T> eps, ConstMatrixView<T>,
                                Scratch& scratch) const {
  woodbury_.color(u(), d(), mean, eps, scratch);
}

/// U = +-sqrt(0.1 precision / L) and d = 0.9 precision, or U = 0 and d = precision.
template <class T>
void LowRankPosterior<T>::set_diagonal(ConstSpan<T> precision, std::optional<std::uint64_t> sign_seed) {
  const bool has_signs = sign_seed && rank_ > 0;
  const double fraction = has_signs ? 0.1 : 0;
  std::fill_n(u_.data(), this->dimension_ * rank_, T(0));
  std::ranges::transform(precision, d_.data(), [=](T p) { return static_cast<T>(1 - fraction) * p; });
  if (!has_signs) {
    has_gram_ = false;
    if (!woodbury_.set_diagonal(rank_, d())) fail_not_positive("precision");
    return;
  }
  for (Index k = 0; k < rank_; ++k) {
    const auto column = mutable_u().column(k);
    fill_uniform({*sign_seed, Stream::initialization, 1, static_cast<std::uint32_t>(k)}, 0, column, T(-1),
                 T(1));
    std::ranges::transform(column, precision, column.begin(), [&](T sign, T p) {
      const T size = std::sqrt(static_cast<T>(fraction / static_cast<double>(rank_)) * p);
      return sign < 0 ? -size : size;
    });
  }
  Scratch scratch;
  factorize(scratch);
}

template <class T>
void LowRankPosterior<T>::marginal_variance(std::span<T> out, Scratch& scratch) const {
  woodbury_.marginal_variance(u(), d(), out, scratch);
}

template <class T>
void LowRankPosterior<T>::precision_diagonal(std::span<T> out) const {
  std::ranges::copy(d(), out.begin());
  add_row_squares<T>(u(), 1, out);
}

template <class T>
void LowRankPosterior<T>::multiply_precision(ConstSpan<T> x, std::span<T> out, Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const auto projected = scratch.matrix<double>(rank_, 1);
  if (rank_ > 0) tall_project<T>(u(), {x.data(), this->dimension_, 1}, {}, Divide::by_d, projected, scratch);
  const T* const d = d_.data();
  for (std::size_t i = 0; i < x.size(); ++i) out[i] = d[i] * x[i];
  for (Index k = 0; k < rank_; ++k) {
    const T factor = static_cast<T>(projected(k, 0));
    const T* const column = u().column_data(k);
    for (std::size_t i = 0; i < x.size(); ++i) out[i] += factor * column[i];
  }
}

template <class T>
double LowRankPosterior<T>::quadratic(ConstSpan<T> x, Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const auto projected = scratch.matrix<double>(rank_, 1);
  tall_project<T>(u(), {x.data(), this->dimension_, 1}, {}, Divide::by_d, projected, scratch);
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum += static_cast<double>(d()[i]) * static_cast<double>(x[i]) * static_cast<double>(x[i]);
  for (const double value : projected.column(0)) sum += value * value;
  return sum;
}

/// tr(P Sigma_q) = sum d diag(Sigma_q) + sum(U ∘ (Sigma_q U)).
template <class T>
double LowRankPosterior<T>::trace_precision(const Posterior<T>& q, Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const auto vector = scratch.take<T>(this->dimension_);
  q.marginal_variance(vector, scratch);
  double trace = 0;
  for (std::size_t i = 0; i < vector.size(); ++i)
    trace += static_cast<double>(d()[i]) * static_cast<double>(vector[i]);
  for (Index k = 0; k < rank_; ++k) {
    std::ranges::copy(u().column(k), vector.begin());
    q.solve({vector.data(), this->dimension_, 1}, scratch);
    for (Index i = 0; i < this->dimension_; ++i)
      trace += static_cast<double>(u()(i, k)) * static_cast<double>(vector[static_cast<std::size_t>(i)]);
  }
  return trace;
}

template class LowRankPosterior<float>;
template class LowRankPosterior<double>;

}  // namespace bdl
