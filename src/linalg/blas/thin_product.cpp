#include "linalg/blas/thin_product.hpp"

#include <algorithm>

#include "linalg/blas/vector_kernels.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

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
        T* const to = c.column_data(j) + row + first;
        for_each_dot<width()>(a.column_data(row + first), a.ld, rows - first, b.column_data(j), a.rows,
                              [=](Index i, T sum) BDL_INLINE_LAMBDA {
                                to[i] = beta == 0 ? alpha * sum : alpha * sum + beta * to[i];
                              });
      }
    });
  });
}

template void thin_product(float, ConstMatrixView<float>, ConstMatrixView<float>, float, MatrixView<float>,
                           bool);
template void thin_product(double, ConstMatrixView<double>, ConstMatrixView<double>, double,
                           MatrixView<double>, bool);

}  // namespace bdl
