// Steps in the moments of the full-moment family (docs/theory/natural-gradients.md, "Natural gradients
// in moment parameters"), with 2 M = H + [KL] (Lambda_0 - Lambda), a and b the rates of mean and covariance:
//   natural gradient  Sigma' = Sigma - 2 b Sigma M Sigma    mu' = mu - a Sigma m
//   gradient          Sigma' = Sigma - b M                  mu' = mu - a m
#include <algorithm>
#include <cmath>
#include <numeric>

#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"
#include "posterior/full/covariance_step.hpp"
#include "posterior/full/dense_step.hpp"
#include "posterior/full/full_moment.hpp"

namespace bdl {
namespace {

/// Lower triangle of out += factor A^-1; `square` is overwritten.
void add_inverse(const PositiveMatrix& a, double factor, MatrixView<double> square, MatrixView<double> out) {
  cholesky_inverse(a.lower(), square);
  for (Index j = 0; j < out.cols; ++j)
    for (Index i = j; i < out.rows; ++i) out(i, j) += factor * square(i, j);
}

/// True if in some direction nothing is left that could be halved again, or rounding would be more.
bool is_exhausted(const PositiveMatrix& covariance) {
  constexpr double rounding = 1e-12;
  for (Index i = 0; i < covariance.size(); ++i) {
    const double all = covariance.matrix()(i, i), pivot = covariance.lower()(i, i);
    if (all < least_variance<double> || pivot * pivot < rounding * all) return true;
  }
  return false;
}

}  // namespace

template <class T>
double FullMomentPosterior<T>::update(const PosteriorStep<T>& step, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const FullMomentPosterior& from = as_full_moment(step.from);
  check_curvature(step.curvature);
  if (from.keeps_covariance() && suits_covariance(step)) return update_by_covariance(from, step, scratch);
  const PositiveMatrix& old = from.factorized();
  hold_factor();
  const double fraction = reduces(step)                      ? reduce(old, step, scratch)
                          : step.descent == Descent::natural ? update_natural(old, step, scratch)
                                                             : descend(old, step, scratch);
  if (step.m.empty()) {
    std::ranges::copy(step.from.mean(), this->mean().begin());
    return fraction;
  }
  const bool stays = step.descent == Descent::plain && fraction < 1 && is_exhausted(old);
  if (stays) covariance_.copy(old);
  double* direction = in_double(step.m, scratch);
  if (step.descent == Descent::natural) {
    double* const product = scratch.take<double>(this->dimension_).data();
    old.multiply(direction, product);
    direction = product;
  }
  move_mean(step.from.mean(), (stays ? 1 : fraction) * step.mean_rate, direction, this->mean());
  return fraction;
}

/// If H = X X^T, without KL: Sigma' = Sigma - Z Z^T, Z = Sigma X, of which I - X^T Z says how much it
/// leaves, and mu' = mu - a Sigma m: of the shift d = -a Sigma m, d^T Lambda d = a^2 m^T Sigma m.
template <class T>
double FullMomentPosterior<T>::update_by_covariance(const FullMomentPosterior& from,
                                                    const PosteriorStep<T>& step, Scratch& scratch) {
  const Index size = this->dimension_, count = step.curvature.rows->count();
  auto [rows, m, shift] = covariance_products(from.covariance(), step, scratch);
  const auto gram = scratch.matrix<double>(count, count);
  gemm(Op::transpose, Op::none, 1.0, rows.x, rows.w, 0.0, gram);
  const double fraction = fraction_of_reduction(gram, step.may_shorten(), scratch);
  if (fraction < 1)
    for (Index k = 0; k < size * count; ++k) rows.w.data[k] *= std::sqrt(fraction);
  if (!subtract_rows(from.covariance(), rows, covariance_.matrix(), scratch)) fail_not_positive("covariance");
  hold_covariance();
  const double rate = fraction * step.mean_rate;
  squared_shift_ = rate * rate * std::max(0.0, std::inner_product(m.data, m.data + size, shift.data, 0.0));
  move_mean(step.from.mean(), rate, shift.data, this->mean());
  return fraction;
}

template <class T>
double FullMomentPosterior<T>::squared_shift(const Posterior<T>& from, ConstSpan<T> shift,
                                             Scratch& scratch) const {
  return keeps_covariance() ? squared_shift_ : from.quadratic(shift, scratch);
}

/// If H = X X^T, without KL: Sigma' = Sigma - Z Z^T, Z = sqrt(b) Sigma X or sqrt(b / 2) X, and
/// V = L^-1 Z.
template <class T>
double FullMomentPosterior<T>::reduce(const PositiveMatrix& old, const PosteriorStep<T>& step,
                                      Scratch& scratch) {
  const bool natural = step.descent == Descent::natural;
  const auto z =
      dense_columns(step.curvature, natural ? step.curvature_rate : step.curvature_rate / 2, 0, scratch);
  const auto v = scratch.matrix<double>(z.rows, z.cols);
  if (natural) {
    gemm(Op::transpose, Op::none, 1.0, old.lower(), z, 0.0, v);
    gemm(Op::none, Op::none, 1.0, old.lower(), v, 0.0, z);
  } else {
    for (Index k = 0; k < z.cols; ++k) std::ranges::copy(z.column(k), v.column_data(k));
    solve_lower_left(Op::none, old.lower(), v);
  }
  return settle_reduction(covariance_, old, z, v, step.may_shorten(), step.factor_update, scratch);
}

/// Sigma' = (1 + [KL] b) Sigma - b Sigma (H + [KL] Lambda_0) Sigma: no inverse of Sigma.
template <class T>
double FullMomentPosterior<T>::update_natural(const PositiveMatrix& old, const PosteriorStep<T>& step,
                                              Scratch& scratch) {
  const Index size = this->dimension_;
  const bool kl = step.leaves_prior();
  const auto inner = scratch.matrix<double>(size, size), product = scratch.matrix<double>(size, size),
             next = covariance_.matrix();
  std::fill_n(inner.data, inner.size(), 0.0);
  add_curvature(step.curvature, 1, inner, scratch);
  if (kl && step.prior)
    add_inverse(as_full_moment(*step.prior).factorized(), 1, product, inner);
  else if (kl)
    add_prior_diagonal(step.prior_precision, 1, inner);
  mirror_lower(inner);
  gemm(Op::none, Op::none, 1.0, inner, old.matrix(), 0.0, product);
  std::copy_n(old.matrix().data, next.size(), next.data);
  gemm(Op::none, Op::none, -step.curvature_rate, old.matrix(), product, kl ? 1 + step.curvature_rate : 1,
       next);
  return settle(covariance_, old, step.may_shorten(), scratch);
}

/// Sigma' = Sigma - b/2 (H + [KL] (Lambda_0 - Lambda)).
template <class T>
double FullMomentPosterior<T>::descend(const PositiveMatrix& old, const PosteriorStep<T>& step,
                                       Scratch& scratch) {
  const Index size = this->dimension_;
  const double half = step.curvature_rate / 2;
  const auto next = covariance_.matrix();
  std::copy_n(old.matrix().data, next.size(), next.data);
  add_curvature(step.curvature, -half, next, scratch);
  if (step.leaves_prior()) {
    const auto square = scratch.matrix<double>(size, size);
    if (step.prior)
      add_inverse(as_full_moment(*step.prior).factorized(), -half, square, next);
    else
      add_prior_diagonal(step.prior_precision, -half, next);
    add_inverse(old, half, square, next);
  }
  return settle(covariance_, old, step.may_shorten(), scratch);
}

template double FullMomentPosterior<float>::squared_shift(const Posterior<float>&, ConstSpan<float>,
                                                          Scratch&) const;
template double FullMomentPosterior<double>::squared_shift(const Posterior<double>&, ConstSpan<double>,
                                                           Scratch&) const;
template double FullMomentPosterior<float>::update(const PosteriorStep<float>&, Scratch&);
template double FullMomentPosterior<double>::update(const PosteriorStep<double>&, Scratch&);

}  // namespace bdl
