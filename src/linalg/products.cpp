#include <algorithm>

#include "base/error.hpp"
#include "linalg/blas_calls.hpp"
#include "parallel/fork_gate.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

// A tile of C has at most tile_columns columns and, of each panel of op(A), takes panel_depth columns. A few
// rows or columns, or a small depth, leave room for more of the rest.
constexpr Index tile_rows = 64, most_tile_rows = 256, tile_columns = 32, panel_depth = 128;
constexpr Index most_task_columns = 256;

// A copied panel of op(A) takes 32 kB of the stack.
template <class T>
constexpr Index packed_rows = (1 << 15) / (panel_depth * sizeof(T));
template <class T>
constexpr Index packed_columns = most_products / (packed_rows<T> * panel_depth);

// OpenBLAS's kernels of a transposed A are slow unless they take many products of each element: a copy that
// is not transposed pays if the depth is small or the columns are many.
constexpr Index least_depth = 17, least_packed_columns = 40;

// A copy of a panel of a large matrix has all its columns on few pages.
constexpr Index large = 512;
static_assert(tile_rows * tile_columns * panel_depth <= most_products);

Op flipped(Op op) {
  return op == Op::none ? Op::transpose : Op::none;
}

Index rows_of(Op op, Index rows, Index cols) {
  return op == Op::none ? rows : cols;
}

/// Returns rows row .. row + rows - 1 and columns column .. of op(A), as a block of A.
template <class T>
ConstMatrixView<T> block_of(Op op, const ConstMatrixView<T>& a, Index row, Index rows, Index column,
                            Index cols) {
  return op == Op::none ? a.block(row, column, rows, cols) : a.block(column, row, cols, rows);
}

template <class T>
void scale(T beta, MatrixView<T> c) {
  for (Index j = 0; j < c.cols; ++j)
    for (T& value : c.column(j)) value = beta == 0 ? T(0) : beta * value;
}

/// C = alpha op(A) op(B) + beta C, or its lower triangle only.
template <class T>
struct Product {
  Op op_a, op_b;
  T alpha;
  ConstMatrixView<T> a, b;
  T beta;
  MatrixView<T> c;
  bool lower_only;
  Index depth = rows_of(op_a, a.cols, a.rows);
};

/// Sizes of the tiles of a product. They depend on its sizes only, and so do results; how many columns make a
/// task does not concern them.
struct Cut {
  Index rows, columns, depth;
  bool packs;

  template <class T>
  explicit Cut(const Product<T>& p) {
    packs = p.op_a == Op::transpose ? p.depth < least_depth || p.c.cols >= least_packed_columns
                                    : std::min({p.c.rows, p.c.cols, p.depth}) >= large;
    columns = std::min(p.c.cols, packs && !p.lower_only ? packed_columns<T> : tile_columns);
    const Index high = std::min(p.c.rows, tile_rows);
    depth = std::min(p.depth, packs ? panel_depth : std::max(panel_depth, most_products / (columns * high)));
    const Index more =
        std::min(most_products / (columns * depth), most_tile_rows) / tile_columns * tile_columns;
    rows = packs ? packed_rows<T> : std::max(more, high);
  }
};

template <class T>
void copy_panel(ConstMatrixView<T> a, T* panel) {
  for (Index j = 0; j < a.cols; ++j) std::copy_n(a.column_data(j), a.rows, panel + j * a.rows);
}

/// panel = A^T in blocks that stay in the registers or the cache.
template <class T>
void transpose_panel(ConstMatrixView<T> a, T* panel) {
  constexpr Index block = 8;
  const Index rows = a.cols;
  for (Index i = 0; i < rows; i += block)
    for (Index k = 0; k < a.rows; k += block) {
      if (i + block > rows || k + block > a.rows) {
        for (Index q = k; q < std::min(k + block, a.rows); ++q)
          for (Index r = i; r < std::min(i + block, rows); ++r) panel[r + q * rows] = a(q, r);
        continue;
      }
      T in[block][block], out[block];
      for (Index r = 0; r < block; ++r) __builtin_memcpy(in[r], a.column_data(i + r) + k, sizeof in[r]);
      for (Index q = 0; q < block; ++q) {
        for (Index r = 0; r < block; ++r) out[r] = in[r][q];
        __builtin_memcpy(panel + i + (k + q) * rows, out, sizeof out);
      }
    }
}

