#include "linalg/blas/blas.hpp"

#include "base/simd.hpp"
#include "linalg/blas/matrix_vector.hpp"
#include "linalg/blas/thin_product.hpp"

namespace bdl {
namespace {

Op flipped(Op op) {
  return op == Op::none ? Op::transpose : Op::none;
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

namespace {

// A product with a single row or column is a matrix times a vector.
template <class T>
void multiply(Op op_a, Op op_b, T alpha, ConstMatrixView<T> a, ConstMatrixView<T> b, T beta,
              MatrixView<T> c) {
  if ((op_a == Op::none ? a.cols : a.rows) == 0) return scale(beta, c);
  if (c.rows == 0 || c.cols == 0) return;
  if (c.cols == 1 && op_b == Op::none) return matrix_vector(op_a, alpha, a, b.data, beta, c.data);
  if (c.rows == 1 && op_a == Op::transpose && c.ld == 1)
    return matrix_vector(flipped(op_b), alpha, b, a.data, beta, c.data);
  if (!suits_product(c.rows, c.cols) && op_a == Op::transpose && op_b == Op::none)
    return thin_product(alpha, a, b, beta, c, false);
  product<T>(op_a, op_b, alpha, a, b, beta, c, false);
}

template <class T>
void multiply_by_itself(Op op, T alpha, ConstMatrixView<T> a, T beta, MatrixView<T> c) {
  if ((op == Op::none ? a.cols : a.rows) == 0) return scale(beta, c);
  if (c.rows == 0) return;
  if (!suits_product(c.rows, c.cols) && op == Op::transpose) return thin_product(alpha, a, a, beta, c, true);
  product<T>(op, flipped(op), alpha, a, a, beta, c, true);
}

}  // namespace

void gemm(Op op_a, Op op_b, float alpha, ConstMatrixView<float> a, ConstMatrixView<float> b, float beta,
          MatrixView<float> c) {
  multiply(op_a, op_b, alpha, a, b, beta, c);
}
void gemm(Op op_a, Op op_b, double alpha, ConstMatrixView<double> a, ConstMatrixView<double> b, double beta,
          MatrixView<double> c) {
  multiply(op_a, op_b, alpha, a, b, beta, c);
}

void syrk(Op op, float alpha, ConstMatrixView<float> a, float beta, MatrixView<float> c) {
  multiply_by_itself(op, alpha, a, beta, c);
}
void syrk(Op op, double alpha, ConstMatrixView<double> a, double beta, MatrixView<double> c) {
  multiply_by_itself(op, alpha, a, beta, c);
}

}  // namespace bdl
