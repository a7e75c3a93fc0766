#include "linalg/blas/product.hpp"

#include <algorithm>

#include "parallel/parallel.hpp"

namespace bdl {
namespace {

// A panel of A is two vectors of rows high and stays in the first-level cache; a tile of C is six columns of
// it, which fill the registers of AVX2.
constexpr Index panel_columns = 256, task_columns = 768;
constexpr int register_columns = 6;
constexpr double task_products = 1 << 19;

/// Element (k, j) is data[k * down + j * across].
template <class T>
struct Strided {
  const T* data;
  Index down, across;
  const T* at(Index k, Index j) const { return data + k * down + j * across; }
};

template <class T>
struct Product {
  Op op_a;
  T alpha;
  ConstMatrixView<T> a;
  Strided<T> b;
  Index inner;
  T beta;
  MatrixView<T> c;
  bool lower_only;
};

/// panel(r, k) = op(A)(row + r, first + k), rows beyond op(A)'s being zero.
template <Index height, class T>
BDL_ALWAYS_INLINE void pack(Op op, ConstMatrixView<T> a, Index row, Index rows, Index first, Index count,
                            T* panel) {
  if (op == Op::none) {
    for (Index k = 0; k < count; ++k) {
      const T* from = a.column_data(first + k) + row;
      for (Index r = 0; r < rows; ++r) panel[k * height + r] = from[r];
      for (Index r = rows; r < height; ++r) panel[k * height + r] = 0;
    }
    return;
  }
  for (Index r = 0; r < height; ++r) {
    const T* from = a.column_data(row + std::min(r, rows - 1)) + first;
    for (Index k = 0; k < count; ++k) panel[k * height + r] = r < rows ? from[k] : 0;
  }
}

/// to = alpha sum + beta to, in rows from .. rows - 1 of the vectors.
template <int bytes, int vectors, class T, class Vector>
BDL_ALWAYS_INLINE void store(Vector (&sum)[vectors], T alpha, T beta, T* to, Index from, Index rows) {
  constexpr Index height = vectors * bytes / static_cast<Index>(sizeof(T));
#pragma GCC unroll 2
  for (int v = 0; v < vectors; ++v) sum[v] *= alpha;
  if (from == 0 && rows == height) {
    constexpr Index lanes = height / vectors;
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) {
      Vector whole = sum[v];
      if (beta != 0) {
        Vector old;
        __builtin_memcpy(&old, to + v * lanes, bytes);
        whole += beta * old;
      }
      __builtin_memcpy(to + v * lanes, &whole, bytes);
    }
    return;
  }
  T values[height];
  __builtin_memcpy(values, sum, sizeof values);
  for (Index r = from; r < rows; ++r) to[r] = beta == 0 ? values[r] : beta * to[r] + values[r];
}

/// c_q = alpha panel b_q + beta c_q for `columns` columns q; of column q the rows from start + q on.
template <int bytes, int vectors, int columns, class T>
BDL_ALWAYS_INLINE void tile(const T* panel, Index inner, Strided<T> b, T alpha, T beta, T* c, Index ld,
                            Index start, Index rows) {
  using Vector = typename VectorOf<T, bytes>::type;
  constexpr Index height = vectors * bytes / static_cast<Index>(sizeof(T));
  Vector sum[columns][vectors];
#pragma GCC unroll 8
  for (int q = 0; q < columns; ++q)
    for (int v = 0; v < vectors; ++v) sum[q][v] = Vector{};
  for (Index k = 0; k < inner; ++k) {
    Vector x[vectors];
    __builtin_memcpy(x, panel + k * height, sizeof x);
#pragma GCC unroll 8
    for (int q = 0; q < columns; ++q) {
      const T y = *b.at(k, q);
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) sum[q][v] += x[v] * y;
    }
  }
#pragma GCC unroll 8
  for (int q = 0; q < columns; ++q)
    store<bytes>(sum[q], alpha, beta, c + q * ld, std::max<Index>(0, start + q), rows);
}

