#include "linalg/blas/blas.hpp"

#include <algorithm>

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

/// y = alpha op(A) x + beta y for vectors whose elements are steps apart, in pieces that are not.
template <class T>
void multiply_strided(Op op, T alpha, const ConstMatrixView<T>& a, const T* x, Index step, T beta, T* y,
                      Index y_step) {
  constexpr Index piece = 256;
  T inputs[piece], outputs[piece];
  const bool plain = op == Op::none;
  const Index inner = plain ? a.cols : a.rows, outer = plain ? a.rows : a.cols;
  for (Index row = 0; row < outer; row += piece) {
    const Index rows = std::min(piece, outer - row);
    for (Index first = 0; first < inner; first += piece) {
      const Index count = std::min(piece, inner - first);
      for (Index i = 0; i < count; ++i) inputs[i] = x[(first + i) * step];
      matrix_vector<T>(op, T(1), plain ? a.block(row, first, rows, count) : a.block(first, row, count, rows),
                       inputs, first == 0 ? T(0) : T(1), outputs);
    }
    for (Index i = 0; i < rows; ++i) {
      T& out = y[(row + i) * y_step];
      out = beta == 0 ? alpha * outputs[i] : alpha * outputs[i] + beta * out;
    }
  }
}

template <class T>
void multiply_vector(Op op, T alpha, const ConstMatrixView<T>& a, const T* x, Index step, T beta, T* y,
                     Index y_step) {
  if (step == 1 && y_step == 1)
    matrix_vector(op, alpha, a, x, beta, y);
  else
    multiply_strided(op, alpha, a, x, step, beta, y, y_step);
}

// A product with a single row or column is a matrix times a vector.
template <class T>
void multiply(Op op_a, Op op_b, T alpha, const ConstMatrixView<T>& a, const ConstMatrixView<T>& b, T beta,
              const MatrixView<T>& c) {
  if ((op_a == Op::none ? a.cols : a.rows) == 0) return scale(beta, c);
  if (c.rows == 0 || c.cols == 0) return;
  if (c.cols == 1)
    return multiply_vector(op_a, alpha, a, b.data, op_b == Op::none ? 1 : b.ld, beta, c.data, 1);
  if (c.rows == 1)
    return multiply_vector(flipped(op_b), alpha, b, a.data, op_a == Op::none ? a.ld : 1, beta, c.data, c.ld);
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
