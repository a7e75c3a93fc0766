#include "linalg/tall/low_rank_projection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/blas.hpp"

namespace bdl {
namespace {

// An eigensolver, in double and half of it bandwidth-bound, runs about this many times slower per flop than
// gemm.
constexpr double eigen_penalty = 6;

/// Of the `count` largest pairs: a few products with blocks of vectors where they are few, else a reduction.
double eigen_flops(Index size, Index count) {
  const Index columns = count + 3 + count / 8;  // of a block
  const auto n = static_cast<double>(size), block = static_cast<double>(columns);
  const double direct = 4.0 / 3.0 * n * n * n, krylov = 12 * n * n * block + 64 * n * block * block;
  return eigen_penalty * (BlockKrylov::suits(size, count) ? std::min(direct, krylov) : direct);
}

double gram_cost(const ProjectionSize& s) {
  return s.gram_flops + eigen_flops(s.cols, s.rank) + 2 * s.product_flops * static_cast<double>(s.rank);
}

double outer_cost(const ProjectionSize& s) {
  const auto rows = static_cast<double>(s.rows);
  return rows * rows * static_cast<double>(s.cols) + eigen_flops(s.rows, s.rank);
}

double randomized_cost(const ProjectionSize& s, const ProjectionOptions& options) {
  const auto columns = static_cast<double>(basis_columns(s, options)), rows = static_cast<double>(s.rows);
  return columns * s.product_flops * (2 * static_cast<double>(options.passes) + 2) +
         eigen_penalty * 4 * rows * columns * columns * static_cast<double>(options.passes) +
         static_cast<double>(s.cols) * columns * columns;
}

/// Columns of U = A Y have length sqrt(lambda); eigenvalues at rounding level of the largest carry no
/// direction.
Index numerical_rank(ConstSpan<double> values, Index size, double epsilon) {
  Index rank = 0;
  const double floor = values.empty() ? 0 : values[0] * epsilon * static_cast<double>(size);
  for (double value : values) {
    if (!(value > floor)) break;
    ++rank;
  }
  return rank;
}

/// Residuals of the eigenvectors; what they lose of the trace is their square.
template <class T>
constexpr double eigen_tolerance = sizeof(T) == sizeof(double) ? 1e-11 : 1e-5;

template <class T>
void copy_vectors(ConstMatrixView<double> vectors, MatrixView<T> out) {
  for (Index j = 0; j < out.cols; ++j)
    for (Index i = 0; i < out.rows; ++i) out(i, j) = static_cast<T>(vectors(i, j));
}

template <class T>
void fill_zero(MatrixView<T> a) {
  for (Index j = 0; j < a.cols; ++j) std::ranges::fill(a.column(j), T(0));
}

}  // namespace

EigenMethod choose_method(const ProjectionSize& size, const ProjectionOptions& options) {
  if (options.method != EigenMethod::automatic) return options.method;
  const double gram = gram_cost(size), outer = outer_cost(size);
  if (randomized_cost(size, options) < std::min(gram, outer) / 2) return EigenMethod::randomized;
  return outer < gram ? EigenMethod::outer : EigenMethod::gram;
}

Index basis_columns(const ProjectionSize& size, const ProjectionOptions& options) {
  return std::min(size.rank + options.oversampling, size.rows);
}

template <class T>
void LowRankProjection<T>::reserve(const ProjectionSize& size, const ProjectionOptions& options) {
  const EigenMethod method = choose_method(size, options);
  const Index columns = basis_columns(size, options);
  switch (method) {
    case EigenMethod::gram:
      matrix_.reserve(size.cols * size.cols);
      eigen_.reserve(size.cols, std::min(size.rank, size.cols));
      weights_.reserve(size.cols * size.rank);
      break;
    case EigenMethod::outer:
      matrix_.reserve(size.rows * size.rows);
      eigen_.reserve(size.rows, size.rank);
      break;
    default:
      matrix_.reserve(columns * columns);
      eigen_.reserve(columns, size.rank);
      weights_.reserve(size.cols * columns);
      projected_.reserve(columns * size.cols);
      mixing_.reserve(columns * size.rank);
      basis_.reserve(size.rows * columns);
      image_.reserve(size.rows * columns);
      orthonormalizer_.reserve(columns);
  }
}

template <class T>
MatrixView<T> LowRankProjection<T>::start(const ProjectionSize& size, const ProjectionOptions& options) {
  reserve(size, options);
  return basis_.matrix(size.rows, basis_columns(size, options));
}

template <class T>
void LowRankProjection<T>::apply(Factor<T>& factor, const ProjectionSize& size,
                                 const ProjectionOptions& options, MatrixView<T> u) {
  if (u.cols == 0) return;
  reserve(size, options);
  switch (choose_method(size, options)) {
    case EigenMethod::gram:
      return by_gram(factor, u);
    case EigenMethod::outer:
      return by_outer(factor, u);
    default:
      return by_range(factor, basis_columns(size, options), options.passes, u);
  }
}

/// A^T A = Y Lambda Y^T gives U = A Y_L; no D-vector is orthogonalised.
template <class T>
void LowRankProjection<T>::by_gram(Factor<T>& factor, MatrixView<T> u) {
  const Index size = factor.cols(), wanted = std::min(u.cols, size);
  auto gram = matrix_.matrix(size, size);
  factor.gram(gram);
  eigen_.compute(gram, wanted, eigen_tolerance<T>);
  const Index rank = numerical_rank(eigen_.values(), size, std::numeric_limits<T>::epsilon());
  auto weights = weights_.matrix(size, rank);
  copy_vectors(eigen_.vectors(), weights);
  factor.combine(weights, u.columns(0, rank));
  fill_zero(u.columns(rank, u.cols - rank));
}

/// A A^T = Q Lambda Q^T directly, where D is the smaller side.
template <class T>
void LowRankProjection<T>::by_outer(Factor<T>& factor, MatrixView<T> u) {
  auto outer = matrix_.matrix(u.rows, u.rows);
  factor.outer(outer);
  eigen_.compute(outer, u.cols, eigen_tolerance<T>);
  const auto values = eigen_.values();
  const Index rank = numerical_rank(values, u.rows, std::numeric_limits<double>::epsilon());
  for (Index k = 0; k < rank; ++k)
    for (Index i = 0; i < u.rows; ++i)
      u(i, k) = static_cast<T>(std::sqrt(values[static_cast<std::size_t>(k)]) * eigen_.vectors()(i, k));
  fill_zero(u.columns(rank, u.cols - rank));
}

/// Range finder with power iteration (Halko, Martinsson, Tropp 2011, algorithms 4.4 and 5.1). The answer is A
/// V with orthonormal V, not Q Z: then U U^T never exceeds A A^T, and the diagonal correction stays
/// non-negative.
template <class T>
void LowRankProjection<T>::by_range(Factor<T>& factor, Index columns, Index passes, MatrixView<T> u) {
  const Index size = factor.cols();
  const auto projected = projected_.matrix(columns, size);
  const auto weights = weights_.matrix(size, columns);
  orthonormalizer_.apply(basis_.matrix(u.rows, columns));
  for (Index pass = 0; pass < passes; ++pass) {
    factor.project(basis_.matrix(u.rows, columns), projected);
    for (Index j = 0; j < columns; ++j)
      for (Index i = 0; i < size; ++i) weights(i, j) = projected(j, i);
    factor.combine(weights, image_.matrix(u.rows, columns));
    basis_.swap(image_);
    orthonormalizer_.apply(basis_.matrix(u.rows, columns));
  }
  factor.project(basis_.matrix(u.rows, columns), projected);  // B = Q^T A
  const Index rank = decompose_small(projected, std::min(u.cols, columns));
  const auto right = weights_.matrix(size, rank);  // V = B^T Z S^-1
  gemm(Op::transpose, Op::none, T(1), projected, mixing_.matrix(columns, rank), T(0), right);
  factor.combine(right, u.columns(0, rank));
  fill_zero(u.columns(rank, u.cols - rank));
}

/// Writes Z S^-1 of B B^T = Z S^2 Z^T into mixing_; the numerical rank.
template <class T>
Index LowRankProjection<T>::decompose_small(ConstMatrixView<T> b, Index count) {
  const auto small = matrix_.matrix(b.rows, b.rows);
  for (Index j = 0; j < b.rows; ++j)
    for (Index i = j; i < b.rows; ++i) {
      double sum = 0;
      for (Index k = 0; k < b.cols; ++k) sum += static_cast<double>(b(i, k)) * static_cast<double>(b(j, k));
      small(i, j) = sum;
    }
  eigen_.compute(small, count, eigen_tolerance<T>);
  const auto values = eigen_.values();
  const Index rank = numerical_rank(values, b.cols, std::numeric_limits<T>::epsilon());
  const auto mixing = mixing_.matrix(b.rows, rank);
  for (Index k = 0; k < rank; ++k)
    for (Index i = 0; i < b.rows; ++i)
      mixing(i, k) = static_cast<T>(eigen_.vectors()(i, k) / std::sqrt(values[static_cast<std::size_t>(k)]));
  return rank;
}

template class LowRankProjection<float>;
template class LowRankProjection<double>;

}  // namespace bdl
