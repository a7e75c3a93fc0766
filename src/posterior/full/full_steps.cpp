// Steps in the natural parameters of the full family (docs/theory/natural-gradients.md, "The step of
// each family"), a and b the rates of mean and curvature, 2 M = H + [KL] (Lambda_0 - Lambda):
//   natural gradient  Lambda' = Lambda + 2 b M, mu' = mu - a Sigma' m
//   gradient          Lambda' = Lambda + 4 b sym(Sigma m mu^T) + 4 b Sigma M Sigma,
//                     mu' = Sigma' (Lambda mu - a Sigma m)
#include <algorithm>
#include <cmath>
#include <numeric>

#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"
#include "posterior/full/covariance_step.hpp"
#include "posterior/full/dense_step.hpp"
#include "posterior/full/full.hpp"
#include "posterior/point_parameters.hpp"

namespace bdl {
namespace {

/// Lower triangle of out += factor Lambda_0.
template <class T>
void add_prior(const PosteriorStep<T>& step, double factor, MatrixView<double> out) {
  if (!step.prior) return add_prior_diagonal(step.prior_precision, factor, out);
  const auto prior = as_full(*step.prior).precision();
  for (Index j = 0; j < out.cols; ++j)
    for (Index i = j; i < out.rows; ++i) out(i, j) += factor * prior(i, j);
}

/// Lower triangle of to = factor from.
void copy_lower(ConstMatrixView<double> from, double factor, MatrixView<double> to) {
  for (Index j = 0; j < to.cols; ++j)
    for (Index i = j; i < to.rows; ++i) to(i, j) = factor * from(i, j);
}

double norm(const double* x, Index size) {
  double sum = 0;
  for (Index i = 0; i < size; ++i) sum += x[i] * x[i];
  return std::sqrt(sum);
}

}  // namespace

/// True if a step is one of columns, not of products with the whole matrix.
template <class T>
bool FullPosterior<T>::suits_columns(const PosteriorStep<T>& step) const {
  if (step.leaves_prior() || !step.curvature.rows) return false;
  const Index count = step.curvature.rows->count();
  return step.descent == Descent::natural ? suits_rotations(this->dimension_, count, step.factor_update)
                                          : count + 2 < this->dimension_;
}

/// True if the step can update a stored covariance row by row.
template <class T>
bool FullPosterior<T>::suits_covariance(const PosteriorStep<T>& step) const {
  return step.descent == Descent::natural && step.curvature.rows && !step.leaves_prior() && !step.goes_on &&
         step.curvature.rows->count() < this->dimension_;
}

template <class T>
double FullPosterior<T>::update(const PosteriorStep<T>& step, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const FullPosterior& from = as_full(step.from);
  check_curvature(step.curvature);
  if (from.keeps_covariance() && suits_covariance(step)) return update_by_covariance(from, step, scratch);
  hold_precision();
  return step.descent == Descent::natural ? update_natural(from, step, scratch)
                                          : descend(from, step, scratch);
}

/// Bayes' rule for rows X as a Kalman filter has it: Sigma' = Sigma - W W^T, mu' = mu - a Sigma' m with
/// Sigma' m = Sigma m - W (W^T m). Of the shift d = -a Sigma' m, d^T Lambda d = a^2 (m^T Sigma' m -
/// |R^-T W^T m|^2).
template <class T>
double FullPosterior<T>::update_by_covariance(const FullPosterior& from, const PosteriorStep<T>& step,
                                              Scratch& scratch) {
  const Index size = this->dimension_, count = step.curvature.rows->count();
  const ConstMatrixView<double> sigma = from.held(from.covariance_);
  auto [rows, m, shift] = covariance_products(sigma, step, scratch);
  if (!find_gain(rows, scratch) || !subtract_rows(sigma, rows, held(covariance_), scratch))
    fail_not_positive("covariance");
  hold_covariance();
  const auto product = scratch.matrix<double>(count, 1);  // W^T m
  gemm(Op::transpose, Op::none, 1.0, rows.w, m, 0.0, product);
  gemm(Op::none, Op::none, -1.0, rows.w, product, 1.0, shift);
  solve_lower_left(Op::transpose, rows.root, product);
  const double change = std::inner_product(m.data, m.data + size, shift.data, 0.0) -
                        std::inner_product(product.data, product.data + count, product.data, 0.0);
  squared_shift_ = step.mean_rate * step.mean_rate * std::max(change, 0.0);
  move_mean(step.from.mean(), step.mean_rate, shift.data, this->mean());
  return 1;
}

template <class T>
double FullPosterior<T>::squared_shift(const Posterior<T>& from, ConstSpan<T> shift, Scratch& scratch) const {
  return keeps_covariance() ? squared_shift_ : from.quadratic(shift, scratch);
}

template <class T>
double FullPosterior<T>::update_natural(const FullPosterior& from, const PosteriorStep<T>& step,
                                        Scratch& scratch) {
  const bool kl = step.leaves_prior();
  const double rate = step.curvature_rate;
  double fraction;
  if (suits_columns(step)) {
    const auto columns = dense_columns(step.curvature, rate, 0, scratch);
    fraction = settle_columns(precision_, from.natural(), columns, columns.cols, step.may_shorten(),
                              step.factor_update, scratch);
  } else {
    copy_lower(from.precision(), kl ? 1 - rate : 1, precision_.matrix());
    if (kl) add_prior(step, rate, precision_.matrix());
    add_curvature(step.curvature, rate, precision_.matrix(), scratch);
    if (step.improves()) improve(precision_, from.natural(), scratch);
    fraction = settle(precision_, from.natural(), step.may_shorten(), scratch);
  }
  if (step.m.empty()) {
    std::ranges::copy(step.from.mean(), this->mean().begin());
    return fraction;
  }
  double* direction = in_double(step.m, scratch);
  precision_.solve(direction);
  move_mean(step.from.mean(), fraction * step.mean_rate, direction, this->mean());
  return fraction;
}

template <class T>
double FullPosterior<T>::descend(const FullPosterior& from, const PosteriorStep<T>& step, Scratch& scratch) {
  const Index size = this->dimension_;
  double* u = in_double(step.m, scratch);
  from.natural().solve(u);
  const double fraction = suits_columns(step) ? plain_by_columns(from, step, u, scratch)
                                              : plain_by_products(from, step, u, scratch);
  double *mean = in_double(from.mean(), scratch), *target = scratch.take<double>(size).data();
  from.natural().multiply(mean, target);
  for (Index i = 0; i < size; ++i) target[i] -= fraction * step.mean_rate * u[i];
  precision_.solve(target);
  store_mean(target, this->mean());
  return fraction;
}

/// If H = X X^T, without KL, Lambda changes by 2 b [(Sigma X) (Sigma X)^T + u mu^T + mu u^T], u = Sigma
/// m, and 2 (u mu^T + mu u^T) = p p^T - q q^T with p, q = s u +- mu / s for any s. Point parameters do not
/// change.
template <class T>
double FullPosterior<T>::plain_by_columns(const FullPosterior& from, const PosteriorStep<T>& step,
                                          const double* u, Scratch& scratch) {
  const Index size = this->dimension_;
  const auto columns = dense_columns(step.curvature, 2 * step.curvature_rate, 2, scratch);
  const Index count = columns.cols - 2;
  cholesky_solve(from.factor(), columns.columns(0, count));
  double *plus = columns.column_data(count), *minus = columns.column_data(count + 1);
  std::ranges::copy(from.mean(), plus);
  std::copy_n(u, size, minus);
  for_each_point_parameter(step, [=](Index p) { plus[p] = minus[p] = 0; });
  const double mean_size = norm(plus, size), u_size = norm(minus, size);
  const bool any = mean_size > 0 && u_size > 0;
  const double scale = any ? std::sqrt(mean_size / u_size) : 0, inverse = any ? 1 / scale : 0;
  const double root = std::sqrt(step.curvature_rate);
  for (Index i = 0; i < size; ++i) {
    const double a = root * scale * minus[i], b = root * inverse * plus[i];
    plus[i] = a + b;
    minus[i] = a - b;
  }
  return settle_columns(precision_, from.natural(), columns, count + 1, step.may_shorten(),
                        step.factor_update, scratch);
}

/// Lambda' = Lambda + 2 b [u mu^T + mu u^T + C^-T (C^-1 (H + [KL] Lambda_0) C^-T - [KL] I) C^-1].
template <class T>
double FullPosterior<T>::plain_by_products(const FullPosterior& from, const PosteriorStep<T>& step,
                                           const double* u, Scratch& scratch) {
  const Index size = this->dimension_;
  const auto next = precision_.matrix();
  const auto lower = from.factor();
  std::fill_n(next.data, next.size(), 0.0);
  add_curvature(step.curvature, 1, next, scratch);
  if (step.leaves_prior()) add_prior(step, 1, next);
  mirror_lower(next);
  solve_lower_left(Op::none, lower, next);
  solve_lower_right(Op::transpose, lower, next);
  if (step.leaves_prior())
    for (Index i = 0; i < size; ++i) next(i, i) -= 1;
  solve_lower_left(Op::transpose, lower, next);
  solve_lower_right(Op::none, lower, next);
  for (Index j = 0; j < size; ++j) {
    const double mean_j = static_cast<double>(from.mean()[static_cast<std::size_t>(j)]);
    for (Index i = j; i < size; ++i) {
      const double mean_i = static_cast<double>(from.mean()[static_cast<std::size_t>(i)]);
      next(i, j) =
          from.precision()(i, j) + 2 * step.curvature_rate * (next(i, j) + u[i] * mean_j + mean_i * u[j]);
    }
  }
  for_each_point_parameter(step, [&](Index p) {  // u mu^T does not change point parameters
    for (Index j = 0; j < p; ++j) next(p, j) = 0;
    for (Index i = p + 1; i < size; ++i) next(i, p) = 0;
    next(p, p) = 1;
  });
  return settle(precision_, from.natural(), step.may_shorten(), scratch);
}

template double FullPosterior<float>::squared_shift(const Posterior<float>&, ConstSpan<float>,
                                                    Scratch&) const;
template double FullPosterior<double>::squared_shift(const Posterior<double>&, ConstSpan<double>,
                                                     Scratch&) const;
template double FullPosterior<float>::update(const PosteriorStep<float>&, Scratch&);
template double FullPosterior<double>::update(const PosteriorStep<double>&, Scratch&);

}  // namespace bdl
