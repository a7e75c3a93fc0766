#include "linalg/small_product.hpp"

#include <algorithm>

#include "base/simd.hpp"

namespace bdl {
namespace {

// A panel of A is two vectors of rows high; this many of its columns stay in the first-level cache.
constexpr Index panel_columns = 128;
constexpr int together = 4;  // columns of C

/// Element (k, j) is data[k * down + j * across].
template <class T>
struct Strided {
  const T* data;
  Index down, across;
  const T* at(Index k, Index j) const { return data + k * down + j * across; }
};

/// panel(r, k) = op(A)(row + r, first + k), rows beyond op(A)'s being zero.
template <Index height, class T>
BDL_ALWAYS_INLINE void pack(Op op, ConstMatrixView<T> a, Index row, Index rows, Index first, Index count,
                            T* panel) {
  if (op == Op::none) {
    for (Index k = 0; k < count; ++k) {
      const T* from = a.column_data(first + k) + row;
      for (Index r = 0; r < height; ++r) panel[k * height + r] = r < rows ? from[r] : 0;
    }
    return;
  }
  for (Index r = 0; r < height; ++r) {
    const T* from = a.column_data(row + std::min(r, rows - 1)) + first;
    for (Index k = 0; k < count; ++k) panel[k * height + r] = r < rows ? from[k] : 0;
  }
}

/// c_q = alpha panel b_q + beta c_q for `columns` columns q; of column q the rows from start + q on.
template <int bytes, int columns, class T>
BDL_ALWAYS_INLINE void tile(const T* panel, Index inner, Strided<T> b, T alpha, T beta, T* c, Index ld,
                            Index start, Index rows) {
  using Vector = typename VectorOf<T, bytes>::type;
  constexpr Index lanes = bytes / static_cast<Index>(sizeof(T));
  Vector sum[columns][2] = {};
  for (Index k = 0; k < inner; ++k) {
    Vector x[2];
    __builtin_memcpy(x, panel + k * 2 * lanes, sizeof x);
    for (int q = 0; q < columns; ++q)
      for (int v = 0; v < 2; ++v) sum[q][v] += x[v] * *b.at(k, q);
  }
  for (int q = 0; q < columns; ++q) {
    T values[2 * lanes];
    for (int v = 0; v < 2; ++v) sum[q][v] *= alpha;
    __builtin_memcpy(values, sum[q], sizeof values);
    T* to = c + q * ld;
    for (Index r = std::max<Index>(0, start + q); r < rows; ++r)
      to[r] = beta == 0 ? values[r] : beta * to[r] + values[r];
  }
}

template <int bytes, class T>
BDL_ALWAYS_INLINE void multiply(Op op_a, T alpha, ConstMatrixView<T> a, Strided<T> b, Index inner, T beta,
                                MatrixView<T> c, bool lower_only) {
  constexpr Index height = 2 * bytes / static_cast<Index>(sizeof(T));
  alignas(64) T panel[height * panel_columns];
  for (Index first = 0; first < inner; first += panel_columns, beta = 1) {
    const Index count = std::min(panel_columns, inner - first);
    for (Index i = 0; i < c.rows; i += height) {
      const Index rows = std::min(height, c.rows - i), end = lower_only ? std::min(c.cols, i + rows) : c.cols;
      pack<height>(op_a, a, i, rows, first, count, panel);
      const auto start = [&](Index j) { return lower_only ? j - i : -c.cols; };
      Index j = 0;
      for (; j + together <= end; j += together)
        tile<bytes, together>(panel, count, {b.at(first, j), b.down, b.across}, alpha, beta, &c(i, j), c.ld,
                              start(j), rows);
      for (; j < end; ++j)
        tile<bytes, 1>(panel, count, {b.at(first, j), b.down, b.across}, alpha, beta, &c(i, j), c.ld,
                       start(j), rows);
    }
  }
}

}  // namespace

template <class T>
void small_product(Op op_a, Op op_b, T alpha, ConstMatrixView<T> a, ConstMatrixView<T> b, T beta,
                   MatrixView<T> c, bool lower_only) {
  const Index inner = op_a == Op::none ? a.cols : a.rows;
  const Strided<T> factor{b.data, op_b == Op::none ? 1 : b.ld, op_b == Op::none ? b.ld : 1};
  with_simd([&](auto width)
                BDL_INLINE_LAMBDA { multiply<width()>(op_a, alpha, a, factor, inner, beta, c, lower_only); });
}

template void small_product(Op, Op, float, ConstMatrixView<float>, ConstMatrixView<float>, float,
                            MatrixView<float>, bool);
template void small_product(Op, Op, double, ConstMatrixView<double>, ConstMatrixView<double>, double,
                            MatrixView<double>, bool);

}  // namespace bdl
