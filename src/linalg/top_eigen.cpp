#include "linalg/top_eigen.hpp"

#include <lapacke.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/profile.hpp"

namespace bdl {
namespace {

// dsyevr: 26 n is the documented minimum; the blocked reduction profits from up to nb = 64.
Index real_work(Index n) {
  return std::max<Index>(1, (64 + 6) * n);
}
Index integer_work(Index n) {
  return std::max<Index>(1, 10 * n);
}

void check_finite_lower(ConstMatrixView<double> a) {
  for (Index j = 0; j < a.cols; ++j)
    for (Index i = j; i < a.rows; ++i)
      if (!std::isfinite(a(i, j))) fail(Status::ERROR_DIVERGED, "the curvature's Gram matrix is not finite");
}

}  // namespace

void TopEigen::reserve(Index size, Index count) {
  values_.reserve(size);
  vectors_.reserve(size * count);
  work_.reserve(real_work(size));
  integers_.reserve(integer_work(size) + 2 * std::max<Index>(1, size));
}

Index TopEigen::bytes(Index size, Index count) {
  return static_cast<Index>(sizeof(double)) * (size + size * count + real_work(size)) +
         static_cast<Index>(sizeof(int)) * (integer_work(size) + 2 * size);
}

void TopEigen::compute(MatrixView<double> a, Index count) {
  const StageTimer timer(Stage::eig);
  size_ = a.rows;
  count_ = count;
  if (count == 0) return;
  reserve(size_, count);
  check_finite_lower(a);
  const auto n = static_cast<lapack_int>(size_), first = static_cast<lapack_int>(size_ - count + 1);
  int* support = integers_.data() + integer_work(size_);
  lapack_int found = 0;
  const lapack_int info =
      LAPACKE_dsyevr_work(LAPACK_COL_MAJOR, 'V', 'I', 'L', n, a.data, static_cast<lapack_int>(a.ld), 0.0, 0.0,
                          first, n, 0.0, &found, values_.data(), vectors_.data(), n, support, work_.data(),
                          static_cast<lapack_int>(real_work(size_)), integers_.data(),
                          static_cast<lapack_int>(integer_work(size_)));
  if (info != 0 || found != static_cast<lapack_int>(count))
    fail(Status::ERROR_DIVERGED, "the eigenvalue solver did not converge (LAPACK info %d)",
         static_cast<int>(info));
  for (Index k = 0; k < count / 2; ++k) {
    std::swap(values_.data()[k], values_.data()[count - 1 - k]);
    auto vectors = vectors_.matrix(size_, count);
    std::swap_ranges(vectors.column_data(k), vectors.column_data(k) + size_,
                     vectors.column_data(count - 1 - k));
  }
}

}  // namespace bdl
