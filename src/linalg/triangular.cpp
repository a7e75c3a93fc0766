// Triangular systems, halved until eight unknowns are left: everything else is products. BLAS solves one
// system; of several, its leaves take 1.5 times as long as these, whose systems lie side by side in vectors
// (bdl_bench kernels).
#include <algorithm>

#include "base/simd.hpp"
#include "linalg/blas_calls.hpp"
#include "parallel/fork_gate.hpp"

namespace bdl {
namespace {

constexpr Index leaf = 8, together = 8;

/// A leaf's matrix without its diagonal, whose inverse is apart: unknown j leaves rows[j][i] of itself in
/// equation i.
struct Leaf {
  alignas(64) double rows[leaf][leaf] = {};
  double inverse[leaf] = {};
  Index size;
  bool forward;

  /// The leaf belongs to op(L) X = B if `left`, to X op(L) = B otherwise.
  Leaf(Op op, bool left, ConstMatrixView<double> lower)
      : size(lower.rows), forward((op == Op::none) == left) {
    for (Index j = 0; j < size; ++j) {
      inverse[j] = 1 / lower(j, j);
      for (Index i = j + 1; i < size; ++i) (forward ? rows[j][i] : rows[i][j]) = lower(i, j);
    }
  }
};

/// Columns of B are systems of their own, side by side in vectors; `count` of eight are there.
BDL_ALWAYS_INLINE void solve_columns(const Leaf& m, double* b, Index ld, Index count) {
  alignas(64) double x[leaf][together] = {};
  for (Index c = 0; c < count; ++c)
    for (Index i = 0; i < m.size; ++i) x[i][c] = b[c * ld + i];
  for (Index step = 0; step < m.size; ++step) {
    const Index j = m.forward ? step : m.size - 1 - step;
    for (Index c = 0; c < together; ++c) x[j][c] *= m.inverse[j];
    for (Index i = m.forward ? j + 1 : 0; i < (m.forward ? m.size : j); ++i)
      for (Index c = 0; c < together; ++c) x[i][c] -= m.rows[j][i] * x[j][c];
  }
  for (Index c = 0; c < count; ++c)
    for (Index i = 0; i < m.size; ++i) b[c * ld + i] = x[i][c];
}

void solve_leaf_left(Op op, ConstMatrixView<double> lower, MatrixView<double> b) {
  const Leaf m(op, true, lower);
  with_simd([&](auto) BDL_INLINE_LAMBDA {
    for (Index j = 0; j < b.cols; j += together)
      solve_columns(m, b.column_data(j), b.ld, std::min(together, b.cols - j));
  });
}

/// Rows of B are systems of their own, as many together as stay in the first-level cache.
void solve_leaf_right(Op op, ConstMatrixView<double> lower, MatrixView<double> b) {
  constexpr Index block = 256;
  const Leaf m(op, false, lower);
  with_simd([&](auto) BDL_INLINE_LAMBDA {
    for (Index first = 0; first < b.rows; first += block) {
      const Index end = std::min(b.rows, first + block);
      for (Index step = 0; step < m.size; ++step) {
        const Index j = m.forward ? step : m.size - 1 - step;
        double* const x = b.column_data(j);
        for (Index i = first; i < end; ++i) x[i] *= m.inverse[j];
        for (Index k = m.forward ? j + 1 : 0; k < (m.forward ? m.size : j); ++k) {
          double* const y = b.column_data(k);
          const double factor = m.rows[j][k];
          for (Index i = first; i < end; ++i) y[i] -= factor * x[i];
        }
      }
    }
  });
}

void solve_vector(Op op, ConstMatrixView<double> lower, double* x, Index step) {
  const ForkGate::Pass pass;
  call_trsv(op, lower, x, step);
}

/// Returns the size of the first half: whole leaves.
Index half(Index size) {
  return (size / 2 + leaf - 1) / leaf * leaf;
}

}  // namespace

void solve_lower_left(Op op, ConstMatrixView<double> lower, MatrixView<double> b) {
  if (b.rows == 0 || b.cols == 0) return;
  if (b.cols == 1 && b.rows <= most_rows_of_trsv) return solve_vector(op, lower, b.data, 1);
  if (b.rows <= leaf) return solve_leaf_left(op, lower, b);
  const Index n = half(b.rows), rest = b.rows - n;
  const auto first = b.block(0, 0, n, b.cols), second = b.block(n, 0, rest, b.cols);
  const auto beside = lower.block(n, 0, rest, n);
  if (op == Op::none) {
    solve_lower_left(op, lower.block(0, 0, n, n), first);
    gemm(Op::none, Op::none, -1.0, beside, first, 1.0, second);
    solve_lower_left(op, lower.block(n, n, rest, rest), second);
  } else {
    solve_lower_left(op, lower.block(n, n, rest, rest), second);
    gemm(Op::transpose, Op::none, -1.0, beside, second, 1.0, first);
    solve_lower_left(op, lower.block(0, 0, n, n), first);
  }
}

void solve_lower_right(Op op, ConstMatrixView<double> lower, MatrixView<double> b) {
  if (b.rows == 0 || b.cols == 0) return;
  if (b.rows == 1 && b.cols <= most_rows_of_trsv)
    return solve_vector(op == Op::none ? Op::transpose : Op::none, lower, b.data, b.ld);
  if (b.cols <= leaf) return solve_leaf_right(op, lower, b);
  const Index n = half(b.cols), rest = b.cols - n;
  const auto first = b.columns(0, n), second = b.columns(n, rest);
  const auto beside = lower.block(n, 0, rest, n);
  if (op == Op::transpose) {
    solve_lower_right(op, lower.block(0, 0, n, n), first);
    gemm(Op::none, Op::transpose, -1.0, first, beside, 1.0, second);
    solve_lower_right(op, lower.block(n, n, rest, rest), second);
  } else {
    solve_lower_right(op, lower.block(n, n, rest, rest), second);
    gemm(Op::none, Op::none, -1.0, second, beside, 1.0, first);
    solve_lower_right(op, lower.block(0, 0, n, n), first);
  }
}

}  // namespace bdl
