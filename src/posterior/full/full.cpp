#include "posterior/full/full.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "curvature/dense_rows.hpp"
#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"
#include "posterior/full/covariance_step.hpp"
#include "posterior/full/dense_step.hpp"

namespace bdl {

template <class T>
const FullPosterior<T>& as_full(const Posterior<T>& q) {
  if (q.family() != Family::full) fail(Status::ERROR_UNSUPPORTED, "the posterior is not of the full family");
  return static_cast<const FullPosterior<T>&>(q);
}

template <class T>
FullPosterior<T>::FullPosterior(Index dimension) : Posterior<T>(dimension), precision_(dimension) {}

template <class T>
void FullPosterior<T>::set_precision(ConstMatrixView<double> precision) {
  for (Index j = 0; j < precision.cols; ++j)
    std::ranges::copy(precision.column(j), precision_.matrix().column_data(j));
  if (!precision_.factorize()) fail(Status::ERROR_INVALID_ARGUMENT, "precision is not positive definite");
  hold_precision();
}

/// Costs two inverses, at most once an observation.
template <class T>
const PositiveMatrix& FullPosterior<T>::natural() const {
  precision_is_due_.settle([&] {
    const auto lower = precision_.lower();
    std::copy_n(covariance_.data(), lower.size(), lower.data);
    if (!cholesky(lower)) fail_not_positive("precision");
    cholesky_inverse(lower, precision_.matrix());
    if (!precision_.factorize()) fail_not_positive("precision");
  });
  return precision_;
}

template <class T>
void FullPosterior<T>::tensors(const TensorVisitor<T>& visit) {
  this->visit_mean(visit);
  visit(square_tensor<T>("precision", TensorRole::matrix, precision_.matrix()));
  visit(square_tensor<T>("factor", TensorRole::factor, precision_.lower()));
}

template <class T>
void FullPosterior<T>::accept_tensors() {
  if (!precision_.accept_kept_factor())
    fail(Status::ERROR_INVALID_ARGUMENT, "precision and factor do not belong together");
  hold_precision();
}

template <class T>
void FullPosterior<T>::read_covariance(const TensorVisitor<const T>& visit) const {
  if (keeps_covariance()) visit({"covariance", TensorRole::matrix, false, {}, held(covariance_)});
}

/// P is found at once: it shows whether Sigma is positive definite.
template <class T>
void FullPosterior<T>::write_covariance(const TensorSource<T>& source) {
  const auto tensor = square_tensor<T>("covariance", TensorRole::matrix, held(covariance_));
  if (!source(tensor)) return;
  check_role(tensor);
  hold_covariance();
  complete();
}

template <class T>
std::unique_ptr<Posterior<T>> FullPosterior<T>::clone() const {
  auto copy = std::make_unique<FullPosterior>(this->dimension_);
  copy->assign(*this);
  return copy;
}

template <class T>
void FullPosterior<T>::assign(const Posterior<T>& other) {
  const FullPosterior& that = as_full(other);
  const Index size = this->dimension_ * this->dimension_;
  const auto covariance = covariance_.first(that.keeps_covariance_ ? size : 0);
  this->copy_base(that);
  keeps_covariance_ = that.keeps_covariance_;
  precision_is_due_.set_due(that.precision_is_due_.is_due());
  if (!precision_is_due_.is_due()) precision_.copy(that.precision_);
  std::copy_n(that.covariance_.data(), std::ssize(covariance), covariance.data());
}

template <class T>
void FullPosterior<T>::swap(Posterior<T>& other) {
  auto& that = static_cast<FullPosterior&>(other);
  this->swap_base(that);
  precision_.swap(that.precision_);
  precision_is_due_.swap(that.precision_is_due_);
  std::swap(keeps_covariance_, that.keeps_covariance_);
  covariance_.swap(that.covariance_);
  std::swap(squared_shift_, that.squared_shift_);
}

template <class T>
void FullPosterior<T>::set_isotropic(double precision) {
  if (!precision_.set_isotropic(precision))
    fail(Status::ERROR_INVALID_ARGUMENT, "precision %g is not positive", precision);
  hold_precision();
}

template <class T>
void FullPosterior<T>::set_diagonal(ConstSpan<T> precision, std::optional<std::uint64_t>) {
  set_precision(diagonal_matrix<T>(precision, false).matrix(this->dimension_, this->dimension_));
}

/// Sigma' = inflation Sigma + diag(noise).
template <class T>
void FullPosterior<T>::drift(const Posterior<T>& from, const Drift<T>& drift, Scratch&) {
  const FullPosterior& old = as_full(from);
  if (!drift.noise.empty() || old.keeps_covariance()) {
    drift_covariance(old, drift);
  } else {
    if (!precision_.set_multiple(old.precision_, 1 / drift.inflation)) fail_not_positive("precision");
    hold_precision();
  }
  scale_mean(from.mean(), drift.transition, this->mean());
}

/// Sigma is held from then on: P would have to be found anew each time.
template <class T>
void FullPosterior<T>::drift_covariance(const FullPosterior& from, const Drift<T>& drift) {
  const auto covariance = held(covariance_);
  if (!from.keeps_covariance()) {
    cholesky_inverse(from.precision_.lower(), covariance);
    mirror_lower(covariance);  // exactly symmetric, as it is when it comes back from a file
  }
  const ConstMatrixView<double> old = from.keeps_covariance() ? from.held(from.covariance_) : covariance;
  if (!inflate_covariance(old, drift.inflation, drift.noise, covariance)) fail_not_positive("covariance");
  hold_covariance();
}

template <class T>
void FullPosterior<T>::multiply_precision(ConstSpan<T> x, std::span<T> out, Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const Index size = this->dimension_;
  double *from = in_double(x, scratch), *to = scratch.take<double>(size).data();
  gemm(Op::none, Op::none, 1.0, precision(), {from, size, 1}, 0.0, {to, size, 1});
  std::transform(to, to + size, out.begin(), [](double value) { return static_cast<T>(value); });
}

template <class T>
void FullPosterior<T>::solve(MatrixView<T> x, Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const Index size = this->dimension_;
  double *from = scratch.take<double>(size).data(), *to = scratch.take<double>(size).data();
  for (Index k = 0; k < x.cols; ++k) {
    std::ranges::copy(x.column(k), from);
    if (keeps_covariance_)
      gemm(Op::none, Op::none, 1.0, held(covariance_), {from, size, 1}, 0.0, {to, size, 1});
    else
      precision_.solve(std::copy_n(from, size, to) - size);
    std::transform(to, to + size, x.column_data(k), [](double value) { return static_cast<T>(value); });
  }
}

/// |C^-1 x|^2, or x^T Sigma x where Sigma is held.
template <class T>
void FullPosterior<T>::variances(MatrixView<T> x, std::span<double> out, Scratch& scratch) const {
  if (keeps_covariance_) {
    const Scratch::Frame frame(scratch);
    double *from = scratch.take<double>(x.rows).data(), *to = scratch.take<double>(x.rows).data();
    for (Index k = 0; k < x.cols; ++k) {
      std::ranges::copy(x.column(k), from);
      gemm(Op::none, Op::none, 1.0, held(covariance_), {from, x.rows, 1}, 0.0, {to, x.rows, 1});
      const double value = std::inner_product(from, from + x.rows, to, 0.0);
      out[static_cast<std::size_t>(k)] = std::max(value, 0.0);
    }
    return;
  }
  squared_lengths<T>(x, out, scratch, [&](MatrixView<double> columns, MatrixView<double>) {
    solve_lower_left(Op::none, factor(), columns);
    return columns;
  });
}

/// y = mean + C^-T eps: Cov(y) = (C C^T)^-1.
template <class T>
void FullPosterior<T>::color(ConstSpan<T> mean, MatrixView<T> eps, ConstMatrixView<T>,
                             Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const auto column = scratch.matrix<double>(this->dimension_, 1);
  for (Index k = 0; k < eps.cols; ++k) {
    std::ranges::copy(eps.column(k), column.data);
    solve_lower_left(Op::transpose, factor(), column);
    add_mean(mean, column.data, eps.column(k));
  }
}

template <class T>
void FullPosterior<T>::marginal_variance(std::span<T> out, Scratch& scratch) const {
  if (!keeps_covariance_) return precision_.inverse_diagonal(out, scratch);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<T>(held(covariance_)(static_cast<Index>(i), static_cast<Index>(i)));
}

template <class T>
void FullPosterior<T>::precision_diagonal(std::span<T> out) const {
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<T>(precision()(static_cast<Index>(i), static_cast<Index>(i)));
}

template <class T>
double FullPosterior<T>::quadratic(ConstSpan<T> x, Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  return natural().quadratic(in_double(x, scratch));
}

template <class T>
double FullPosterior<T>::trace_precision(const Posterior<T>& q, Scratch& scratch) const {
  return trace_of_product(precision(), q, scratch);
}

template class FullPosterior<float>;
template class FullPosterior<double>;
template const FullPosterior<float>& as_full(const Posterior<float>&);
template const FullPosterior<double>& as_full(const Posterior<double>&);

}  // namespace bdl
