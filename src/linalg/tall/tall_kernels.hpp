// Inner loops of the tall products, on blocks of double that fit the cache: columns `ld` apart, rows
// padded with zeros to a multiple of row_multiple.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/simd.hpp"
#include "base/view.hpp"
#include "linalg/tall/tall.hpp"

namespace bdl {

inline constexpr Index row_multiple = 32;

inline Index padded(Index size, Index multiple) {
  return (size + multiple - 1) / multiple * multiple;
}

template <int bytes>
using Doubles = typename VectorOf<double, bytes>::type;

/// The next doubles, converted if they are stored as floats.
template <int bytes>
BDL_ALWAYS_INLINE void load(const double* from, Doubles<bytes>& to) {
  __builtin_memcpy(&to, from, bytes);
}

template <int bytes>
BDL_ALWAYS_INLINE void load(const float* from, Doubles<bytes>& to) {
  typename VectorOf<float, bytes / 2>::type narrow;
  __builtin_memcpy(&narrow, from, bytes / 2);
  to = __builtin_convertvector(narrow, Doubles<bytes>);
}

template <int bytes>
BDL_ALWAYS_INLINE double total(const Doubles<bytes>& vector) {
  if constexpr (bytes == 16) {
    return vector[0] + vector[1];
  } else {
    Doubles<bytes / 2> half[2];
    __builtin_memcpy(half, &vector, bytes);
    half[0] += half[1];
    return total<bytes / 2>(half[0]);
  }
}

BDL_ALWAYS_INLINE double inverse_root(double d) {
  return 1 / std::sqrt(d);
}

/// Division and root in float, then one step of Newton's iteration in double: 1e-14, at half the cost.
BDL_ALWAYS_INLINE double inverse_root(float d) {
  const double r = static_cast<double>(1 / std::sqrt(d));
  return r * (1.5 - 0.5 * static_cast<double>(d) * r * r);
}

/// 1 / d, or 1 / sqrt(d).
template <class T>
BDL_ALWAYS_INLINE void fill_scale(ConstSpan<T> d, Divide divide, double* scale) {
  const T* from = d.data();
  const auto count = static_cast<Index>(d.size());
  for (Index i = 0; i < count; ++i) scale[i] = inverse_root(from[i]);
  if (divide == Divide::by_d)
    for (Index i = 0; i < count; ++i) scale[i] *= scale[i];
}

/// The runs of a column in a block are too short for the processor to see a stream: asks for the next
/// block's.
template <class T>
BDL_ALWAYS_INLINE void prefetch_after(const T* run, Index count) {
  for (Index i = 0; i < count; i += 64 / static_cast<Index>(sizeof(T))) __builtin_prefetch(run + count + i);
}

template <class T>
BDL_ALWAYS_INLINE void prefetch_after(ConstMatrixView<T> block) {
  for (Index j = 0; j < block.cols; ++j) prefetch_after(block.column_data(j), block.rows);
}

/// out = diag(scale) in, padded with zeros; without a scale where it is null.
template <class T, class Out>
BDL_ALWAYS_INLINE void load_block(ConstMatrixView<T> in, const double* scale, Index ld, Out* out) {
  const Index rows = padded(in.rows, row_multiple);
  for (Index j = 0; j < in.cols; ++j) {
    const T* from = in.column_data(j);
    Out* to = out + j * ld;
    prefetch_after(from, in.rows);
    if (scale)
      for (Index i = 0; i < in.rows; ++i) to[i] = static_cast<Out>(static_cast<double>(from[i]) * scale[i]);
    else
      for (Index i = 0; i < in.rows; ++i) to[i] = static_cast<Out>(from[i]);
    for (Index i = in.rows; i < rows; ++i) to[i] = 0;
  }
}

/// out(p, q) += a_p^T b_q for the columns p and q given by their addresses, rows in steps of `vectors`
/// vectors.
template <int bytes, int P, int Q, int vectors, class T>
BDL_ALWAYS_INLINE void add_dot_tile(const T* const (&a)[P], const double* const (&b)[Q], Index rows,
                                    double* out, Index out_ld) {
  constexpr Index lanes = bytes / 8;
  Doubles<bytes> sum[vectors][P * Q];
  for (int v = 0; v < vectors; ++v)
#pragma GCC unroll 16
    for (int t = 0; t < P * Q; ++t) sum[v][t] = Doubles<bytes>{};
  for (Index r = 0; r < rows; r += vectors * lanes)
    for (int v = 0; v < vectors; ++v) {
      Doubles<bytes> x[P], y[Q];
      for (int p = 0; p < P; ++p) load<bytes>(a[p] + r + v * lanes, x[p]);
      for (int q = 0; q < Q; ++q) load<bytes>(b[q] + r + v * lanes, y[q]);
#pragma GCC unroll 16
      for (int t = 0; t < P * Q; ++t) sum[v][t] += x[t % P] * y[t / P];
    }
#pragma GCC unroll 16
  for (int t = 0; t < P * Q; ++t) {
    for (int v = 1; v < vectors; ++v) sum[0][t] += sum[v][t];
    out[t % P + t / P * out_ld] += total<bytes>(sum[0][t]);
  }
}

/// P rows and Q columns of A^T B; few sums take two vectors at a time, to keep the processor busy: few rows,
/// where a column's sums must not depend on how many columns there are.
template <int bytes, int P, int Q, bool by_column, class T>
BDL_ALWAYS_INLINE void add_dot_block(const T* a, Index a_ld, const double* b, Index b_ld, Index rows,
                                     double* out, Index out_ld) {
  const T* x[P];
  const double* y[Q];
  for (int p = 0; p < P; ++p) x[p] = a + p * a_ld;
  for (int q = 0; q < Q; ++q) y[q] = b + q * b_ld;
  constexpr bool few = by_column ? P <= 2 : P * Q <= 4;
  add_dot_tile<bytes, P, Q, few ? 2 : 1>(x, y, rows, out, out_ld);
}

/// Q columns of A^T B, from row `first` on.
template <int bytes, int Q, bool by_column, class T>
BDL_ALWAYS_INLINE void add_dot_columns(const T* a, Index a_cols, Index a_ld, const double* b, Index b_ld,
                                       Index rows, Index first, double* out, Index out_ld) {
  Index i = first;
  if constexpr (by_column && Q == 1)
    for (; i + 8 <= a_cols; i += 8)
      add_dot_block<bytes, 8, Q, by_column>(a + i * a_ld, a_ld, b, b_ld, rows, out + i, out_ld);
  for (; i + 4 <= a_cols; i += 4)
    add_dot_block<bytes, 4, Q, by_column>(a + i * a_ld, a_ld, b, b_ld, rows, out + i, out_ld);
  switch (a_cols - i) {
    case 3:
      return add_dot_block<bytes, 3, Q, by_column>(a + i * a_ld, a_ld, b, b_ld, rows, out + i, out_ld);
    case 2:
      return add_dot_block<bytes, 2, Q, by_column>(a + i * a_ld, a_ld, b, b_ld, rows, out + i, out_ld);
    case 1:
      return add_dot_block<bytes, 1, Q, by_column>(a + i * a_ld, a_ld, b, b_ld, rows, out + i, out_ld);
  }
}

/// out += A^T B; for A = B its lower triangle at least.
template <int bytes, bool by_column = false, class T>
BDL_ALWAYS_INLINE void add_dots(const T* a, Index a_cols, Index a_ld, const double* b, Index b_cols,
                                Index b_ld, Index rows, bool symmetric, double* out, Index out_ld) {
  constexpr int wide = bytes == 64 ? 4 : 2;  // sums that fit the registers: 4 x 4 of 32, 4 x 2 of 16
  Index j = 0;
  const auto first = [&] { return symmetric ? j / 4 * 4 : 0; };
  for (; j + wide <= b_cols; j += wide)
    add_dot_columns<bytes, wide, by_column>(a, a_cols, a_ld, b + j * b_ld, b_ld, rows, first(),
                                            out + j * out_ld, out_ld);
  if (wide > 2 && j + 2 <= b_cols) {
    add_dot_columns<bytes, 2, by_column>(a, a_cols, a_ld, b + j * b_ld, b_ld, rows, first(), out + j * out_ld,
                                         out_ld);
    j += 2;
  }
  if (j < b_cols)
    add_dot_columns<bytes, 1, by_column>(a, a_cols, a_ld, b + j * b_ld, b_ld, rows, first(), out + j * out_ld,
                                         out_ld);
}

/// out += U^T diag(scale)^2 U for a block of U, its lower triangle at least; `work` receives the scaled
/// block.
template <int bytes, class T>
BDL_ALWAYS_INLINE void add_gram(ConstMatrixView<T> block, const double* scale, Index ld, double* work,
                                double* out) {
  load_block(block, scale, ld, work);
  add_dots<bytes>(work, block.cols, ld, work, block.cols, ld, padded(block.rows, row_multiple), true, out,
                  block.cols);
}

/// y_q = u c_q for `columns` columns q and `vectors` vectors of rows, in the type of all of them.
template <int bytes, int columns, int vectors, class T>
BDL_ALWAYS_INLINE void combine(const T* u, Index rank, const T* c, Index c_ld, T* y, Index ld) {
  using Vector = typename VectorOf<T, bytes>::type;
  constexpr Index lanes = bytes / static_cast<Index>(sizeof(T));
  Vector sum[columns * vectors];
#pragma GCC unroll 8
  for (int t = 0; t < columns * vectors; ++t) sum[t] = Vector{};
  for (Index l = 0; l < rank; ++l) {
    Vector x[vectors];
    for (int v = 0; v < vectors; ++v) __builtin_memcpy(&x[v], u + l * ld + v * lanes, bytes);
#pragma GCC unroll 8
    for (int t = 0; t < columns * vectors; ++t) sum[t] += x[t % vectors] * c[l + t / vectors * c_ld];
  }
#pragma GCC unroll 8
  for (int t = 0; t < columns * vectors; ++t)
    __builtin_memcpy(y + t / vectors * ld + t % vectors * lanes, &sum[t], bytes);
}

/// Y = U C for `rows` rows, a multiple of row_multiple.
template <int bytes, class T>
BDL_ALWAYS_INLINE void combine(const T* u, Index rank, const T* c, Index c_ld, Index c_cols, T* y, Index rows,
                               Index ld) {
  constexpr Index lanes = bytes / static_cast<Index>(sizeof(T));
  Index j = 0;
  for (; j + 4 <= c_cols; j += 4)
    for (Index r = 0; r < rows; r += 2 * lanes)
      combine<bytes, 4, 2>(u + r, rank, c + j * c_ld, c_ld, y + r + j * ld, ld);
  for (Index r = 0; r < rows; r += 2 * lanes) switch (c_cols - j) {
      case 3:
        combine<bytes, 3, 2>(u + r, rank, c + j * c_ld, c_ld, y + r + j * ld, ld);
        break;
      case 2:
        combine<bytes, 2, 2>(u + r, rank, c + j * c_ld, c_ld, y + r + j * ld, ld);
        break;
      case 1:
        combine<bytes, 1, 2>(u + r, rank, c + j * c_ld, c_ld, y + r + j * ld, ld);
    }
}

}  // namespace bdl
