#include "linalg/blas/blas.hpp"

#include <cblas.h>

#include <algorithm>

#include "base/simd.hpp"
#include "linalg/blas/matrix_vector.hpp"

namespace bdl {
namespace {

CBLAS_TRANSPOSE cblas(Op op) {
  return op == Op::none ? CblasNoTrans : CblasTrans;
}
Op flipped(Op op) {
  return op == Op::none ? Op::transpose : Op::none;
}
int to_int(Index size) {
  return static_cast<int>(size);
}
/// BLAS wants a leading dimension >= 1 even for matrices without rows.
template <class T>
int stride(const MatrixView<T>& a) {
  return to_int(std::max<Index>(a.ld, 1));
}

template <class T>
void scale(T beta, MatrixView<T> c) {
  for (Index j = 0; j < c.cols; ++j)
    for (T& value : c.column(j)) value = beta == 0 ? T(0) : beta * value;
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

void row_sums(ConstMatrixView<float> a, float* sums) {
  add_columns(a, sums);
}
void row_sums(ConstMatrixView<double> a, double* sums) {
  add_columns(a, sums);
}

// A product with a single row or column is a matrix times a vector, for which gemm is slow.
#define BDL_DEFINE(T, gemm_, gemv_, syrk_)                                                               \
  static void multiply(Op op, T alpha, ConstMatrixView<T> a, const T* x, Index step, T beta, T* y,       \
                       Index y_step) {                                                                   \
    if (step == 1 && y_step == 1 && suits_matrix_vector(a.rows, a.cols))                                 \
      return matrix_vector(op, alpha, a, x, beta, y);                                                    \
    gemv_(CblasColMajor, cblas(op), to_int(a.rows), to_int(a.cols), alpha, a.data, stride(a), x,         \
          to_int(step), beta, y, to_int(y_step));                                                        \
  }                                                                                                      \
  void gemm(Op op_a, Op op_b, T alpha, ConstMatrixView<T> a, ConstMatrixView<T> b, T beta,               \
            MatrixView<T> c) {                                                                           \
    const Index inner = op_a == Op::none ? a.cols : a.rows;                                              \
    if (inner == 0) return scale(beta, c);                                                               \
    if (c.rows == 0 || c.cols == 0) return;                                                              \
    if (c.cols == 1)                                                                                     \
      return multiply(op_a, alpha, a, b.data, op_b == Op::none ? 1 : stride(b), beta, c.data, 1);        \
    if (c.rows == 1)                                                                                     \
      return multiply(flipped(op_b), alpha, b, a.data, op_a == Op::none ? stride(a) : 1, beta, c.data,   \
                      stride(c));                                                                        \
    if (suits_product(c.rows, c.cols)) return product<T>(op_a, op_b, alpha, a, b, beta, c, false);       \
    gemm_(CblasColMajor, cblas(op_a), cblas(op_b), to_int(c.rows), to_int(c.cols), to_int(inner), alpha, \
          a.data, stride(a), b.data, stride(b), beta, c.data, stride(c));                                \
  }                                                                                                      \
  void syrk(Op op, T alpha, ConstMatrixView<T> a, T beta, MatrixView<T> c) {                             \
    const Index inner = op == Op::none ? a.cols : a.rows;                                                \
    if (inner == 0) return scale(beta, c);                                                               \
    if (c.rows == 0) return;                                                                             \
    if (suits_product(c.rows, c.rows)) return product<T>(op, flipped(op), alpha, a, a, beta, c, true);   \
    syrk_(CblasColMajor, CblasLower, cblas(op), to_int(c.rows), to_int(inner), alpha, a.data, stride(a), \
          beta, c.data, stride(c));                                                                      \
  }

BDL_DEFINE(float, cblas_sgemm, cblas_sgemv, cblas_ssyrk)
BDL_DEFINE(double, cblas_dgemm, cblas_dgemv, cblas_dsyrk)
#undef BDL_DEFINE

void solve_lower_right(Op op, ConstMatrixView<double> lower, MatrixView<double> b) {
  if (b.rows == 0 || b.cols == 0) return;
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, cblas(op), CblasNonUnit, to_int(b.rows), to_int(b.cols),
              1.0, lower.data, stride(lower), b.data, stride(b));
}

void solve_lower_left(Op op, ConstMatrixView<double> lower, MatrixView<double> b) {
  if (b.rows == 0 || b.cols == 0) return;
  cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, cblas(op), CblasNonUnit, to_int(b.rows), to_int(b.cols),
              1.0, lower.data, stride(lower), b.data, stride(b));
}

}  // namespace bdl
