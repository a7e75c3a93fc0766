// Inner products in vectors, which compilers do not make of sums by themselves; for use inside with_simd().
#pragma once

#include "base/simd.hpp"
#include "base/view.hpp"

namespace bdl {

/// Returns sum_i a_i b_i in the vectors' own type, four vectors of partial sums at a time.
template <int bytes, class T>
BDL_ALWAYS_INLINE T dot(const T* a, const T* b, Index count) {
  using Vector = typename VectorOf<T, bytes>::type;
  constexpr Index lanes = bytes / static_cast<Index>(sizeof(T));
  Vector sums[4] = {};
  Index i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    Vector x[4], y[4];
    __builtin_memcpy(x, a + i, sizeof x);
    __builtin_memcpy(y, b + i, sizeof y);
    for (int v = 0; v < 4; ++v) sums[v] += x[v] * y[v];
  }
  for (; i + lanes <= count; i += lanes) {
    Vector x, y;
    __builtin_memcpy(&x, a + i, sizeof x);
    __builtin_memcpy(&y, b + i, sizeof y);
    sums[0] += x * y;
  }
  T sum = 0;
  for (; i < count; ++i) sum += a[i] * b[i];
  const Vector all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  for (Index lane = 0; lane < lanes; ++lane) sum += all[lane];
  return sum;
}

}  // namespace bdl
