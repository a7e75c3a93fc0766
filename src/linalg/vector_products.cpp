#include <algorithm>

#include "base/simd.hpp"
#include "linalg/blas_calls.hpp"
#include "parallel/fork_gate.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// sums = A x for a block of rows, four columns at a time.
template <class T>
BDL_ALWAYS_INLINE void sum_columns(ConstMatrixView<T> a, const T* x, Index step, T* sums) {
  for (Index i = 0; i < a.rows; ++i) sums[i] = 0;
  Index j = 0;
  for (; j + 4 <= a.cols; j += 4) {
    const T *a0 = a.column_data(j), *a1 = a0 + a.ld, *a2 = a1 + a.ld, *a3 = a2 + a.ld;
    const T x0 = x[j * step], x1 = x[(j + 1) * step], x2 = x[(j + 2) * step], x3 = x[(j + 3) * step];
    for (Index i = 0; i < a.rows; ++i) sums[i] += (a0[i] * x0 + a1[i] * x1) + (a2[i] * x2 + a3[i] * x3);
  }
  for (; j < a.cols; ++j)
    for (Index i = 0; i < a.rows; ++i) sums[i] += a(i, j) * x[j * step];
}

/// y = alpha A x + beta y. BLAS takes as long for tall matrices, and up to twice as long for wide ones
/// (bdl_bench kernels).
template <class T>
void multiply_columns(const VectorProduct<T>& p) {
  constexpr Index block = 512;
  parallel_blocks(p.a.rows, block, [&](Index first, Index count) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      T sums[block];
      sum_columns(p.a.block(first, 0, count, p.a.cols), p.x, p.step, sums);
      for (Index i = 0; i < count; ++i) {
        T& out = p.y[(first + i) * p.y_step];
        out = p.beta == 0 ? p.alpha * sums[i] : p.alpha * sums[i] + p.beta * out;
      }
    });
  });
}

/// y = alpha A^T x + beta y in `count` places from j on; returns the next place.
template <int count, class T>
BDL_ALWAYS_INLINE Index multiply_together(const VectorProduct<T>& p, Index j) {
  constexpr int lanes = 4;  // wider vectors would be mostly empty
  using Vector = typename VectorOf<T, lanes * sizeof(T)>::type;
  const T* const a = p.a.column_data(j);
  Vector sums[count] = {};
  Index whole = 0;
  for (; whole + lanes <= p.a.rows; whole += lanes) {
    Vector x, column;
    __builtin_memcpy(&x, p.x + whole, sizeof x);
#pragma GCC unroll 4
    for (Index c = 0; c < count; ++c) {
      __builtin_memcpy(&column, a + c * p.a.ld + whole, sizeof column);
      sums[c] += column * x;
    }
  }
#pragma GCC unroll 4
  for (Index c = 0; c < count; ++c) {
    T sum = 0;
    for (Index i = whole; i < p.a.rows; ++i) sum += a[c * p.a.ld + i] * p.x[i];
    sum += (sums[c][0] + sums[c][1]) + (sums[c][2] + sums[c][3]);
    T& out = p.y[(j + c) * p.y_step];
    out = p.beta == 0 ? p.alpha * sum : p.alpha * sum + p.beta * out;
  }
  return j + count;
}

/// y = alpha A^T x + beta y for a small A. With BLAS, its gate for forks included, predictions of single rows
/// take 1.15 to 1.25 times as long (bdl_bench predict).
template <class T>
void multiply_few_rows(const VectorProduct<T>& p) {
  with_simd([&](auto) BDL_INLINE_LAMBDA {
    Index j = 0;
    while (j + 4 <= p.a.cols) j = multiply_together<4>(p, j);
    while (j < p.a.cols) j = multiply_together<1>(p, j);
  });
}

/// y = alpha A^T x + beta y, by pieces of A.
template <class T>
void multiply_rows(const VectorProduct<T>& p) {
  constexpr Index few_rows = 64, few_numbers = 1024, most_rows = 1024;
  if (p.step == 1 && p.a.rows <= few_rows && p.a.rows * p.a.cols <= few_numbers) return multiply_few_rows(p);
  const Index rows = std::min(p.a.rows, most_rows), columns = most_numbers / rows;
  const Index grain = std::max(columns, task_grain(p.a.rows) / columns * columns);
  parallel_blocks(p.a.cols, grain, [&](Index begin, Index count) noexcept {
    for (Index j = begin; j < begin + count; j += columns) {
      const ForkGate::Pass pass;
      const Index width = std::min(columns, begin + count - j);
      T* const y = p.y + j * p.y_step;
      for (Index k = 0; k < width && p.beta != 1; ++k)
        y[k * p.y_step] = p.beta == 0 ? T(0) : p.beta * y[k * p.y_step];
      for (Index i = 0; i < p.a.rows; i += rows)
        call_gemv(p.alpha, p.a.block(i, j, std::min(rows, p.a.rows - i), width), p.x + i * p.step, p.step, y,
                  p.y_step);
    }
  });
}

template <class T>
void add_columns(ConstMatrixView<T> a, T* sums) {
  with_simd([&](auto) BDL_INLINE_LAMBDA {
    for (Index i = 0; i < a.rows; ++i) sums[i] = 0;
    for (Index j = 0; j < a.cols; ++j)
      for (Index i = 0; i < a.rows; ++i) sums[i] += a(i, j);
  });
}

}  // namespace

template <class T>
void multiply(const VectorProduct<T>& p) {
  return p.op == Op::none ? multiply_columns(p) : multiply_rows(p);
}
template void multiply(const VectorProduct<float>&);
template void multiply(const VectorProduct<double>&);

void row_sums(ConstMatrixView<float> a, float* sums) {
  add_columns(a, sums);
}
void row_sums(ConstMatrixView<double> a, double* sums) {
  add_columns(a, sums);
}

}  // namespace bdl
