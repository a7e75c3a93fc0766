#include "posterior/low_rank/low_rank.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/loop_turns.hpp"
#include "base/profile.hpp"

namespace bdl {
namespace {

[[noreturn]] void fail_indefinite() {
  fail(Status::ERROR_DIVERGED, "the posterior precision is not finite and positive definite");
}

}  // namespace

template <class T>
LowRankPosterior<T>::LowRankPosterior(Index dimension, Index rank)
    : Posterior<T>(dimension), rank_(rank), u_(dimension * rank), d_(dimension), gram_(rank * rank) {
  set_isotropic(1);
}

template <class T>
void LowRankPosterior<T>::set_precision(ConstMatrixView<T> u, ConstSpan<T> d) {
  std::ranges::copy(d, d_.data());
  std::fill_n(u_.data(), this->dimension_ * rank_, T(0));
  for (Index k = 0; k < u.cols; ++k)
    std::ranges::copy(u.column(k), u_.matrix(this->dimension_, rank_).column_data(k));
  TallScratch scratch;
  factorize(scratch);
}

template <class T>
void LowRankPosterior<T>::factorize(TallScratch& scratch) {
  const StageTimer timer(Stage::solve);
  has_gram_ = false;
  if (!woodbury_.factorize(u(), d(), scratch)) fail_indefinite();
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
  auto& that = dynamic_cast<LowRankPosterior&>(other);
  this->swap_base(that);
  u_.swap(that.u_);
  d_.swap(that.d_);
  std::swap(woodbury_, that.woodbury_);
  gram_.swap(that.gram_);
  std::swap(has_gram_, that.has_gram_);
}

template <class T>
Index LowRankPosterior<T>::bytes() const {
  return Posterior<T>::bytes() + u_.bytes() + d_.bytes() + woodbury_.bytes() + gram_.bytes();
}

template <class T>
void LowRankPosterior<T>::tensors(const TensorVisitor<T>& visit) {
  this->visit_mean(visit);
  visit(matrix_tensor<T>("low_rank", u_.matrix(this->dimension_, rank_)));
  visit(vector_tensor<T>("diagonal", TensorRole::positive, d_.first(this->dimension_)));
}

template <class T>
void LowRankPosterior<T>::accept_tensors() {
  TallScratch scratch;
  factorize(scratch);
}

template <class T>
void LowRankPosterior<T>::set_isotropic(double precision) {
  const T value = static_cast<T>(precision);
  fill_in_parts(u_.data(), this->dimension_ * rank_, T(0));
  std::fill_n(d_.data(), this->dimension_, value);
  has_gram_ = false;
  static_cast<void>(woodbury_.set_diagonal(rank_, d()));
}

template <class T>
void LowRankPosterior<T>::reserve(Index columns, PosteriorScratch<T>& scratch) const {
  woodbury_.reserve_scratch(this->dimension_, columns, scratch.tall, scratch.small);
}

template <class T>
void LowRankPosterior<T>::reserve_marginals(PosteriorScratch<T>& scratch) const {
  scratch.tall.reserve(this->dimension_, rank_, 0);
}

template <class T>
void LowRankPosterior<T>::solve(MatrixView<T> x, PosteriorScratch<T>& scratch) const {
  const StageTimer timer(Stage::solve);
  woodbury_.solve(u(), d(), x, scratch.tall, scratch.small);
}

template <class T>
void LowRankPosterior<T>::variances(MatrixView<T> x, std::span<double> out,
                                    PosteriorScratch<T>& scratch) const {
  const StageTimer timer(Stage::solve);
  woodbury_.variances(u(), d(), x, out, scratch.tall, scratch.small);
}

template <class T>
void LowRankPosterior<T>::color(ConstSpan<T> mean, MatrixView<T> eps, ConstMatrixView<T>,
                                PosteriorScratch<T>& scratch) const {
  woodbury_.color(u(), d(), mean, eps, scratch.tall, scratch.small);
}

/// U = +-sqrt(0.1 precision / L) and d = 0.9 precision, or U = 0 and d = precision.
template <class T>
void LowRankPosterior<T>::set_diagonal(ConstSpan<T> precision, std::optional<std::uint64_t> spread_seed) {
  const bool spread = spread_seed && rank_ > 0;
  const double share = spread ? 0.1 : 0;
  std::fill_n(u_.data(), this->dimension_ * rank_, T(0));
  std::ranges::transform(precision, d_.data(), [share](T p) { return static_cast<T>(1 - share) * p; });
  if (!spread) {
    has_gram_ = false;
    if (!woodbury_.set_diagonal(rank_, d())) fail_indefinite();
    return;
  }
  for (Index k = 0; k < rank_; ++k) {
    const auto column = u_.matrix(this->dimension_, rank_).column(k);
    fill_uniform({*spread_seed, Stream::initialization, 1, static_cast<std::uint32_t>(k)}, 0, column, T(-1),
                 T(1));
    std::ranges::transform(column, precision, column.begin(), [&](T sign, T p) {
      const T size = std::sqrt(static_cast<T>(share / static_cast<double>(rank_)) * p);
      return sign < 0 ? -size : size;
    });
  }
  TallScratch scratch;
  factorize(scratch);
}

template <class T>
void LowRankPosterior<T>::marginal_variance(std::span<T> out, PosteriorScratch<T>& scratch) const {
  woodbury_.marginal_variance(u(), d(), out, scratch.tall);
}

template <class T>
void LowRankPosterior<T>::precision_diagonal(std::span<T> out) const {
  std::ranges::copy(d(), out.begin());
  add_row_squares<T>(u(), 1, out);
}

template <class T>
void LowRankPosterior<T>::multiply_precision(ConstSpan<T> x, std::span<T> out,
                                             PosteriorScratch<T>& scratch) const {
  reserve(1, scratch);
  const auto projected = scratch.small.matrix(rank_, 1);
  if (rank_ > 0)
    tall_project<T>(u(), {x.data(), this->dimension_, 1}, {}, Divide::by_d, projected, scratch.tall);
  const T* const d = d_.data();
  for (std::size_t i = 0; i < x.size(); ++i) out[i] = d[i] * x[i];
  for (Index k = 0; k < rank_; ++k) {
    const T factor = static_cast<T>(projected(k, 0));
    const T* const column = u().column_data(k);
    for (std::size_t i = 0; i < x.size(); ++i) out[i] += factor * column[i];
  }
}

template <class T>
double LowRankPosterior<T>::quadratic(ConstSpan<T> x, PosteriorScratch<T>& scratch) const {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum += static_cast<double>(d()[i]) * static_cast<double>(x[i]) * static_cast<double>(x[i]);
  reserve(1, scratch);
  tall_project<T>(u(), {x.data(), this->dimension_, 1}, {}, Divide::by_d, scratch.small.matrix(rank_, 1),
                  scratch.tall);
  for (double value : scratch.small.first(rank_)) sum += value * value;
  return sum;
}

/// tr(P Sigma_q) = sum d diag(Sigma_q) + sum(U ∘ (Sigma_q U)).
template <class T>
double LowRankPosterior<T>::trace_precision(const Posterior<T>& q, PosteriorScratch<T>& scratch) const {
  Buffer<T> work(this->dimension_);
  const auto vector = work.first(this->dimension_);
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
