#include "train/exact/low_rank/chart.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/blas.hpp"
#include "linalg/eigen/eigenpairs.hpp"

namespace bdl {

LowRankChart::LowRankChart(Index rank, ConstSpan<double> least)
    : dimension_(static_cast<Index>(least.size())), rank_(rank) {
  reserve(dimension_, rank);
  std::ranges::copy(least, least_.data());
}

void LowRankChart::reserve(Index dimension, Index rank) {
  for (Buffer<double>* buffer : {&least_, &mean_, &root_d_, &start_, &unit_, &s_}) buffer->reserve(dimension);
  for (Buffer<double>* buffer : {&u_, &v_}) buffer->reserve(dimension * rank);
  for (Buffer<double>* buffer : {&gram_, &vectors_, &inverse_root_, &root_}) buffer->reserve(rank * rank);
  values_.reserve(rank);
  products_.reserve(2 * rank * std::max<Index>(rank, 1));
  point_.reserve(dimension * (rank + 2));
}

/// With V^T V = R diag(s^2) R^T and r = sqrt(1 + s^2), M is R diag(1 / (1 + r)) R^T for the square root,
/// and -R diag(1 / (r (1 + r))) R^T for its inverse.
void LowRankChart::center(const LowRankPosterior<double>& q) {
  std::ranges::copy(q.mean(), mean_.data());
  q.marginal_variance(unit_.first(dimension_), scratch_);
  for (Index i = 0; i < dimension_; ++i) {
    const double least = least_.data()[i], d = std::max(least, q.d()[static_cast<std::size_t>(i)]);
    const double s = std::sqrt(d - least), variance = unit_.data()[i];
    root_d_.data()[i] = std::sqrt(d);
    start_.data()[i] = s_.data()[i] = s;
    unit_.data()[i] = 1 / std::max(2 * s * variance, std::sqrt(variance));
  }
  const auto v = v_.matrix(dimension_, rank_);
  for (Index k = 0; k < rank_; ++k) {
    std::ranges::copy(q.u().column(k), u_.data() + k * dimension_);
    for (Index i = 0; i < dimension_; ++i) v(i, k) = q.u()(i, k) / root_d_.data()[i];
  }
  if (rank_ == 0) return;
  syrk(Op::transpose, 1.0, v, 0.0, square(gram_));
  if (!largest_eigenpairs(square(gram_), values_.data(), square(vectors_), scratch_))
    fail(Status::ERROR_DIVERGED, "the low-rank part of the precision is not finite");
  const auto assemble = [&](auto factor, Buffer<double>& to) {
    const auto left = square(products_), vectors = square(vectors_);
    for (Index k = 0; k < rank_; ++k) {
      const double r = std::sqrt(1 + std::max(0.0, values_.data()[k]));
      for (Index i = 0; i < rank_; ++i) left(i, k) = factor(r) * vectors(i, k);
    }
    gemm(Op::none, Op::transpose, 1.0, left, vectors, 0.0, square(to));
  };
  assemble([](double r) { return 1 / (1 + r); }, root_);
  assemble([](double r) { return -1 / (r * (1 + r)); }, inverse_root_);
}

/// Replaces X by (I + V M V^T) X.
void LowRankChart::transform(ConstMatrixView<double> middle, MatrixView<double> x) {
  if (rank_ == 0 || x.cols == 0) return;
  const auto v = v_.matrix(dimension_, rank_), first = products_.matrix(rank_, x.cols);
  const MatrixView<double> second(first.data + first.size(), rank_, x.cols);
  gemm(Op::transpose, Op::none, 1.0, v, x, 0.0, first);
  gemm(Op::none, Op::none, 1.0, middle, first, 0.0, second);
  gemm(Op::none, Op::none, 1.0, v, second, 1.0, x);
}

void LowRankChart::place(ConstSpan<double> z, double scale, LowRankPosterior<double>& q) {
  double* const point = point_.data();
  std::ranges::transform(z, point, [=](double value) { return scale * value; });
  const MatrixView<double> mean(point, dimension_, 1), u(point + dimension_, dimension_, rank_);
  transform(square(inverse_root_), mean);
  transform(square(root_), u);
  double* const d = point + dimension_ * (rank_ + 1);
  for (Index i = 0; i < dimension_; ++i) {
    const double root = root_d_.data()[i];
    mean(i, 0) = mean_.data()[i] + mean(i, 0) / root;
    for (Index k = 0; k < rank_; ++k) u(i, k) = u_.data()[i + k * dimension_] + root * u(i, k);
    const double s = s_.data()[i] = start_.data()[i] + unit_.data()[i] * d[i];
    d[i] = least_.data()[i] + s * s;
  }
  std::copy_n(point, dimension_, q.mean().data());
  q.set_precision(u, {d, static_cast<std::size_t>(dimension_)});
}

void LowRankChart::pull_back(ConstSpan<double> mean, ConstMatrixView<double> u, ConstSpan<double> d,
                             std::span<double> out) {
  const MatrixView<double> e(out.data(), dimension_, 1), scaled(out.data() + dimension_, dimension_, rank_);
  for (Index i = 0; i < dimension_; ++i) {
    const double root = root_d_.data()[i];
    e(i, 0) = mean[static_cast<std::size_t>(i)] / root;
    for (Index k = 0; k < rank_; ++k) scaled(i, k) = root * u(i, k);
  }
  transform(square(inverse_root_), e);
  transform(square(root_), scaled);
  double* const f = out.data() + dimension_ * (rank_ + 1);
  for (Index i = 0; i < dimension_; ++i)
    f[i] = 2 * s_.data()[i] * unit_.data()[i] * d[static_cast<std::size_t>(i)];
}

}  // namespace bdl
