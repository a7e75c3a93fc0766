// Loops over vectors that compilers do not vectorise by themselves because they sum; for use inside
// with_simd().
#pragma once

#include <utility>

#include "base/simd.hpp"
#include "base/view.hpp"

namespace bdl {

/// By reference: how vectors are passed by value depends on the instruction set.
template <int bytes, class T, std::size_t... lane>
BDL_ALWAYS_INLINE void add_halves(const typename VectorOf<T, bytes>::type& x,
                                  typename VectorOf<T, bytes / 2>::type& sum, std::index_sequence<lane...>) {
  sum = __builtin_shufflevector(x, x, lane...) + __builtin_shufflevector(x, x, (lane + sizeof...(lane))...);
}

/// sums[j] = a_j^T b for J columns of A `lda` apart, from row i on: `sum` has what is before. What fills no
/// vector is left to narrower ones.
template <int bytes, int J, class T>
BDL_ALWAYS_INLINE void finish_dots(typename VectorOf<T, bytes>::type (&sum)[J], const T* a, Index lda,
                                   const T* b, Index i, Index size, T* sums) {
  using Vector = typename VectorOf<T, bytes>::type;
  constexpr Index lanes = bytes / static_cast<Index>(sizeof(T));
  if (i + lanes <= size) {
    Vector x, y;
    __builtin_memcpy(&y, b + i, sizeof y);
#pragma GCC unroll 4
    for (int j = 0; j < J; ++j) {
      __builtin_memcpy(&x, a + j * lda + i, sizeof x);
      sum[j] += x * y;
    }
    i += lanes;
  }
  if constexpr (bytes > 16) {
    typename VectorOf<T, bytes / 2>::type half[J];
#pragma GCC unroll 4
    for (int j = 0; j < J; ++j)
      add_halves<bytes, T>(sum[j], half[j], std::make_index_sequence<bytes / 2 / sizeof(T)>());
    finish_dots<bytes / 2, J, T>(half, a, lda, b, i, size, sums);
  } else {
#pragma GCC unroll 4
    for (int j = 0; j < J; ++j) {
      if constexpr (sizeof(T) == sizeof(float))
        sums[j] = (sum[j][0] + sum[j][2]) + (sum[j][1] + sum[j][3]);
      else
        sums[j] = sum[j][0] + sum[j][1];
      for (Index k = i; k < size; ++k) sums[j] += a[j * lda + k] * b[k];
    }
  }
}

template <int bytes, int J, class T>
BDL_ALWAYS_INLINE void dots(const T* a, Index lda, const T* b, Index size, T* sums) {
  using Vector = typename VectorOf<T, bytes>::type;
  constexpr Index lanes = bytes / static_cast<Index>(sizeof(T));
  Vector sum[J][2] = {}, all[J];
  Index i = 0;
  for (; i + 2 * lanes <= size; i += 2 * lanes) {
    Vector y[2];
    __builtin_memcpy(y, b + i, sizeof y);
#pragma GCC unroll 4
    for (int j = 0; j < J; ++j) {
      Vector x[2];
      __builtin_memcpy(x, a + j * lda + i, sizeof x);
      for (int v = 0; v < 2; ++v) sum[j][v] += x[v] * y[v];
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < J; ++j) all[j] = sum[j][0] + sum[j][1];
  finish_dots<bytes, J, T>(all, a, lda, b, i, size, sums);
}

/// write(j, a_j^T b) for `count` columns of A.
template <int bytes, class T, class Write>
BDL_ALWAYS_INLINE void for_each_dot(const T* a, Index lda, Index count, const T* b, Index size,
                                    Write&& write) {
  Index j = 0;
  if constexpr (bytes > 32)  // wide vectors would be mostly empty
    if (size < 2 * bytes / static_cast<Index>(sizeof(T)))
      return for_each_dot<32>(a, lda, count, b, size, write);
  for (; j + 4 <= count; j += 4) {
    T sums[4];
    dots<bytes, 4>(a + j * lda, lda, b, size, sums);
    for (Index k = 0; k < 4; ++k) write(j + k, sums[k]);
  }
  for (; j < count; ++j) {
    T sum;
    dots<bytes, 1>(a + j * lda, lda, b, size, &sum);
    write(j, sum);
  }
}

/// sum_i a_i b_i in the vectors' own type, four vectors of partial sums at a time.
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
