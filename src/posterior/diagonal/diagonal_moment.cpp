#include "posterior/diagonal/diagonal_moment.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "linalg/dense/log_sum.hpp"
#include "parallel/parallel.hpp"
#include "posterior/diagonal/diagonal_step.hpp"

namespace bdl {

template <class T>
DiagonalMomentPosterior<T>::DiagonalMomentPosterior(Index dimension)
    : Posterior<T>(dimension), variance_(dimension) {
  set_isotropic(1);
}

template <class T>
void DiagonalMomentPosterior<T>::finish() {
  log_det_ = sum_of_logs(variance());
  if (!std::isfinite(log_det_)) fail_not_positive("covariance");
}

template <class T>
void DiagonalMomentPosterior<T>::set_variance(ConstSpan<T> variance) {
  std::ranges::copy(variance, variance_.data());
  finish();
}

template <class T>
std::unique_ptr<Posterior<T>> DiagonalMomentPosterior<T>::clone() const {
  auto copy = std::make_unique<DiagonalMomentPosterior>(this->dimension_);
  copy->assign(*this);
  return copy;
}

template <class T>
void DiagonalMomentPosterior<T>::assign(const Posterior<T>& other) {
  const DiagonalMomentPosterior& that = as_diagonal_moment(other);
  this->copy_base(that);
  std::ranges::copy(that.variance(), variance_.data());
  log_det_ = that.log_det_;
}

template <class T>
void DiagonalMomentPosterior<T>::swap(Posterior<T>& other) {
  auto& that = static_cast<DiagonalMomentPosterior&>(other);
  this->swap_base(that);
  variance_.swap(that.variance_);
  std::swap(log_det_, that.log_det_);
}

template <class T>
void DiagonalMomentPosterior<T>::tensors(const TensorVisitor<T>& visit) {
  this->visit_mean(visit);
  visit(vector_tensor<T>("variance", TensorRole::positive, variance_.first(this->dimension_)));
}

template <class T>
void DiagonalMomentPosterior<T>::set_isotropic(double precision) {
  std::fill_n(variance_.data(), this->dimension_, static_cast<T>(1 / precision));
  log_det_ = sum_of_logs(variance());
}

template <class T>
void DiagonalMomentPosterior<T>::set_diagonal(ConstSpan<T> precision, std::optional<std::uint64_t>) {
  std::ranges::transform(precision, variance_.data(), [](T p) { return 1 / p; });
  finish();
}

template <class T>
double DiagonalMomentPosterior<T>::update(const PosteriorStep<T>& step, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const DiagonalMomentPosterior& old = as_diagonal_moment(step.from);
  const auto variance = variance_.first(this->dimension_);
  curvature_diagonal(step.curvature, variance);
  ConstSpan<T> prior = step.prior_precision;
  if (step.prior && !step.at_prior()) {
    const auto precision = scratch.take<T>(this->dimension_);
    step.prior->precision_diagonal(precision);
    prior = precision;
  }
  const double fraction =
      update_diagonal_by<T>({DiagonalParameter::variance, step.descent, step.mean_rate, step.curvature_rate,
                             old.mean(), old.variance(), step.m, variance, prior},
                            step.may_shorten(), this->mean(), variance);
  finish();
  return fraction;
}

template <class T>
void DiagonalMomentPosterior<T>::drift(const Posterior<T>& from, const Drift<T>& drift, Scratch&) {
  const DiagonalMomentPosterior& old = as_diagonal_moment(from);
  const T *before = old.variance().data(), *noise = drift.noise.data(), *mean = old.mean().data();
  const T inflation = static_cast<T>(drift.inflation), transition = static_cast<T>(drift.transition);
  T *v = variance_.data(), *to = this->mean().data();
  for_each_index(this->dimension_, [=](Index i) BDL_INLINE_LAMBDA {
    v[i] = inflation * before[i] + (noise ? noise[i] : T(0));
    to[i] = transition * mean[i];
  });
  finish();
}

template <class T>
void DiagonalMomentPosterior<T>::solve(MatrixView<T> x, Scratch&) const {
  const T* v = variance_.data();
  for (Index k = 0; k < x.cols; ++k) {
    T* const column = x.column_data(k);
    for_each_index(x.rows, [=](Index i) BDL_INLINE_LAMBDA { column[i] *= v[i]; });
  }
}

template <class T>
void DiagonalMomentPosterior<T>::variances(MatrixView<T> x, std::span<double> out, Scratch&) const {
  for (Index k = 0; k < x.cols; ++k) {
    double sum = 0;
    for (Index i = 0; i < x.rows; ++i) {
      const auto value = static_cast<double>(x(i, k));
      sum += static_cast<double>(variance_.data()[i]) * value * value;
    }
    out[static_cast<std::size_t>(k)] = sum;
  }
}

template <class T>
void DiagonalMomentPosterior<T>::color(ConstSpan<T> mean, MatrixView<T> eps, ConstMatrixView<T>,
                                       Scratch&) const {
  const T *v = variance_.data(), *centre = mean.data();
  for (Index k = 0; k < eps.cols; ++k) {
    T* const column = eps.column_data(k);
    for_each_index(eps.rows, [=](Index i) BDL_INLINE_LAMBDA {
      column[i] = (centre ? centre[i] : T(0)) + std::sqrt(v[i]) * column[i];
    });
  }
}

template <class T>
void DiagonalMomentPosterior<T>::marginal_variance(std::span<T> out, Scratch&) const {
  std::ranges::copy(variance(), out.begin());
}

template <class T>
void DiagonalMomentPosterior<T>::precision_diagonal(std::span<T> out) const {
  std::ranges::transform(variance(), out.begin(), [](T v) { return 1 / v; });
}

template <class T>
void DiagonalMomentPosterior<T>::multiply_precision(ConstSpan<T> x, std::span<T> out, Scratch&) const {
  for (std::size_t i = 0; i < x.size(); ++i) out[i] = x[i] / variance()[i];
}

template <class T>
double DiagonalMomentPosterior<T>::quadratic(ConstSpan<T> x, Scratch&) const {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum += static_cast<double>(x[i]) * static_cast<double>(x[i]) / static_cast<double>(variance()[i]);
  return sum;
}

template <class T>
double DiagonalMomentPosterior<T>::trace_precision(const Posterior<T>& q, Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const auto marginals = scratch.take<T>(this->dimension_);
  q.marginal_variance(marginals, scratch);
  double trace = 0;
  for (Index i = 0; i < this->dimension_; ++i)
    trace += static_cast<double>(marginals.data()[i]) / static_cast<double>(variance_.data()[i]);
  return trace;
}

template class DiagonalMomentPosterior<float>;
template class DiagonalMomentPosterior<double>;

}  // namespace bdl
