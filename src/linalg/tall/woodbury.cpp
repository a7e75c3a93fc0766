#include "linalg/tall/woodbury.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"
#include "linalg/dense/log_sum.hpp"

namespace bdl {
namespace {

template <class T>
T row_square(ConstMatrixView<T> u, Index row) {
  T sum = 0;
  for (Index j = 0; j < u.cols; ++j) sum += u(row, j) * u(row, j);
  return sum;
}

/// Returns sum d y^2 in double.
template <class T>
double weighted_squares(const T* y, const T* d, Index count) {
  constexpr Index lanes = 8;
  double sums[lanes] = {}, sum = 0;
  const auto term = [=](Index i) {
    const double value = static_cast<double>(y[i]);
    return static_cast<double>(d[i]) * value * value;
  };
  Index i = 0;
  for (; i + lanes <= count; i += lanes)
    for (Index lane = 0; lane < lanes; ++lane) sums[lane] += term(i + lane);
  for (; i < count; ++i) sum += term(i);
  for (const double part : sums) sum += part;
  return sum;
}

}  // namespace

template <class T>
void Woodbury<T>::copy(const Woodbury& other) {
  rank_ = other.rank_;
  log_det_ = other.log_det_;
  std::ranges::copy(other.core_.first(rank_ * rank_), core_.first(rank_ * rank_).begin());
  std::ranges::copy(other.coloring_.first(rank_ * rank_), coloring_.first(rank_ * rank_).begin());
}

template <class T>
bool Woodbury<T>::factorize(ConstMatrixView<T> u, ConstSpan<T> d, Scratch& scratch) {
  rank_ = u.cols;
  tall_gram(u, d, core_.matrix(rank_, rank_), scratch);
  return finish(d);
}

template <class T>
bool Woodbury<T>::factorize(ConstMatrixView<double> gram, ConstSpan<T> d) {
  rank_ = gram.cols;
  const auto core = core_.matrix(rank_, rank_);
  for (Index j = 0; j < rank_; ++j) std::ranges::copy(gram.column(j), core.column_data(j));
  return finish(d);
}

/// core_ holds U^T diag(1/d) U.
template <class T>
bool Woodbury<T>::finish(ConstSpan<T> d) {
  const auto core = core_.matrix(rank_, rank_), coloring = coloring_.matrix(rank_, rank_);
  for (Index i = 0; i < rank_; ++i) core(i, i) += 1;
  if (!cholesky(core)) return false;
  log_det_ = -sum_of_logs(d) - log_det_from_cholesky(core);
  // X = Bc^-T (Bc + I)^-1: both triangular, so X is never a singular solve (docs/theory/gaussians.md,
  // "Sampling with one Cholesky factor").
  for (Index j = 0; j < rank_; ++j) std::ranges::fill(coloring.column(j), 0.0);
  for (Index i = 0; i < rank_; ++i) {
    coloring(i, i) = 1;
    core(i, i) += 1;
  }
  solve_lower_left(Op::none, core, coloring);
  for (Index i = 0; i < rank_; ++i) core(i, i) -= 1;
  solve_lower_left(Op::transpose, core, coloring);
  return std::isfinite(log_det_);
}

/// M = I, so Bc = I and X = I / 2.
template <class T>
bool Woodbury<T>::set_diagonal(Index rank, ConstSpan<T> d) {
  rank_ = rank;
  const auto core = core_.matrix(rank, rank), coloring = coloring_.matrix(rank, rank);
  for (Index j = 0; j < rank; ++j)
    for (Index i = 0; i < rank; ++i) {
      core(i, j) = i == j ? 1 : 0;
      coloring(i, j) = i == j ? 0.5 : 0;
    }
  log_det_ = -sum_of_logs(d);
  return std::isfinite(log_det_);
}

/// X = Sigma X = (X - U M^-1 U^T (X / d)) / d; returns M^-1 U^T (X / d), taken from the scratch.
template <class T>
MatrixView<double> Woodbury<T>::solve_some(ConstMatrixView<T> u, ConstSpan<T> d, MatrixView<T> x,
                                           Scratch& scratch) const {
  const auto c = scratch.matrix<double>(rank_, x.cols);
  if (rank_ > 0) tall_project<T>(u, x, d, Divide::by_d, c, scratch);
  for (Index j = 0; j < x.cols; ++j) cholesky_solve(core(), c.columns(j, 1));
  tall_residual<T>(u, c, d, x, scratch);
  return c;
}

template <class T>
void Woodbury<T>::solve(ConstMatrixView<T> u, ConstSpan<T> d, MatrixView<T> x, Scratch& scratch) const {
  for (Index first = 0; first < x.cols; first += woodbury_columns) {
    const Scratch::Frame frame(scratch);
    solve_some(u, d, x.columns(first, std::min(woodbury_columns, x.cols - first)), scratch);
  }
}

/// With c = M^-1 U^T (x / d) and y = Sigma x = (x - U c) / d, it is sum d y^2 + |c|^2: what a ridge
/// regression of x / sqrt(d) on V leaves. Other than in x^T y, nothing cancels where U U^T dominates d.
template <class T>
void Woodbury<T>::variances(ConstMatrixView<T> u, ConstSpan<T> d, MatrixView<T> x, std::span<double> out,
                            Scratch& scratch) const {
  for (Index first = 0; first < x.cols; first += woodbury_columns) {
    const Scratch::Frame frame(scratch);
    const auto some = x.columns(first, std::min(woodbury_columns, x.cols - first));
    const auto c = solve_some(u, d, some, scratch);
    for (Index j = 0; j < some.cols; ++j) {
      double sum = weighted_squares(some.column_data(j), d.data(), u.rows);
      for (const double value : c.column(j)) sum += value * value;
      out[static_cast<std::size_t>(first + j)] = sum;
    }
  }
}

/// V = U / sqrt(d), so V^T eps = U^T (eps / sqrt(d)).
template <class T>
void Woodbury<T>::color(ConstMatrixView<T> u, ConstSpan<T> d, ConstSpan<T> mean, MatrixView<T> eps,
                        Scratch& scratch) const {
  for (Index first = 0; first < eps.cols; first += woodbury_columns) {
    const Scratch::Frame frame(scratch);
    const auto some = eps.columns(first, std::min(woodbury_columns, eps.cols - first));
    const auto projected = scratch.matrix<double>(rank_, some.cols),
               mixed = scratch.matrix<double>(rank_, some.cols);
    if (rank_ > 0) tall_project_each<T>(u, some, d, Divide::by_root_d, projected, scratch);
    for (Index j = 0; j < some.cols; ++j)
      gemm(Op::none, Op::none, 1.0, coloring_.matrix(rank_, rank_), projected.columns(j, 1), 0.0,
           mixed.columns(j, 1));
    tall_color<T>(u, mixed, d, mean, some, scratch);
  }
}

template <class T>
void Woodbury<T>::marginal_variance(ConstMatrixView<T> u, ConstSpan<T> d, std::span<T> variance,
                                    Scratch& scratch) const {
  tall_marginals(u, d, core(), variance, scratch);
  for (Index i = 0; i < u.rows; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (variance[k] * d[k] < T(0.01)) variance[k] = std::max(variance[k], 1 / (d[k] + row_square(u, i)));
  }
}

template class Woodbury<float>;
template class Woodbury<double>;

}  // namespace bdl
