// Single calls of BLAS, which only blas.cpp makes, and the sizes up to which OpenBLAS (0.3.21 and later)
// makes them on the calling thread; products.cpp, vector_products.cpp and triangular.cpp are made of them.
// The caller holds a ForkGate::Pass.
#pragma once

#include "base/view.hpp"
#include "linalg/blas.hpp"

namespace bdl {

/// Number of products in call_gemm() (interface/gemm.c: SMP_THRESHOLD_MIN times GEMM_MULTITHREAD_THRESHOLD).
inline constexpr Index most_products = 1 << 18;
/// Size of the matrix in call_gemv() and call_trsv() (interface/gemv.c, trsv.c: fewer than 2304
/// GEMM_MULTITHREAD_THRESHOLD).
inline constexpr Index most_numbers = 9216 - 1;
inline constexpr Index most_rows_of_trsv = 95;
static_assert(most_rows_of_trsv * most_rows_of_trsv <= most_numbers);

/// C = alpha op(A) op(B) + beta C with `depth` columns of op(A).
void call_gemm(Op op_a, Op op_b, Index depth, float alpha, ConstMatrixView<float> a, ConstMatrixView<float> b,
               float beta, MatrixView<float> c);
void call_gemm(Op op_a, Op op_b, Index depth, double alpha, ConstMatrixView<double> a,
               ConstMatrixView<double> b, double beta, MatrixView<double> c);

/// y += alpha A^T x; elements of x are `step` apart, those of y y_step.
void call_gemv(float alpha, ConstMatrixView<float> a, const float* x, Index step, float* y, Index y_step);
void call_gemv(double alpha, ConstMatrixView<double> a, const double* x, Index step, double* y, Index y_step);

/// x = op(L)^-1 x for a lower triangular L; elements of x are `step` apart.
void call_trsv(Op op, ConstMatrixView<double> lower, double* x, Index step);

/// A product of a matrix with a vector, a gemm() whose result has a single row or column: y = alpha op(A) x +
/// beta y; elements of x are `step` apart, those of y y_step. With beta = 0 the old y is not read.
template <class T>
struct VectorProduct {
  Op op;
  T alpha;
  ConstMatrixView<T> a;
  const T* x;
  Index step;
  T beta;
  T* y;
  Index y_step;
};

/// Computes the product, in vector_products.cpp.
template <class T>
void multiply(const VectorProduct<T>& product);

}  // namespace bdl
