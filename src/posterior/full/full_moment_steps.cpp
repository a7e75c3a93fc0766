// Steps in the moments of the full-moment family (docs/mathematics/natural-gradients.md, "Natural gradients
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

/// In some direction nothing is left that could be halved again, or rounding would be more.
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
void FullMomentPosterior<T>::reserve_step(const StepSize& step, UpdateWorkspace<T>& workspace) const {
  reserve_step(step, step.after_noise || keeps_covariance(), workspace);
}

template <class T>
void FullMomentPosterior<T>::reserve_step(const StepSize& step, bool by_covariance,
                                          UpdateWorkspace<T>& workspace) const {
  const Index size = this->dimension_, n = step.rows.count;
  const bool natural = step.descent == Descent::natural;
  DenseScratch& scratch = workspace.dense;
  workspace.small.reserve(size);
  reserve(1, workspace.scratch);
  if (by_covariance && suits_covariance(step)) {
    reserve_dense_columns(size, n, 1, workspace);
    reserve_covariance_step(size, n, scratch);
    return reserve_reduction(size, n, scratch);
  }
  reserve_settle(size, scratch);
  if (natural) scratch.vector.reserve(size);
  if (reduces(step)) {
    reserve_dense_columns(size, n, 0, workspace);
    scratch.product.reserve(size * n);
    return reserve_reduction(size, n, scratch);
  }
  reserve_curvature(step, workspace);
  scratch.square.reserve(size * size);
  if (natural) scratch.product.reserve(size * size);
}

template <class T>
RowsUse FullMomentPosterior<T>::use_of_rows(const StepSize& step) const {
  if (!step.has_rows) return {};
  if (reduces(step)) return {false, step.rows.count, 0};
  return {false, 0, this->dimension_};
}

template <class T>
double FullMomentPosterior<T>::take(const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace) {
  const FullMomentPosterior& from = as_full_moment(step.from);
  check_curvature(step.curvature);
  const StepSize size = size_of(step);
  reserve_step(size, from.keeps_covariance(), workspace);
  if (from.keeps_covariance() && suits_covariance(size)) return take_by_covariance(from, step, workspace);
  const PositiveMatrix& old = from.factorized();
  hold_factor();
  double part;
  if (reduces(size))
    part = reduce(old, step, workspace);
  else
    part = step.descent == Descent::natural ? take_natural(old, step, workspace)
                                            : take_plain(old, step, workspace);
  if (step.m.empty()) {
    std::ranges::copy(step.from.mean(), this->mean().begin());
    return part;
  }
  const bool stays = step.descent == Descent::plain && part < 1 && is_exhausted(old);
  if (stays) covariance_.copy(old);
  double* direction = in_double(step.m, workspace);
  if (step.descent == Descent::natural) {
    old.multiply(direction, workspace.dense.vector.data());
    direction = workspace.dense.vector.data();
  }
  move_mean(step.from.mean(), (stays ? 1 : part) * step.mean_rate, direction, this->mean());
  return part;
}

/// With H = X X^T and without KL: Sigma' = Sigma - Z Z^T, Z = Sigma X, of which I - X^T Z says how much it
/// leaves, and mu' = mu - a Sigma m: of the shift d = -a Sigma m, d^T Lambda d = a^2 m^T Sigma m.
template <class T>
double FullMomentPosterior<T>::take_by_covariance(const FullMomentPosterior& from,
                                                  const PosteriorStep<T>& step,
                                                  UpdateWorkspace<T>& workspace) {
  const Index size = this->dimension_, count = step.curvature.rows->count();
  DenseScratch& scratch = workspace.dense;
  auto [rows, m, shift] = covariance_products(from.covariance(), step, workspace);
  const auto gram = scratch.gram.matrix(count, count);
  gemm(Op::transpose, Op::none, 1.0, rows.x, rows.w, 0.0, gram);
  const double part = part_of_reduction(gram, step.may_shorten(), scratch);
  if (part < 1)
    for (Index k = 0; k < size * count; ++k) rows.w.data[k] *= std::sqrt(part);
  if (!subtract_rows(from.covariance(), rows, covariance_.matrix(), scratch)) fail_not_positive();
  hold_covariance();
  const double rate = part * step.mean_rate;
  squared_shift_ = rate * rate * std::max(0.0, std::inner_product(m.data, m.data + size, shift.data, 0.0));
  move_mean(step.from.mean(), rate, shift.data, this->mean());
  return part;
}

