// Householder reduction of a symmetric matrix to tridiagonal form, for matrices that fit the caches (Golub
// and Van Loan, algorithm 8.3.1). One pass over the trailing matrix per column: the rank-2 update of the last
// column and the product with the next reflector are fused.
#pragma once

#include <cmath>

#include "linalg/eigen/lanes.hpp"

namespace bdl {

/// T = Q^T S Q; Q = H_0 H_1 ..., H_k = I - tau_k v_k v_k^T with v_k in column k of S, zero down to row k.
struct Tridiagonal {
  Index size = 0, ld = 0;  // of S: both triangles, columns padded with zeros
  double *s = nullptr, *diagonal = nullptr, *beside = nullptr, *tau = nullptr;
  double* vectors = nullptr;  // 3 ld
};

/// Turns x (first nonzero at `head`, vectors from `first`) into a reflector, x[head] = 1; returns the element
/// that remains of x, and tau.
template <int W>
BDL_ALWAYS_INLINE double make_reflector(double* x, Index first, Index head, Index ld, double& tau) {
  for (Index i = first; i < head; ++i) x[i] = 0;
  const double alpha = x[head];
  x[head] = 0;
  const double rest = aligned_dot<W>(x + first, x + first, ld - first);
  if (rest == 0) {
    x[head] = 1;
    tau = 0;
    return alpha;
  }
  const double beta = -std::copysign(__builtin_sqrt(alpha * alpha + rest), alpha);
  tau = (beta - alpha) / beta;
  const double scale = 1 / (alpha - beta);
  for (Index i = first; i < ld; i += W) vector_at<W>(x + i) *= scale;
  x[head] = 1;
  return beta;
}

/// Columns j, ..., j + C - 1: S -= v w^T + w v^T, then product += S x, in rows from `first`.
template <int W, int C>
BDL_ALWAYS_INLINE void update_and_multiply(const Tridiagonal& t, Index j, Index first, const double* v,
                                           const double* w, const double* x, double* product) {
  using Vector = typename Lanes<W>::Vector;
  double vj[C], wj[C], xj[C];
  for (int c = 0; c < C; ++c) vj[c] = v[j + c], wj[c] = w[j + c], xj[c] = x[j + c];
  for (Index i = first; i < t.ld; i += W) {
    const Vector vi = vector_at<W>(v + i), wi = vector_at<W>(w + i);
    Vector sum = vector_at<W>(product + i);
    for (int c = 0; c < C; ++c) {
      Vector& element = vector_at<W>(t.s + (j + c) * t.ld + i);
      const Vector updated = element - vi * wj[c] - wi * vj[c];
      element = updated;
      sum += updated * xj[c];
    }
    vector_at<W>(product + i) = sum;
  }
}

/// Subtracts the last reflector's v w^T + w v^T from column k; its own reflector takes its place.
template <int W>
BDL_ALWAYS_INLINE void reflect_column(const Tridiagonal& t, Index k, const double* v, const double* w) {
  double* const x = t.s + k * t.ld;
  const double vk = v[k], wk = w[k];
  for (Index i = k / lane_count * lane_count; i < t.ld; i += W)
    vector_at<W>(x + i) -= vector_at<W>(v + i) * wk + vector_at<W>(w + i) * vk;
  t.diagonal[k] = x[k];
  t.beside[k] = make_reflector<W>(x, (k + 1) / lane_count * lane_count, k + 1, t.ld, t.tau[k]);
}

/// Columns begin .. end - 1: S -= v w^T + w v^T, then product = S x, in rows from `first`.
template <int W>
BDL_ALWAYS_INLINE void update_columns(const Tridiagonal& t, Index begin, Index end, Index first,
                                      const double* v, const double* w, const double* x, double* product) {
  constexpr int together = 4;
  for (Index i = first; i < t.ld; ++i) product[i] = 0;
  Index j = begin;
  for (; j + together <= end; j += together) update_and_multiply<W, together>(t, j, first, v, w, x, product);
  for (; j < end; ++j) update_and_multiply<W, 1>(t, j, first, v, w, x, product);
}

/// w = tau p - (tau^2 / 2) (v^T p) v with v, the reflector in column k, and p = S v, the sum of `count`
/// products.
template <int W>
BDL_ALWAYS_INLINE void combine_products(const Tridiagonal& t, Index k, double* products, Index count,
                                        double* w) {
  const double* const x = t.s + k * t.ld;
  const Index first = (k + 1) / lane_count * lane_count;
  for (Index p = 1; p < count; ++p)
    for (Index i = first; i < t.ld; i += W)
      vector_at<W>(products + i) += vector_at<W>(products + p * t.ld + i);
  for (Index i = first; i <= k; ++i) products[i] = 0;
  const double tau = t.tau[k],
               shift = tau * tau / 2 * aligned_dot<W>(products + first, x + first, t.ld - first);
  for (Index i = first; i < t.ld; i += W)
    vector_at<W>(w + i) = tau * vector_at<W>(products + i) - shift * vector_at<W>(x + i);
}

/// For each column k: reflect(k, v, w), then multiply(k, first, v, w, x), which makes the next w.
template <class Reflect, class Multiply>
BDL_ALWAYS_INLINE void reduce_columns(const Tridiagonal& t, const Reflect& reflect,
                                      const Multiply& multiply) {
  double *const w = t.vectors, *const zero = t.vectors + 2 * t.ld;
  for (Index i = 0; i < t.ld; ++i) w[i] = zero[i] = 0;
  const double* v = zero;
  for (Index k = 0; k + 1 < t.size; ++k) {
    reflect(k, v, w);
    const double* const x = t.s + k * t.ld;
    multiply(k, (k + 1) / lane_count * lane_count, v, w, x);
    v = x;
  }
  t.diagonal[t.size - 1] = t.s[(t.size - 1) * t.ld + t.size - 1];
}

template <int W>
BDL_ALWAYS_INLINE void reduce_to_tridiagonal(const Tridiagonal& t) {
  double* const product = t.vectors + t.ld;
  reduce_columns(
      t, [&](Index k, const double* v, const double* w) BDL_INLINE_LAMBDA { reflect_column<W>(t, k, v, w); },
      [&](Index k, Index first, const double* v, double* w, const double* x) BDL_INLINE_LAMBDA {
        update_columns<W>(t, k + 1, t.size, first, v, w, x, product);
        combine_products<W>(t, k, product, 1, w);
      });
}

/// Z = H_begin ... H_(end - 1) Z for lane_count vectors side by side: element i of vector l is
/// z[i * lane_count + l]. All reflectors make Q.
template <int W>
BDL_ALWAYS_INLINE void apply_reflectors(const Tridiagonal& t, Index begin, Index end, double* z) {
  using Vector = typename Lanes<W>::Vector;
  constexpr int vectors = lane_count / W, chains = W == 8 ? 4 : 1;
  for (Index k = end - 1; k >= begin; --k) {
    if (t.tau[k] == 0) continue;
    const double* v = t.s + k * t.ld;
    Vector sum[chains][vectors] = {};
    Index i = k + 1;
    for (; i + chains <= t.size; i += chains)
      for (int c = 0; c < chains; ++c)
        for (int u = 0; u < vectors; ++u)
          sum[c][u] += v[i + c] * vector_at<W>(z + (i + c) * lane_count + u * W);
    for (; i < t.size; ++i)
      for (int u = 0; u < vectors; ++u) sum[0][u] += v[i] * vector_at<W>(z + i * lane_count + u * W);
    for (int c = 1; c < chains; ++c)
      for (int u = 0; u < vectors; ++u) sum[0][u] += sum[c][u];
    for (int u = 0; u < vectors; ++u) sum[0][u] *= t.tau[k];
    for (i = k + 1; i < t.size; ++i)
      for (int u = 0; u < vectors; ++u) vector_at<W>(z + i * lane_count + u * W) -= v[i] * sum[0][u];
  }
}

/// Number of rows from which the reduction is faster on two threads.
inline constexpr Index least_large = 512;

/// Returns how many numbers reduce_large_to_tridiagonal() needs.
Index large_reduction_scratch(Index size);

/// Reduces on the library's threads, with the results of reduce_to_tridiagonal(), for matrices that do not
/// fit the caches; results do not depend on how many there are.
void reduce_large_to_tridiagonal(const Tridiagonal& t, double* products, Simd simd);

/// Z = Q Z for groups of lane_count vectors, one behind the other.
void apply_reflectors_to_groups(const Tridiagonal& t, double* groups, Index count, Simd simd);

}  // namespace bdl
