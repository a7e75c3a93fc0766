// Inner loops of the tall products, on blocks of double that fit the cache: columns `ld` apart, rows and
// columns padded with zeros to multiples of row_multiple and column_multiple.
#pragma once

#include "base/simd.hpp"
#include "base/view.hpp"

namespace bdl {

inline constexpr Index row_multiple = 32, column_multiple = 4;

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

/// out += A^T B (out has padded sizes, columns out_ld apart); for A = B its lower triangle at least. What it
/// writes beyond a_cols has no meaning.
template <int bytes, class T>
BDL_ALWAYS_INLINE void add_dots(const T* a, Index a_cols, Index a_ld, const double* b, Index b_cols,
                                Index b_ld, Index rows, bool symmetric, double* out, Index out_ld) {
  constexpr Index lanes = bytes / 8;
  for (Index j = 0; j < b_cols; j += 2)
    for (Index i = symmetric ? j / column_multiple * column_multiple : 0; i < a_cols; i += 4) {
      const T* column[4];
      for (int p = 0; p < 4; ++p) column[p] = a + (i + p < a_cols ? i + p : a_cols - 1) * a_ld;
      Doubles<bytes> sum[4][2] = {};
      for (Index r = 0; r < rows; r += lanes) {
        Doubles<bytes> x[4], y[2];
        for (int p = 0; p < 4; ++p) load<bytes>(column[p] + r, x[p]);
        for (int q = 0; q < 2; ++q) load<bytes>(b + r + (j + q) * b_ld, y[q]);
        for (int p = 0; p < 4; ++p)
          for (int q = 0; q < 2; ++q) sum[p][q] += x[p] * y[q];
      }
      for (int p = 0; p < 4; ++p)
        for (int q = 0; q < 2; ++q) out[i + p + (j + q) * out_ld] += total<bytes>(sum[p][q]);
    }
}

/// y_q = u c_q for `columns` columns q and `vectors` vectors of rows, in the type of all of them.
template <int bytes, int columns, int vectors, class T>
BDL_ALWAYS_INLINE void combine(const T* u, Index rank, const T* c, Index c_ld, T* y, Index ld) {
  using Vector = typename VectorOf<T, bytes>::type;
  constexpr Index lanes = bytes / static_cast<Index>(sizeof(T));
  Vector sum[columns][vectors] = {};
  for (Index l = 0; l < rank; ++l) {
    Vector x[vectors];
    for (int v = 0; v < vectors; ++v) __builtin_memcpy(&x[v], u + l * ld + v * lanes, bytes);
    for (int q = 0; q < columns; ++q)
      for (int v = 0; v < vectors; ++v) sum[q][v] += x[v] * c[l + q * c_ld];
  }
  for (int q = 0; q < columns; ++q)
    for (int v = 0; v < vectors; ++v) __builtin_memcpy(y + q * ld + v * lanes, &sum[q][v], bytes);
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
  for (; j < c_cols; ++j)
    for (Index r = 0; r < rows; r += 2 * lanes)
      combine<bytes, 1, 2>(u + r, rank, c + j * c_ld, c_ld, y + r + j * ld, ld);
}

}  // namespace bdl