/// Columns `first` to `end` of C in the panel's rows, from row i on.
template <int bytes, int vectors, class T>
BDL_ALWAYS_INLINE void sweep(const Product<T>& p, const T* panel, Index k, Index count, Index i, Index rows,
                             Index first, Index end) {
  const T beta = k == 0 ? p.beta : T(1);
  for (Index j = first; j < end;) {
    const auto step = [&](auto columns) BDL_INLINE_LAMBDA {
      const Index start = p.lower_only ? j - i : -register_columns;
      tile<bytes, vectors, columns()>(panel, count, {p.b.at(k, j), p.b.down, p.b.across}, p.alpha, beta,
                                      &p.c(i, j), p.c.ld, start, rows);
      return Index{columns()};
    };
    if (end - j >= register_columns)
      j += step(std::integral_constant<int, register_columns>{});
    else if (end - j >= 4)
      j += step(std::integral_constant<int, 4>{});
    else if (end - j >= 2)
      j += step(std::integral_constant<int, 2>{});
    else
      j += step(std::integral_constant<int, 1>{});
  }
}

/// Rows i .. i + rows - 1 of C, a panel `vectors` vectors high.
template <int bytes, int vectors, class T>
BDL_ALWAYS_INLINE void multiply_panel(const Product<T>& p, T* panel, Index i, Index rows, Index first,
                                      Index end) {
  constexpr Index height = vectors * bytes / static_cast<Index>(sizeof(T));
  if (p.lower_only && first >= i + rows) return;
  for (Index k = 0; k < p.inner; k += panel_columns) {
    const Index count = std::min(panel_columns, p.inner - k);
    pack<height>(p.op_a, p.a, i, rows, k, count, panel);
    sweep<bytes, vectors>(p, panel, k, count, i, rows, first, p.lower_only ? std::min(end, i + rows) : end);
  }
}

template <int bytes, class T>
BDL_ALWAYS_INLINE void multiply(const Product<T>& p, Index first_row, Index end_row, Index first, Index end) {
  constexpr Index lanes = bytes / static_cast<Index>(sizeof(T));
  alignas(64) T panel[2 * lanes * panel_columns];
  for (Index i = first_row; i < end_row; i += 2 * lanes) {
    const Index rows = std::min(2 * lanes, end_row - i);
    if (rows > lanes)
      multiply_panel<bytes, 2>(p, panel, i, rows, first, end);
    else
      multiply_panel<bytes, 1>(p, panel, i, rows, first, end);
  }
}

/// Rows of C that make a task: whole panels for any width of vectors.
template <class T>
Index task_rows(Index inner, Index columns) {
  constexpr Index multiple = 128 / static_cast<Index>(sizeof(T));
  const double row_products =
      static_cast<double>(inner) * static_cast<double>(std::min(columns, task_columns));
  const double rows = std::clamp(task_products / row_products, 1.0, 1e6);
  return (static_cast<Index>(rows) + multiple - 1) / multiple * multiple;
}

}  // namespace

template <class T>
void product(Op op_a, Op op_b, T alpha, ConstMatrixView<T> a, ConstMatrixView<T> b, T beta, MatrixView<T> c,
             bool lower_only) {
  const Index inner = op_a == Op::none ? a.cols : a.rows;
  const bool plain = op_b == Op::none;
  const Product<T> p{op_a,  alpha, a, {b.data, plain ? 1 : b.ld, plain ? b.ld : 1},
                     inner, beta,  c, lower_only};
  const Index height = task_rows<T>(inner, c.cols), row_tasks = (c.rows + height - 1) / height;
  const Index column_tasks = (c.cols + task_columns - 1) / task_columns;
  parallel_for(row_tasks * column_tasks, [&](Index task) noexcept {
    const Index row = task / column_tasks * height, first = task % column_tasks * task_columns;
    with_simd([&](auto width) BDL_INLINE_LAMBDA {
      multiply<width()>(p, row, std::min(row + height, c.rows), first,
                        std::min(c.cols, first + task_columns));
    });
  });
}

template void product(Op, Op, float, ConstMatrixView<float>, ConstMatrixView<float>, float, MatrixView<float>,
                      bool);
template void product(Op, Op, double, ConstMatrixView<double>, ConstMatrixView<double>, double,
                      MatrixView<double>, bool);

}  // namespace bdl
