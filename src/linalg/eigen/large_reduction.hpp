// The reduction of householder.hpp for matrices that do not fit the caches, on the library's threads.
#pragma once

#include "linalg/eigen/householder.hpp"

namespace bdl {

/// From this size on it is faster on two threads.
inline constexpr Index least_large = 512;

/// Numbers of scratch.
Index large_reduction_scratch(Index size);

/// As reduce_to_tridiagonal(); the same bits on any number of threads. Asks the interrupt.
void reduce_large_to_tridiagonal(const Tridiagonal& t, double* products, Simd simd);

/// Z = Q Z for groups of lane_count vectors, one behind the other.
void apply_reflectors_to_groups(const Tridiagonal& t, double* groups, Index count, Simd simd);

}  // namespace bdl
