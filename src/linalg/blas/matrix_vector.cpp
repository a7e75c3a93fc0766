#include "linalg/blas/matrix_vector.hpp"

#include "linalg/blas/vector_kernels.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

constexpr Index row_block = 512, few_columns = 64;

/// sums = A x for a block of rows, four columns at a time.
template <class T>
BDL_ALWAYS_INLINE void add_columns(ConstMatrixView<T> a, const T* x, T* sums) {
  for (Index i = 0; i < a.rows; ++i) sums[i] = 0;
  Index j = 0;
  for (; j + 4 <= a.cols; j += 4) {
    const T *a0 = a.column_data(j), *a1 = a0 + a.ld, *a2 = a1 + a.ld, *a3 = a2 + a.ld;
    const T x0 = x[j], x1 = x[j + 1], x2 = x[j + 2], x3 = x[j + 3];
    for (Index i = 0; i < a.rows; ++i) sums[i] += (a0[i] * x0 + a1[i] * x1) + (a2[i] * x2 + a3[i] * x3);
  }
  for (; j < a.cols; ++j)
    for (Index i = 0; i < a.rows; ++i) sums[i] += a(i, j) * x[j];
}

}  // namespace

template <class T>
void matrix_vector(Op op, T alpha, ConstMatrixView<T> a, const T* x, T beta, T* y) {
  const auto write = [=](Index i, T sum)
                         BDL_INLINE_LAMBDA { y[i] = beta == 0 ? alpha * sum : alpha * sum + beta * y[i]; };
  // A small matrix is one task: finding that out would take a good part of its time.
  if (op == Op::transpose) {
    const auto dots = [&](Index first, Index count) noexcept {
      with_simd([&](auto width) BDL_INLINE_LAMBDA {
        for_each_dot<width()>(a.column_data(first), a.ld, count, x, a.rows,
                              [&](Index j, T sum) BDL_INLINE_LAMBDA { write(first + j, sum); });
      });
    };
    if (a.rows <= row_block && a.cols <= few_columns) return dots(0, a.cols);
    return parallel_blocks(a.cols, task_grain(a.rows), dots);
  }
  const auto sums_of = [&](Index first, Index count) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      T sums[row_block];
      add_columns(a.block(first, 0, count, a.cols), x, sums);
      for (Index i = 0; i < count; ++i) write(first + i, sums[i]);
    });
  };
  if (a.rows <= row_block) return sums_of(0, a.rows);
  parallel_blocks(a.rows, row_block, sums_of);
}

template void matrix_vector(Op, float, ConstMatrixView<float>, const float*, float, float*);
template void matrix_vector(Op, double, ConstMatrixView<double>, const double*, double, double*);

}  // namespace bdl
