#include "posterior/full/full_moment.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"
#include "posterior/full/covariance_step.hpp"
#include "posterior/full/dense_step.hpp"

namespace bdl {

template <class T>
const FullMomentPosterior<T>& as_full_moment(const Posterior<T>& q) {
  if (q.family() != Family::full_moment)
    fail(Status::ERROR_UNSUPPORTED, "the posterior is not of the full-moment family");
  return static_cast<const FullMomentPosterior<T>&>(q);
}

template <class T>
FullMomentPosterior<T>::FullMomentPosterior(Index dimension)
    : Posterior<T>(dimension), covariance_(dimension) {}

template <class T>
void FullMomentPosterior<T>::set_covariance(ConstMatrixView<double> covariance) {
  for (Index j = 0; j < covariance.cols; ++j)
    std::ranges::copy(covariance.column(j), covariance_.matrix().column_data(j));
  if (!covariance_.factorize()) fail(Status::ERROR_INVALID_ARGUMENT, "covariance is not positive definite");
  hold_factor();
}

template <class T>
const PositiveMatrix& FullMomentPosterior<T>::factorized() const {
  factor_is_due_.settle([&] {
    if (!covariance_.find_factor()) fail_not_positive("covariance");
  });
  return covariance_;
}

template <class T>
void FullMomentPosterior<T>::tensors(const TensorVisitor<T>& visit) {
  this->visit_mean(visit);
  visit(square_tensor<T>("covariance", TensorRole::matrix, covariance_.matrix()));
  visit(square_tensor<T>("factor", TensorRole::factor, covariance_.lower()));
}

template <class T>
void FullMomentPosterior<T>::accept_tensors() {
  if (!covariance_.accept_kept_factor())
    fail(Status::ERROR_INVALID_ARGUMENT, "covariance and factor do not belong together");
  hold_factor();
}

template <class T>
std::unique_ptr<Posterior<T>> FullMomentPosterior<T>::clone() const {
  auto copy = std::make_unique<FullMomentPosterior>(this->dimension_);
  copy->assign(*this);
  return copy;
}

template <class T>
void FullMomentPosterior<T>::assign(const Posterior<T>& other) {
  const FullMomentPosterior& that = as_full_moment(other);
  this->copy_base(that);
  keeps_covariance_ = that.keeps_covariance_;
  factor_is_due_.set_due(that.factor_is_due_.is_due());
  if (!factor_is_due_.is_due()) return covariance_.copy(that.covariance_);
  const ConstMatrixView<double> sigma = that.covariance();
  std::copy_n(sigma.data, sigma.size(), covariance_.matrix().data);
}

template <class T>
void FullMomentPosterior<T>::swap(Posterior<T>& other) {
  auto& that = static_cast<FullMomentPosterior&>(other);
  this->swap_base(that);
  covariance_.swap(that.covariance_);
  factor_is_due_.swap(that.factor_is_due_);
  std::swap(keeps_covariance_, that.keeps_covariance_);
  std::swap(squared_shift_, that.squared_shift_);
}

template <class T>
void FullMomentPosterior<T>::set_isotropic(double precision) {
  if (!covariance_.set_isotropic(1 / precision))
    fail(Status::ERROR_INVALID_ARGUMENT, "precision %g is not positive", precision);
  hold_factor();
}

template <class T>
void FullMomentPosterior<T>::set_diagonal(ConstSpan<T> precision, std::optional<std::uint64_t>) {
  set_covariance(diagonal_matrix<T>(precision, true).matrix(this->dimension_, this->dimension_));
}

/// Sigma' = inflation Sigma + diag(noise).
template <class T>
void FullMomentPosterior<T>::drift(const Posterior<T>& from, const Drift<T>& drift, Scratch&) {
  const FullMomentPosterior& old = as_full_moment(from);
  if (drift.noise.empty() && !old.keeps_covariance()) {
    if (!covariance_.set_multiple(old.covariance_, drift.inflation)) fail_not_positive("covariance");
    hold_factor();
  } else {
    if (!inflate_covariance(old.covariance(), drift.inflation, drift.noise, covariance_.matrix()))
      fail_not_positive("covariance");
    hold_covariance();
  }
  scale_mean(from.mean(), drift.transition, this->mean());
}

template <class T>
void FullMomentPosterior<T>::solve(MatrixView<T> x, Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  double *from = scratch.take<double>(x.rows).data(), *to = scratch.take<double>(x.rows).data();
  for (Index k = 0; k < x.cols; ++k) {
    std::ranges::copy(x.column(k), from);
    covariance_.multiply(from, to);
    add_mean<T>({}, to, x.column(k));
  }
}

/// |L^T x|^2, or x^T Sigma x where that is kept.
template <class T>
void FullMomentPosterior<T>::variances(MatrixView<T> x, std::span<double> out, Scratch& scratch) const {
  if (keeps_covariance()) {
    const Scratch::Frame frame(scratch);
    double *from = scratch.take<double>(x.rows).data(), *to = scratch.take<double>(x.rows).data();
    for (Index k = 0; k < x.cols; ++k) {
      std::ranges::copy(x.column(k), from);
      covariance_.multiply(from, to);
      out[static_cast<std::size_t>(k)] =
          std::max(0.0, std::inner_product(from, from + this->dimension_, to, 0.0));
    }
    return;
  }
  squared_lengths<T>(x, out, scratch, [&](MatrixView<double> columns, MatrixView<double> spare) {
    gemm(Op::transpose, Op::none, 1.0, covariance_.lower(), columns, 0.0, spare);
    return spare;
  });
}

/// y = mean + L eps.
template <class T>
void FullMomentPosterior<T>::color(ConstSpan<T> mean, MatrixView<T> eps, ConstMatrixView<T>,
                                   Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const Index size = this->dimension_;
  double *from = scratch.take<double>(size).data(), *to = scratch.take<double>(size).data();
  for (Index k = 0; k < eps.cols; ++k) {
    std::ranges::copy(eps.column(k), from);
    gemm(Op::none, Op::none, 1.0, factor(), {from, size, 1}, 0.0, {to, size, 1});
    add_mean(mean, to, eps.column(k));
  }
}

template <class T>
void FullMomentPosterior<T>::marginal_variance(std::span<T> out, Scratch&) const {
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<T>(covariance()(static_cast<Index>(i), static_cast<Index>(i)));
}

template <class T>
void FullMomentPosterior<T>::precision_diagonal(std::span<T> out) const {
  Scratch scratch;
  factorized().inverse_diagonal(out, scratch);
}

template <class T>
void FullMomentPosterior<T>::multiply_precision(ConstSpan<T> x, std::span<T> out, Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  double* const copy = in_double(x, scratch);
  factorized().solve(copy);
  add_mean<T>({}, copy, out);
}

template <class T>
double FullMomentPosterior<T>::quadratic(ConstSpan<T> x, Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  return factorized().inverse_quadratic(in_double(x, scratch));
}

template <class T>
double FullMomentPosterior<T>::trace_precision(const Posterior<T>& q, Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const auto p = scratch.matrix<double>(this->dimension_, this->dimension_);
  cholesky_inverse(factor(), p);
  return trace_of_product(p, q, scratch);
}

template class FullMomentPosterior<float>;
template class FullMomentPosterior<double>;
template const FullMomentPosterior<float>& as_full_moment(const Posterior<float>&);
template const FullMomentPosterior<double>& as_full_moment(const Posterior<double>&);

}  // namespace bdl
