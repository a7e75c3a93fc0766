#include "posterior/low_rank.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/profile.hpp"
#include "linalg/parallel.hpp"
#include "posterior/updated_factor.hpp"

namespace bdl {

template <class T>
LowRankPosterior<T>::LowRankPosterior(Index dimension, Index rank)
    : Posterior<T>(dimension), rank_(rank), u_(dimension * rank), d_(dimension) {
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
  if (!woodbury_.factorize(u(), d(), scratch))
    fail(Status::ERROR_DIVERGED, "the posterior precision is not finite and positive definite");
}

template <class T>
std::unique_ptr<Posterior<T>> LowRankPosterior<T>::clone() const {
  auto copy = std::make_unique<LowRankPosterior>(this->dimension_, rank_);
  copy->copy_base(*this);
  copy->set_precision(u(), d());
  return copy;
}

template <class T>
void LowRankPosterior<T>::swap(Posterior<T>& other) {
  auto& that = dynamic_cast<LowRankPosterior&>(other);
  this->swap_base(that);
  u_.swap(that.u_);
  d_.swap(that.d_);
  std::swap(woodbury_, that.woodbury_);
}

template <class T>
Index LowRankPosterior<T>::bytes() const {
  return this->dimension_ * (rank_ + 2) * static_cast<Index>(sizeof(T)) + Woodbury<T>::bytes(rank_);
}

template <class T>
void LowRankPosterior<T>::set_isotropic(double precision) {
  const T d = static_cast<T>(precision);
  std::fill_n(u_.data(), this->dimension_ * rank_, T(0));
  std::fill_n(d_.data(), this->dimension_, d);
  woodbury_.set_isotropic(this->dimension_, rank_, static_cast<double>(d));
}

template <class T>
void LowRankPosterior<T>::update(const Posterior<T>& from, const PrecisionUpdate<T>& update,
                                 UpdateWorkspace<T>& workspace) {
  const auto& old = dynamic_cast<const LowRankPosterior&>(from);
  if (rank_ > 0) {
    UpdatedFactor<T> factor(old.u(), update, workspace);
    const ProjectionSize size = UpdatedFactor<T>::size(this->dimension_, rank_, update.rows->cost());
    if (choose_method(size, update.projection) == EigenMethod::randomized) {
      const auto start = workspace.projection.start(size, update.projection);
      StreamKey key = update.random;
      for (Index k = 0; k < start.cols; ++k, ++key.sample) {
        const bool warm =
            k < rank_ && std::ranges::any_of(old.u().column(k), [](T value) { return value != 0; });
        if (warm)
          std::ranges::copy(old.u().column(k), start.column_data(k));
        else
          fill_normal(key, 0, start.column(k));
      }
    }
    workspace.projection.apply(factor, size, update.projection, u_.matrix(this->dimension_, rank_));
  }
  update.rows->sum_squares(update.w, d_.first(this->dimension_));
  correct_diagonal(old, update);
  factorize(workspace.scratch.tall);
}

/// d' = (1 - beta) d + beta lambda + Delta, Delta = rowsums(A^2) - rowsums(U'^2) >= 0 (clipped at rounding);
/// on entry d_ holds sum_r w_r b_r^2.
template <class T>
void LowRankPosterior<T>::correct_diagonal(const LowRankPosterior& from, const PrecisionUpdate<T>& update) {
  add_row_squares<T>(from.u(), 1 - update.rate, d_.first(this->dimension_));
  add_row_squares<T>(u(), -1, d_.first(this->dimension_));
  const T keep = static_cast<T>(1 - update.rate), rate = static_cast<T>(update.rate);
  const T *old = from.d().data(), *lambda = update.prior_precision.data();
  T* d = d_.data();
  for_each_index(this->dimension_, [=](Index i) BDL_INLINE_LAMBDA {
    d[i] = keep * old[i] + rate * lambda[i] + (d[i] < 0 ? T(0) : d[i]);
  });
}

template <class T>
Index LowRankPosterior<T>::update_bytes(const RowsCost& cost, const ProjectionOptions& options) const {
  if (rank_ == 0) return TallScratch::bytes(this->dimension_, 0, 0);
  const ProjectionSize size = UpdatedFactor<T>::size(this->dimension_, rank_, cost);
  const bool gram = choose_method(size, options) == EigenMethod::gram;
  return LowRankProjection<T>::bytes(size, options) + UpdatedFactor<T>::bytes(size, options) +
         (gram ? cost.gram_bytes : 0);
}

template <class T>
void LowRankPosterior<T>::reserve(Index columns, PosteriorScratch<T>& scratch) const {
  woodbury_.reserve_scratch(this->dimension_, columns, scratch.tall, scratch.small);
}

template <class T>
void LowRankPosterior<T>::solve(MatrixView<T> x, PosteriorScratch<T>& scratch) const {
  const StageTimer timer(Stage::solve);
  woodbury_.solve(u(), d(), x, scratch.tall, scratch.small);
}

template <class T>
void LowRankPosterior<T>::color(ConstSpan<T> mean, MatrixView<T> eps, PosteriorScratch<T>& scratch) const {
  woodbury_.color(u(), d(), mean, eps, scratch.tall, scratch.small);
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
double LowRankPosterior<T>::quadratic(ConstSpan<T> x, PosteriorScratch<T>& scratch) const {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum += static_cast<double>(d()[i]) * static_cast<double>(x[i]) * static_cast<double>(x[i]);
  scratch.small.reserve(rank_);
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
