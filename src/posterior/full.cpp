#include "posterior/full.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "linalg/blas.hpp"
#include "linalg/cholesky.hpp"

namespace bdl {

template <class T>
FullPosterior<T>::FullPosterior(Index dimension)
    : Posterior<T>(dimension), precision_(dimension * dimension), lower_(dimension * dimension) {
  set_isotropic(1);
}

template <class T>
bool FullPosterior<T>::factorize() {
  std::copy_n(precision_.data(), this->dimension_ * this->dimension_, lower_.data());
  if (!cholesky(square(lower_))) return false;
  log_det_ = -log_det_from_cholesky(lower());
  return true;
}

template <class T>
void FullPosterior<T>::set_precision(ConstMatrixView<double> precision) {
  for (Index j = 0; j < precision.cols; ++j)
    std::ranges::copy(precision.column(j), square(precision_).column_data(j));
  mirror_lower(square(precision_));
  if (!factorize()) fail(Status::ERROR_INVALID_ARGUMENT, "precision is not positive definite");
}

template <class T>
std::unique_ptr<Posterior<T>> FullPosterior<T>::clone() const {
  auto copy = std::make_unique<FullPosterior>(this->dimension_);
  copy->copy_base(*this);
  copy->set_precision(precision());
  return copy;
}

template <class T>
void FullPosterior<T>::swap(Posterior<T>& other) {
  auto& that = dynamic_cast<FullPosterior&>(other);
  this->swap_base(that);
  precision_.swap(that.precision_);
  lower_.swap(that.lower_);
  std::swap(log_det_, that.log_det_);
}

template <class T>
Index FullPosterior<T>::bytes() const {
  return this->dimension_ *
         (static_cast<Index>(sizeof(T)) + 2 * this->dimension_ * static_cast<Index>(sizeof(double)));
}

template <class T>
void FullPosterior<T>::set_isotropic(double precision) {
  std::fill_n(precision_.data(), this->dimension_ * this->dimension_, 0.0);
  for (Index i = 0; i < this->dimension_; ++i) square(precision_)(i, i) = precision;
  if (!factorize()) fail(Status::ERROR_INVALID_ARGUMENT, "precision %g is not positive", precision);
}

/// Natural gradient: Lambda' = Lambda + b (H + [KL] (Lambda_0 - Lambda)), mu' = mu - a Sigma' m.
template <class T>
double FullPosterior<T>::take(const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace) {
  const auto old = dynamic_cast<const FullPosterior&>(step.from).precision();
  const auto next = square(precision_);
  const double keep = step.has_kl() ? 1 - step.curvature_rate : 1;
  workspace.weights.reserve(step.curvature.rows->count());
  const auto w = workspace.weights.first(step.curvature.rows->count());
  std::ranges::transform(step.curvature.w, w.begin(),
                         [&](T value) { return static_cast<T>(step.curvature_rate) * value; });
  for (Index j = 0; j < next.cols; ++j) {
    for (Index i = j; i < next.rows; ++i) next(i, j) = keep * old(i, j);
    if (step.has_kl())
      next(j, j) +=
          step.curvature_rate * static_cast<double>(step.prior_precision[static_cast<std::size_t>(j)]);
  }
  step.curvature.rows->add_outer(w, next);
  mirror_lower(next);
  if (!factorize())
    fail(Status::ERROR_DIVERGED, "the posterior precision is not finite and positive definite");
  const auto mean = this->mean();
  std::ranges::copy(step.m, mean.begin());
  solve({mean.data(), this->dimension_, 1}, workspace.scratch);
  for (std::size_t i = 0; i < mean.size(); ++i)
    mean[i] = step.from.mean()[i] - static_cast<T>(step.mean_rate) * mean[i];
  return 1;
}

template <class T>
void FullPosterior<T>::drift(const Posterior<T>&, const Drift<T>&, UpdateWorkspace<T>&) {
  fail(Status::ERROR_UNSUPPORTED, "not yet");
}

template <class T>
void FullPosterior<T>::multiply_precision(ConstSpan<T> x, std::span<T> out, PosteriorScratch<T>&) const {
  for (std::size_t i = 0; i < out.size(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < x.size(); ++j)
      sum += precision()(static_cast<Index>(j), static_cast<Index>(i)) * static_cast<double>(x[j]);
    out[i] = static_cast<T>(sum);
  }
}

template <class T>
void FullPosterior<T>::reserve(Index, PosteriorScratch<T>& scratch) const {
  scratch.small.reserve(this->dimension_);
}

template <class T>
void FullPosterior<T>::solve(MatrixView<T> x, PosteriorScratch<T>& scratch) const {
  scratch.small.reserve(this->dimension_);
  const auto column = scratch.small.matrix(this->dimension_, 1);
  for (Index k = 0; k < x.cols; ++k) {
    std::ranges::copy(x.column(k), column.data);
    cholesky_solve(lower(), column);
    std::ranges::transform(column.column(0), x.column_data(k),
                           [](double value) { return static_cast<T>(value); });
  }
}

/// y = mean + C^-T eps: Cov(y) = (C C^T)^-1.
template <class T>
void FullPosterior<T>::color(ConstSpan<T> mean, MatrixView<T> eps, PosteriorScratch<T>& scratch) const {
  scratch.small.reserve(this->dimension_);
  const auto column = scratch.small.matrix(this->dimension_, 1);
  for (Index k = 0; k < eps.cols; ++k) {
    std::ranges::copy(eps.column(k), column.data);
    solve_lower_left(Op::transpose, lower(), column);
    for (Index i = 0; i < eps.rows; ++i) {
      const double centre = mean.empty() ? 0 : static_cast<double>(mean[static_cast<std::size_t>(i)]);
      eps(i, k) = static_cast<T>(centre + column(i, 0));
    }
  }
}

template <class T>
void FullPosterior<T>::marginal_variance(std::span<T> out, PosteriorScratch<T>&) const {
  Buffer<double> inverse(this->dimension_ * this->dimension_);
  const auto covariance = inverse.matrix(this->dimension_, this->dimension_);
  cholesky_inverse(lower(), covariance);
  for (Index i = 0; i < this->dimension_; ++i)
    out[static_cast<std::size_t>(i)] = static_cast<T>(covariance(i, i));
}

template <class T>
void FullPosterior<T>::precision_diagonal(std::span<T> out) const {
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<T>(precision()(static_cast<Index>(i), static_cast<Index>(i)));
}

template <class T>
double FullPosterior<T>::quadratic(ConstSpan<T> x, PosteriorScratch<T>&) const {
  double sum = 0;
  for (Index j = 0; j < this->dimension_; ++j) {
    double dot = 0;
    for (Index i = 0; i < this->dimension_; ++i)
      dot += precision()(i, j) * static_cast<double>(x[static_cast<std::size_t>(i)]);
    sum += dot * static_cast<double>(x[static_cast<std::size_t>(j)]);
  }
  return sum;
}

template <class T>
double FullPosterior<T>::trace_precision(const Posterior<T>& q, PosteriorScratch<T>& scratch) const {
  Buffer<T> column(this->dimension_);
  double trace = 0;
  for (Index j = 0; j < this->dimension_; ++j) {
    std::fill_n(column.data(), this->dimension_, T(0));
    column.data()[j] = 1;
    q.solve(column.matrix(this->dimension_, 1), scratch);
    for (Index i = 0; i < this->dimension_; ++i)
      trace += precision()(i, j) * static_cast<double>(column.data()[i]);
  }
  return trace;
}

template class FullPosterior<float>;
template class FullPosterior<double>;

}  // namespace bdl