template <class T>
double FullMomentPosterior<T>::squared_shift(const Posterior<T>& from, ConstSpan<T> shift,
                                             PosteriorScratch<T>& scratch) const {
  return keeps_covariance() ? squared_shift_ : from.quadratic(shift, scratch);
}

/// With H = X X^T and without KL: Sigma' = Sigma - Z Z^T, Z = sqrt(b) Sigma X or sqrt(b / 2) X, and
/// V = L^-1 Z.
template <class T>
double FullMomentPosterior<T>::reduce(const PositiveMatrix& old, const PosteriorStep<T>& step,
                                      UpdateWorkspace<T>& workspace) {
  const bool natural = step.descent == Descent::natural;
  const auto z =
      dense_columns(step.curvature, natural ? step.curvature_rate : step.curvature_rate / 2, 0, workspace);
  const auto v = workspace.dense.product.matrix(z.rows, z.cols);
  if (natural) {
    gemm(Op::transpose, Op::none, 1.0, old.lower(), z, 0.0, v);
    gemm(Op::none, Op::none, 1.0, old.lower(), v, 0.0, z);
  } else {
    for (Index k = 0; k < z.cols; ++k) std::ranges::copy(z.column(k), v.column_data(k));
    solve_lower_left(Op::none, old.lower(), v);
  }
  return settle_reduction(covariance_, old, z, v, step.may_shorten(), workspace.dense);
}

/// Sigma' = (1 + [KL] b) Sigma - b Sigma (H + [KL] Lambda_0) Sigma: no inverse of Sigma.
template <class T>
double FullMomentPosterior<T>::take_natural(const PositiveMatrix& old, const PosteriorStep<T>& step,
                                            UpdateWorkspace<T>& workspace) {
  const Index size = this->dimension_;
  const bool kl = step.leaves_prior();
  const auto inner = workspace.dense.square.matrix(size, size),
             product = workspace.dense.product.matrix(size, size), next = covariance_.matrix();
  std::fill_n(inner.data, inner.size(), 0.0);
  add_curvature(step.curvature, 1, inner, workspace);
  if (kl && step.prior)
    add_inverse(as_full_moment(*step.prior).factorized(), 1, product, inner);
  else if (kl)
    add_prior_diagonal(step.prior_precision, 1, inner);
  mirror_lower(inner);
  gemm(Op::none, Op::none, 1.0, inner, old.matrix(), 0.0, product);
  std::copy_n(old.matrix().data, next.size(), next.data);
  gemm(Op::none, Op::none, -step.curvature_rate, old.matrix(), product, kl ? 1 + step.curvature_rate : 1,
       next);
  return settle(covariance_, old, step.may_shorten(), workspace.dense);
}

/// Sigma' = Sigma - b/2 (H + [KL] (Lambda_0 - Lambda)).
template <class T>
double FullMomentPosterior<T>::take_plain(const PositiveMatrix& old, const PosteriorStep<T>& step,
                                          UpdateWorkspace<T>& workspace) {
  const Index size = this->dimension_;
  const double half = step.curvature_rate / 2;
  const auto next = covariance_.matrix();
  std::copy_n(old.matrix().data, next.size(), next.data);
  add_curvature(step.curvature, -half, next, workspace);
  if (step.leaves_prior()) {
    const auto square = workspace.dense.square.matrix(size, size);
    if (step.prior)
      add_inverse(as_full_moment(*step.prior).factorized(), -half, square, next);
    else
      add_prior_diagonal(step.prior_precision, -half, next);
    add_inverse(old, half, square, next);
  }
  return settle(covariance_, old, step.may_shorten(), workspace.dense);
}

template void FullMomentPosterior<float>::reserve_step(const StepSize&, UpdateWorkspace<float>&) const;
template void FullMomentPosterior<double>::reserve_step(const StepSize&, UpdateWorkspace<double>&) const;
template RowsUse FullMomentPosterior<float>::use_of_rows(const StepSize&) const;
template RowsUse FullMomentPosterior<double>::use_of_rows(const StepSize&) const;
template double FullMomentPosterior<float>::squared_shift(const Posterior<float>&, ConstSpan<float>,
                                                          PosteriorScratch<float>&) const;
template double FullMomentPosterior<double>::squared_shift(const Posterior<double>&, ConstSpan<double>,
                                                           PosteriorScratch<double>&) const;
template double FullMomentPosterior<float>::take(const PosteriorStep<float>&, UpdateWorkspace<float>&);
template double FullMomentPosterior<double>::take(const PosteriorStep<double>&, UpdateWorkspace<double>&);

}  // namespace bdl
