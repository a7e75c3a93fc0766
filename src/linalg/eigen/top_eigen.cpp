#include "linalg/eigen/top_eigen.hpp"

#include <lapacke.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/profile.hpp"
#include "linalg/blas/lanes.hpp"

namespace bdl {
namespace {

// Larger matrices are reduced where they are, by LAPACK: a copy would cost memory, and time little less.
constexpr Index largest_direct = 512;

// dsyevr: 26 n is the documented minimum; the blocked reduction profits from up to nb = 64.
Index real_work(Index n) {
  return n > largest_direct ? (64 + 6) * n : 0;
}
Index integer_work(Index n) {
  return n > largest_direct ? 10 * n : 0;
}
Index supports(Index n) {
  return n > largest_direct ? 2 * n : 0;
}

/// The largest matrix that the direct solver gets: the whole one, or Krylov's projection of it.
Index direct_size(Index size, Index count) {
  if (size <= largest_direct) return size;
  return BlockKrylov::suits(size, count) ? BlockKrylov::most_columns(size, count) : 0;
}

}  // namespace

void TopEigen::reserve(Index size, Index count) {
  values_.reserve(size);
  vectors_.reserve(lane_padded(size) * count);
  direct_.reserve(direct_size(size, count), count);
  if (BlockKrylov::suits(size, count)) krylov_.reserve(size, count);
  work_.reserve(real_work(size));
  integers_.reserve(integer_work(size) + supports(size));
}

ConstMatrixView<double> TopEigen::vectors() const {
  return {vectors_.data(), size_, count_, lane_padded(size_)};
}

void TopEigen::compute(MatrixView<double> a, Index count, double tolerance) {
  const StageTimer timer(Stage::eig);
  size_ = a.rows;
  count_ = count;
  if (count == 0) return;
  reserve(size_, count);
  const MatrixView<double> vectors{vectors_.data(), size_, count, lane_padded(size_)};
  if (BlockKrylov::suits(size_, count) && krylov_.compute(a, tolerance, direct_, values_.data(), vectors))
    return;
  const bool found =
      size_ <= largest_direct ? direct_.compute(a, values_.data(), vectors) : by_lapack(a, vectors);
  if (!found)
    fail(Status::ERROR_DIVERGED,
         "the curvature's Gram matrix is not finite, or its eigenvalue solver did not converge");
}

bool TopEigen::by_lapack(MatrixView<double> a, MatrixView<double> vectors) {
  double sum = 0;  // the reduction would not end on what is not finite
  for (Index j = 0; j < a.cols; ++j)
    for (Index i = j; i < a.rows; ++i) sum += 0 * a(i, j);
  if (sum != 0) return false;
  const auto n = static_cast<lapack_int>(size_), first = static_cast<lapack_int>(size_ - count_ + 1);
  lapack_int found = 0;
  const lapack_int info = LAPACKE_dsyevr_work(
      LAPACK_COL_MAJOR, 'V', 'I', 'L', n, a.data, static_cast<lapack_int>(a.ld), 0.0, 0.0, first, n, 0.0,
      &found, values_.data(), vectors.data, static_cast<lapack_int>(vectors.ld),
      integers_.data() + integer_work(size_), work_.data(), static_cast<lapack_int>(real_work(size_)),
      integers_.data(), static_cast<lapack_int>(integer_work(size_)));
  if (info != 0 || found != static_cast<lapack_int>(count_)) return false;
  for (Index k = 0; k < count_ / 2; ++k) {
    std::swap(values_.data()[k], values_.data()[count_ - 1 - k]);
    std::swap_ranges(vectors.column_data(k), vectors.column_data(k) + size_,
                     vectors.column_data(count_ - 1 - k));
  }
  return true;
}

}  // namespace bdl
