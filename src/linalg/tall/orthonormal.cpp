
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/error.hpp"
#include "linalg/blas.hpp"
#include "linalg/tall/low_rank_projection.hpp"

namespace bdl {
namespace {

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

template void orthonormalize(MatrixView<float>, Scratch&);
template void orthonormalize(MatrixView<double>, Scratch&);

}  // namespace bdl