/// Computes a tile of C or, of a lower triangle, what of the tile is on the diagonal or below.
template <class T>
void multiply_tile(const Product<T>& p, Op op_a, ConstMatrixView<T> a, ConstMatrixView<T> b, Index depth,
                   T beta, Index row, Index rows, Index column, Index columns) {
  if (!p.lower_only || row >= column + columns)
    return call_gemm(op_a, p.op_b, depth, p.alpha, a, b, beta, p.c.block(row, column, rows, columns));
  if (row + rows <= column) return;
  // A square on the diagonal: tiles of lower triangles begin at multiples of its size.
  T values[tile_columns * tile_columns];
  const Index above = column - row, below = std::min(above + columns, rows);
  const MatrixView<T> square{values, below - above, columns, tile_columns};
  call_gemm(op_a, p.op_b, depth, p.alpha, block_of(op_a, a, above, square.rows, 0, depth), b, T(0), square);
  for (Index j = 0; j < columns; ++j)
    for (Index i = j; i < square.rows; ++i) {
      T& out = p.c(column + i, column + j);
      out = beta == 0 ? square(i, j) : square(i, j) + beta * out;
    }
  if (below < rows)
    call_gemm(op_a, p.op_b, depth, p.alpha, block_of(op_a, a, below, rows - below, 0, depth), b, beta,
              p.c.block(row + below, column, rows - below, columns));
}

/// Computes rows row .. row + rows - 1 of C in columns first .. end - 1.
template <class T>
void multiply_rows(const Product<T>& p, const Cut& cut, Index row, Index rows, Index first, Index end) {
  alignas(64) T panel[packed_rows<T> * panel_depth];
  if (p.lower_only) end = std::min(end, row + rows);
  for (Index k = 0; k < p.depth; k += cut.depth) {
    const ForkGate::Pass pass;
    const Index depth = std::min(cut.depth, p.depth - k);
    auto a = block_of(p.op_a, p.a, row, rows, k, depth);
    if (cut.packs) {
      p.op_a == Op::none ? copy_panel(a, panel) : transpose_panel(a, panel);
      a = {panel, rows, depth, rows};
    }
    for (Index j = first; j < end; j += cut.columns) {
      const Index columns = std::min(cut.columns, p.c.cols - j);
      multiply_tile(p, cut.packs ? Op::none : p.op_a, a, block_of(p.op_b, p.b, k, depth, j, columns), depth,
                    k == 0 ? p.beta : T(1), row, rows, j, columns);
    }
  }
}

/// Returns the number of columns of C in a task: enough tasks for all threads, but none that is not worth
/// handing over.
template <class T>
Index task_columns(const Product<T>& p, const Cut& cut, Index row_tasks) {
  constexpr Index fewest = 1 << 18, most = 1 << 25;  // products; an interrupt is asked between tasks
  const Index threads = thread_count(), wanted = threads == 1 ? 1 : (3 * threads + row_tasks - 1) / row_tasks;
  const Index products = cut.rows * p.depth;  // of a column
  const Index columns =
      std::min({std::max(p.c.cols / wanted, fewest / products), most / products, most_task_columns});
  return std::max((columns + cut.columns - 1) / cut.columns, Index{1}) * cut.columns;
}

