#include "linalg/blas/thin_product.hpp"

#include <algorithm>

#include "linalg/blas/vector_kernels.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// sums[j] = a_j^T b for J columns of A, each with two vectors of partial sums.
template <int bytes, int J, class T>
BDL_ALWAYS_INLINE void dots(const T* a, Index lda, const T* b, Index size, T* sums) {
  using Vector = typename VectorOf<T, bytes>::type;
  constexpr Index lanes = bytes / static_cast<Index>(sizeof(T));
  Vector sum[J][2] = {};
  Index i = 0;
  for (; i + 2 * lanes <= size; i += 2 * lanes) {
    Vector y[2];
    __builtin_memcpy(y, b + i, sizeof y);
    for (int j = 0; j < J; ++j) {
      Vector x[2];
      __builtin_memcpy(x, a + j * lda + i, sizeof x);
      for (int v = 0; v < 2; ++v) sum[j][v] += x[v] * y[v];
    }
  }
  for (int j = 0; j < J; ++j) {
    T rest = 0;
    for (Index k = i; k < size; ++k) rest += a[j * lda + k] * b[k];
    const Vector all = sum[j][0] + sum[j][1];
    for (Index lane = 0; lane < lanes; ++lane) rest += all[lane];
    sums[j] = rest;
  }
}

/// Column j of C from row `first` on.
template <int bytes, class T>
BDL_ALWAYS_INLINE void multiply_column(T alpha, ConstMatrixView<T> a, const T* b, T beta, T* c, Index first) {
  T sums[4];
  for (Index i = first; i < a.cols;) {
    const Index count = a.cols - i >= 4 ? 4 : 1;
    if (count == 4)
      dots<bytes, 4>(a.column_data(i), a.ld, b, a.rows, sums);
    else
      dots<bytes, 1>(a.column_data(i), a.ld, b, a.rows, sums);
    for (Index r = 0; r < count; ++r, ++i) c[i] = beta == 0 ? alpha * sums[r] : alpha * sums[r] + beta * c[i];
  }
}

/// Rows of C in a task: whole groups of four.
constexpr Index task_rows = 64;

}  // namespace

template <class T>
void thin_product(T alpha, ConstMatrixView<T> a, ConstMatrixView<T> b, T beta, MatrixView<T> c,
                  bool lower_only) {
  const Index row_tasks = (c.rows + task_rows - 1) / task_rows, tasks = row_tasks * c.cols;
  const Index grain = task_grain(a.rows * std::min(c.rows, task_rows));
  parallel_blocks(tasks, grain, [&](Index begin, Index count) noexcept {
    with_simd([&](auto width) BDL_INLINE_LAMBDA {
      for (Index task = begin; task < begin + count; ++task) {
        const Index j = task / row_tasks, row = task % row_tasks * task_rows;
        const Index rows = std::min(task_rows, c.rows - row),
                    first = lower_only ? std::max<Index>(0, j - row) : 0;
        multiply_column<width()>(alpha, a.columns(row, rows), b.column_data(j), beta, c.column_data(j) + row,
                                 first);
      }
    });
  });
}

template void thin_product(float, ConstMatrixView<float>, ConstMatrixView<float>, float, MatrixView<float>,
                           bool);
template void thin_product(double, ConstMatrixView<double>, ConstMatrixView<double>, double,
                           MatrixView<double>, bool);

}  // namespace bdl
