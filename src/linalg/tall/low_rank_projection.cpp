#include "linalg/tall/low_rank_projection.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/error.hpp"
#include "linalg/blas.hpp"
#include "linalg/eigen/eigenpairs.hpp"

namespace bdl {
namespace {

// An eigensolver, in double and half of it bandwidth-bound, runs about this many times slower per flop than
// gemm.
constexpr double eigen_penalty = 6;

/// Number of columns of the randomized method's basis.
Index basis_columns(const ProjectionSize& size, const ProjectionOptions& options) {
  return std::min(size.rank + options.oversampling, size.rows);
}

/// Cost of the `count` largest pairs: products with blocks of vectors where they are few, else a reduction.
double eigen_flops(Index size, Index count) {
  const Index columns = count + 3 + count / 8;  // of a block
  const auto n = static_cast<double>(size), block = static_cast<double>(columns);
  const double direct = 4.0 / 3.0 * n * n * n, krylov = 12 * n * n * block + 64 * n * block * block;
  return eigen_penalty * (suits_krylov(size, count) ? std::min(direct, krylov) : direct);
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

/// Returns |x| in double, summed up in a fixed order.
template <class T>
double norm(const T* x, Index size) {
  double sums[8] = {};
  Index i = 0;
  for (; i + 8 <= size; i += 8)
    for (Index p = 0; p < 8; ++p) sums[p] += static_cast<double>(x[i + p]) * static_cast<double>(x[i + p]);
  for (; i < size; ++i) sums[0] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  double sum = 0;
  for (const double each : sums) sum += each;
  return std::sqrt(sum);
}

template <class T>
void scale(T* x, Index size, double factor) {
  for (Index i = 0; i < size; ++i) x[i] = static_cast<T>(factor * static_cast<double>(x[i]));
}

/// Makes the norm a number whatever the column's units; a column of zeros stays. False if it is not finite.
template <class T>
bool scale_to_one(T* x, Index size) {
  T largest = 0, sum = 0;
  for (Index i = 0; i < size; ++i) {
    largest = std::max(largest, std::abs(x[i]));
    sum += 0 * x[i];
  }
  if (largest > 0) scale(x, size, 1 / static_cast<double>(largest));
  return sum == 0;
}

/// Fills a column that depends on those before with another direction: numbers between -1 and 1 by a hash of
/// the position. (Signs alone would too often lie in the span of few others.)
template <class T>
void fill_numbers(T* x, Index size, Index number) {
  for (Index i = 0; i < size; ++i) {
    std::uint64_t z =
        static_cast<std::uint64_t>(i + 1) * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(number);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z ^= z >> 31;
    x[i] = static_cast<T>(static_cast<double>(z >> 11) * 0x1p-52 - 1);
  }
}

/// Leaves what of the column is outside the span of those before, of unit length; false if there is nothing.
template <class T>
bool remove_span(MatrixView<T> before, T* column, MatrixView<T> overlaps) {
  constexpr int most_passes = 4;
  constexpr double kept = 0.7;  // a pass that leaves more has found nothing that matters
  const Index rows = before.rows;
  const double rounding =
      static_cast<double>(std::numeric_limits<T>::epsilon()) * std::sqrt(static_cast<double>(rows));
  const double whole = norm(column, rows);
  double length = whole;
  for (int pass = 0; pass < most_passes && before.cols > 0; ++pass) {
    const double old = length;
    const MatrixView<T> x{column, rows, 1};
    gemm(Op::transpose, Op::none, T(1), before, x, T(0), overlaps);
    gemm(Op::none, Op::none, T(-1), before, overlaps, T(1), x);
    length = norm(column, rows);
    if (!(length > rounding * whole)) return false;
    if (length >= kept * old) break;
  }
  if (!(length > 0)) return false;
  scale(column, rows, 1 / length);
  return true;
}

}  // namespace

template <class T>
void orthonormalize(MatrixView<T> q, Scratch& scratch) {
  constexpr Index most_trials = 8;
  const Scratch::Frame frame(scratch);
  const auto overlaps = scratch.matrix<T>(q.cols, 1);
  for (Index j = 0; j < q.cols; ++j) {
    T* const column = q.column_data(j);
    if (!scale_to_one(column, q.rows)) fail(Status::ERROR_DIVERGED, "the columns of a factor are not finite");
    for (Index trial = 0; !remove_span(q.columns(0, j), column, overlaps.block(0, 0, j, 1)); ++trial) {
      if (trial == most_trials)
        fail(Status::ERROR_INTERNAL, "there is no direction outside %d columns", static_cast<int>(j));
      fill_numbers(column, q.rows, j + trial * q.cols);
    }
  }
}

namespace {

/// Takes U = A Y_L by A^T A = Y Lambda Y^T; no D-vector is orthogonalised.
template <class T>
void project_by_gram(Factor<T>& factor, MatrixView<T> u, Scratch& scratch) {
  const Index size = factor.cols(), wanted = std::min(u.cols, size);
  const auto gram = scratch.matrix<double>(size, size);
  factor.gram(gram);
  const EigenPairs pairs = largest_positive_pairs(gram, wanted, eigen_tolerance<T>, scratch);
  const Index rank = numerical_rank(pairs.values, size, std::numeric_limits<T>::epsilon());
  const auto weights = scratch.matrix<T>(size, rank);
  copy_vectors<T>(pairs.vectors, weights);
  factor.combine(weights, u.columns(0, rank));
  fill_zero(u.columns(rank, u.cols - rank));
}

/// Takes A A^T = Q Lambda Q^T directly, where D is the smaller side.
template <class T>
void project_by_outer(Factor<T>& factor, MatrixView<T> u, Scratch& scratch) {
  const auto outer = scratch.matrix<double>(u.rows, u.rows);
  factor.outer(outer);
  const EigenPairs pairs = largest_positive_pairs(outer, u.cols, eigen_tolerance<T>, scratch);
  const Index rank = numerical_rank(pairs.values, u.rows, std::numeric_limits<double>::epsilon());
  for (Index k = 0; k < rank; ++k)
    for (Index i = 0; i < u.rows; ++i)
      u(i, k) = static_cast<T>(std::sqrt(pairs.values[static_cast<std::size_t>(k)]) * pairs.vectors(i, k));
  fill_zero(u.columns(rank, u.cols - rank));
}

template <class T>
void fill_start(const ProjectionStart<T>& start, MatrixView<T> basis) {
  StreamKey key = start.random;
  for (Index k = 0; k < basis.cols; ++k, ++key.sample) {
    const bool warm =
        k < start.near.cols && std::ranges::any_of(start.near.column(k), [](T value) { return value != 0; });
    if (warm)
      std::ranges::copy(start.near.column(k), basis.column_data(k));
    else
      fill_normal(key, 0, basis.column(k));
  }
}

/// Returns Z S^-1 of B B^T = Z S^2 Z^T, as many columns as the numerical rank, taken from the scratch.
template <class T>
MatrixView<T> decompose_small(ConstMatrixView<T> b, Index count, Scratch& scratch) {
  const auto small = scratch.matrix<double>(b.rows, b.rows);
  for (Index j = 0; j < b.rows; ++j)
    for (Index i = j; i < b.rows; ++i) {
      double sum = 0;
      for (Index k = 0; k < b.cols; ++k) sum += static_cast<double>(b(i, k)) * static_cast<double>(b(j, k));
      small(i, j) = sum;
    }
  const EigenPairs pairs = largest_positive_pairs(small, count, eigen_tolerance<T>, scratch);
  const Index rank = numerical_rank(pairs.values, b.cols, std::numeric_limits<T>::epsilon());
  const auto mixing = scratch.matrix<T>(b.rows, rank);
  for (Index k = 0; k < rank; ++k)
    for (Index i = 0; i < b.rows; ++i)
      mixing(i, k) =
          static_cast<T>(pairs.vectors(i, k) / std::sqrt(pairs.values[static_cast<std::size_t>(k)]));
  return mixing;
}

/// Range finder with power iteration (Halko, Martinsson, Tropp 2011, algorithms 4.4 and 5.1). The answer is A
/// V with orthonormal V, not Q Z: then U U^T never exceeds A A^T, and the diagonal correction stays
/// non-negative.
template <class T>
void project_by_range(Factor<T>& factor, Index columns, Index passes, const ProjectionStart<T>& start,
                      MatrixView<T> u, Scratch& scratch) {
  const Index size = factor.cols();
  MatrixView<T> basis = scratch.matrix<T>(u.rows, columns), image = scratch.matrix<T>(u.rows, columns);
  const auto projected = scratch.matrix<T>(columns, size), weights = scratch.matrix<T>(size, columns);
  fill_start(start, basis);
  orthonormalize(basis, scratch);
  for (Index pass = 0; pass < passes; ++pass) {
    factor.project(basis, projected);
    for (Index j = 0; j < columns; ++j)
      for (Index i = 0; i < size; ++i) weights(i, j) = projected(j, i);
    factor.combine(weights, image);
    std::swap(basis, image);
    orthonormalize(basis, scratch);
  }
  factor.project(basis, projected);  // B = Q^T A
  const MatrixView<T> mixing = decompose_small<T>(projected, std::min(u.cols, columns), scratch);
  const Index rank = mixing.cols;
  const auto right = weights.columns(0, rank);  // V = B^T Z S^-1
  gemm(Op::transpose, Op::none, T(1), projected, mixing, T(0), right);
  factor.combine(right, u.columns(0, rank));
  fill_zero(u.columns(rank, u.cols - rank));
}

}  // namespace

EigenMethod choose_method(const ProjectionSize& size, const ProjectionOptions& options) {
  if (options.method != EigenMethod::automatic) return options.method;
  const double gram = gram_cost(size), outer = outer_cost(size);
  if (randomized_cost(size, options) < std::min(gram, outer) / 2) return EigenMethod::randomized;
  return outer < gram ? EigenMethod::outer : EigenMethod::gram;
}

template <class T>
void project_to_low_rank(Factor<T>& factor, const ProjectionSize& size, const ProjectionOptions& options,
                         const ProjectionStart<T>& start, MatrixView<T> u, Scratch& scratch) {
  if (u.cols == 0) return;
  const Scratch::Frame frame(scratch);
  switch (choose_method(size, options)) {
    case EigenMethod::gram:
      return project_by_gram(factor, u, scratch);
    case EigenMethod::outer:
      return project_by_outer(factor, u, scratch);
    default:
      return project_by_range(factor, basis_columns(size, options), options.passes, start, u, scratch);
  }
}

#define BDL_INSTANTIATE(T)                                                                       \
  template void orthonormalize(MatrixView<T>, Scratch&);                                         \
  template void project_to_low_rank(Factor<T>&, const ProjectionSize&, const ProjectionOptions&, \
                                    const ProjectionStart<T>&, MatrixView<T>, Scratch&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