/// Computes a few products, which takes less than a call of BLAS.
template <class T>
void multiply_plainly(const Product<T>& p) {
  const Index down_a = p.op_a == Op::none ? p.a.ld : 1, along_a = p.op_a == Op::none ? 1 : p.a.ld;
  const Index down_b = p.op_b == Op::none ? 1 : p.b.ld, along_b = p.op_b == Op::none ? p.b.ld : 1;
  for (Index j = 0; j < p.c.cols; ++j)
    for (Index i = p.lower_only ? j : 0; i < p.c.rows; ++i) {
      const T *x = p.a.data + i * along_a, *y = p.b.data + j * along_b;
      T sum = 0;
      for (Index k = 0; k < p.depth; ++k) sum += x[k * down_a] * y[k * down_b];
      T& out = p.c(i, j);
      out = p.beta == 0 ? p.alpha * sum : p.alpha * sum + p.beta * out;
    }
}

template <class T>
void multiply_matrices(const Product<T>& p) {
  constexpr Index few_products = 64;
  if (p.c.rows * p.c.cols * p.depth <= few_products) return multiply_plainly(p);
  const Cut cut(p);
  if (p.c.rows <= cut.rows && p.c.cols <= cut.columns) return multiply_rows(p, cut, 0, p.c.rows, 0, p.c.cols);
  const Index row_tasks = (p.c.rows + cut.rows - 1) / cut.rows, columns = task_columns(p, cut, row_tasks);
  const Index column_tasks = (p.c.cols + columns - 1) / columns;
  parallel_for(row_tasks * column_tasks, [&](Index task) noexcept {
    const Index row = task % row_tasks * cut.rows, first = task / row_tasks * columns;
    multiply_rows(p, cut, row, std::min(cut.rows, p.c.rows - row), first,
                  std::min(p.c.cols, first + columns));
  });
}

/// Fails with ERROR_INVALID_ARGUMENT for matrices that are too long for BLAS, which counts in 32 bits.
template <class T>
void check_strides(const Product<T>& p) {
  const Index longest = std::max({p.a.ld, p.b.ld, p.c.ld});
  if (longest > INT32_MAX)
    fail(Status::ERROR_INVALID_ARGUMENT, "a matrix of %lld rows is too long for BLAS, expected at most %d",
         static_cast<long long>(longest), INT32_MAX);
}

// A product with a single row or column is a matrix times a vector.
template <class T>
void multiply(const Product<T>& p) {
  if (p.c.rows == 0 || p.c.cols == 0) return;
  if (p.depth == 0) return scale(p.beta, p.c);
  check_strides(p);
  if (p.c.cols == 1)
    return multiply<T>(VectorProduct<T>{p.op_a, p.alpha, p.a, p.b.data, p.op_b == Op::none ? 1 : p.b.ld,
                                        p.beta, p.c.data, 1});
  if (p.c.rows == 1)
    return multiply<T>(VectorProduct<T>{flipped(p.op_b), p.alpha, p.b, p.a.data,
                                        p.op_a == Op::none ? p.a.ld : 1, p.beta, p.c.data, p.c.ld});
  multiply_matrices(p);
}

}  // namespace

void gemm(Op op_a, Op op_b, float alpha, ConstMatrixView<float> a, ConstMatrixView<float> b, float beta,
          MatrixView<float> c) {
  multiply<float>({op_a, op_b, alpha, a, b, beta, c, false});
}
void gemm(Op op_a, Op op_b, double alpha, ConstMatrixView<double> a, ConstMatrixView<double> b, double beta,
          MatrixView<double> c) {
  multiply<double>({op_a, op_b, alpha, a, b, beta, c, false});
}

void syrk(Op op, float alpha, ConstMatrixView<float> a, float beta, MatrixView<float> c) {
  multiply<float>({op, flipped(op), alpha, a, a, beta, c, true});
}
void syrk(Op op, double alpha, ConstMatrixView<double> a, double beta, MatrixView<double> c) {
  multiply<double>({op, flipped(op), alpha, a, a, beta, c, true});
}

}  // namespace bdl
