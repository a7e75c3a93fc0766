// Vectors of W doubles, for kernels that are compiled once per instruction set (base/simd.hpp) with the width
// its registers have.
#pragma once

#include <cstdint>

#include "base/simd.hpp"
#include "base/view.hpp"

namespace bdl {

template <int W>
struct Lanes {
  typedef double Vector __attribute__((vector_size(W * 8), may_alias));
  typedef std::uint64_t Bits __attribute__((vector_size(W * 8), may_alias));
};

/// Matrices of the kernels have columns padded to this many doubles, whatever the width.
inline constexpr Index lane_count = 8;

inline Index lane_padded(Index size) {
  return (size + lane_count - 1) / lane_count * lane_count;
}

/// Returns the vector at an aligned address. Vectors are never passed by value: their calling convention
/// depends on the instruction set.
template <int W>
BDL_ALWAYS_INLINE typename Lanes<W>::Vector& vector_at(double* p) {
  return *reinterpret_cast<typename Lanes<W>::Vector*>(p);
}
template <int W>
BDL_ALWAYS_INLINE const typename Lanes<W>::Vector& vector_at(const double* p) {
  return *reinterpret_cast<const typename Lanes<W>::Vector*>(p);
}

/// Returns the sum of the lanes, added pairwise.
template <int W>
BDL_ALWAYS_INLINE double sum_of(const typename Lanes<W>::Vector& x) {
  if constexpr (W == 2) {
    return x[0] + x[1];
  } else {
    typename Lanes<W / 2>::Vector half;
    if constexpr (W == 4)
      half = __builtin_shufflevector(x, x, 0, 1) + __builtin_shufflevector(x, x, 2, 3);
    else
      half = __builtin_shufflevector(x, x, 0, 1, 2, 3) + __builtin_shufflevector(x, x, 4, 5, 6, 7);
    return sum_of<W / 2>(half);
  }
}

/// x^T y over `size` elements, a multiple of lane_count.
template <int W>
BDL_ALWAYS_INLINE double aligned_dot(const double* x, const double* y, Index size) {
  constexpr int vectors = lane_count / W;
  typename Lanes<W>::Vector sum[vectors] = {};
  for (Index i = 0; i < size; i += lane_count)
    for (int u = 0; u < vectors; ++u) sum[u] += vector_at<W>(x + i + u * W) * vector_at<W>(y + i + u * W);
  for (int u = 1; u < vectors; ++u) sum[0] += sum[u];
  return sum_of<W>(sum[0]);
}

/// Doubles in a register of an instruction set, for with_simd().
template <int bytes>
constexpr int lanes_of(VectorWidth<bytes> /*width*/) {
  return bytes / 8;
}

}  // namespace bdl
