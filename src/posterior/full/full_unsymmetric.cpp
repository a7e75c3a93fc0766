// The gradient with respect to natural parameters as the official BONG code takes it, before it is made
// symmetric (docs/mathematics/natural-gradients.md, "The unsymmetric matrix gradient"): for comparisons.
#include <algorithm>

#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"
#include "posterior/full/dense_step.hpp"
#include "posterior/full/full.hpp"
#include "posterior/points.hpp"

namespace bdl {

template <class T>
ConstMatrixView<double> FullPosterior<T>::whole_precision() const {
  return is_unsymmetric() ? held(whole_precision_) : precision();
}

/// out = 2 M = H + [KL] (Lambda_0 - Lambda).
template <class T>
void FullPosterior<T>::twice_gradient(const FullPosterior& from, const PosteriorStep<T>& step,
                                      MatrixView<double> out, UpdateWorkspace<T>& workspace) {
  std::fill_n(out.data, out.size(), 0.0);
  add_curvature(step.curvature, 1, out, workspace);
  mirror_lower(out);
  if (!step.leaves_prior()) return;
  const auto add = [&](ConstMatrixView<double> matrix, double factor) {
    for (Index k = 0; k < out.size(); ++k) out.data[k] += factor * matrix.data[k];
  };
  if (step.prior)
    add(as_full(*step.prior).whole_precision(), 1);
  else
    add_prior_diagonal(step.prior_precision, 1, out);
  add(from.whole_precision(), -1);
}

template <class T>
void FullPosterior<T>::reserve_unsymmetric_step(const StepSize& step, UpdateWorkspace<T>& workspace) const {
  const Index size = this->dimension_;
  workspace.dense.square.reserve(size * size);
  workspace.dense.product.reserve(size * size);
  workspace.small.reserve(4 * size);
  reserve_curvature(step, workspace);
  reserve_inverse(size, workspace.dense);
}

/// Lambda' = Lambda + 4 b Sigma m mu^T + 4 b Sigma M Sigma and its inverse, neither symmetric;
/// mu' = Sigma' (Lambda mu - a Sigma m). The symmetric part of Lambda' decides on shortening.
template <class T>
double FullPosterior<T>::take_unsymmetric(const FullPosterior& from, const PosteriorStep<T>& step,
                                          UpdateWorkspace<T>& workspace) {
  const Index size = this->dimension_;
  DenseScratch& scratch = workspace.dense;
  reserve_unsymmetric();
  const auto change = held(whole_precision_), covariance = held(covariance_);
  const auto old = from.whole_precision();
  if (from.is_unsymmetric())
    std::copy_n(from.covariance_.data(), covariance.size(), covariance.data);
  else
    cholesky_inverse(from.factor(), covariance);
  double *mean = workspace.small.data(), *m = mean + size, *u = m + size, *target = u + size;
  std::ranges::copy(step.from.mean(), mean);
  std::ranges::copy(step.m, m);
  const auto multiply = [=](ConstMatrixView<double> a, const double* x, double* y) {
    gemm(Op::none, Op::none, 1.0, a, {x, size, 1}, 0.0, {y, size, 1});
  };
  multiply(covariance, m, u);

  const auto inner = held(scratch.square), product = held(scratch.product);
  twice_gradient(from, step, inner, workspace);
  gemm(Op::none, Op::none, 1.0, inner, covariance, 0.0, product);
  gemm(Op::none, Op::none, 2 * step.curvature_rate, covariance, product, 0.0, change);
  gemm(Op::none, Op::transpose, 4 * step.curvature_rate, {u, size, 1}, {mean, size, 1}, 1.0, change);
  for_each_point(step, [&](Index p) {  // points are left out of u mu^T
    for (Index i = 0; i < size; ++i) change(i, p) = change(p, i) = 0;
  });
  const auto symmetric = precision_.matrix();
  for (Index j = 0; j < size; ++j)
    for (Index i = j; i < size; ++i)
      symmetric(i, j) = from.precision()(i, j) + (change(i, j) + change(j, i)) / 2;
  const double part = settle(precision_, from.natural(), step.may_shorten(), scratch);

  for (Index k = 0; k < change.size(); ++k) change.data[k] = old.data[k] + part * change.data[k];
  std::copy_n(change.data, change.size(), covariance.data);
  if (!invert_general(covariance, scratch)) fail_not_positive();
  multiply(old, mean, target);
  for (Index i = 0; i < size; ++i) target[i] -= part * step.mean_rate * u[i];
  multiply(covariance, target, mean);
  store_mean(mean, this->mean());
  form_ = Form::unsymmetric;
  return part;
}

#define BDL_INSTANTIATE(T)                                                                              \
  template ConstMatrixView<double> FullPosterior<T>::whole_precision() const;                           \
  template void FullPosterior<T>::reserve_unsymmetric_step(const StepSize&, UpdateWorkspace<T>&) const; \
  template double FullPosterior<T>::take_unsymmetric(const FullPosterior<T>&, const PosteriorStep<T>&,  \
                                                     UpdateWorkspace<T>&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
