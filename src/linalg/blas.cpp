#include <cblas.h>

#include <algorithm>

#include "linalg/blas_calls.hpp"

namespace bdl {
namespace {

CBLAS_TRANSPOSE flag(Op op) {
  return op == Op::none ? CblasNoTrans : CblasTrans;
}

/// Returns the stride, which BLAS wants of a single column too.
template <class T>
int stride(const MatrixView<T>& a) {
  return static_cast<int>(a.cols == 1 ? std::max(a.ld, a.rows) : a.ld);
}

}  // namespace

void call_gemm(Op op_a, Op op_b, Index depth, float alpha, ConstMatrixView<float> a, ConstMatrixView<float> b,
               float beta, MatrixView<float> c) {
  cblas_sgemm(CblasColMajor, flag(op_a), flag(op_b), static_cast<int>(c.rows), static_cast<int>(c.cols),
              static_cast<int>(depth), alpha, a.data, stride(a), b.data, stride(b), beta, c.data, stride(c));
}
void call_gemm(Op op_a, Op op_b, Index depth, double alpha, ConstMatrixView<double> a,
               ConstMatrixView<double> b, double beta, MatrixView<double> c) {
  cblas_dgemm(CblasColMajor, flag(op_a), flag(op_b), static_cast<int>(c.rows), static_cast<int>(c.cols),
              static_cast<int>(depth), alpha, a.data, stride(a), b.data, stride(b), beta, c.data, stride(c));
}

void call_gemv(float alpha, ConstMatrixView<float> a, const float* x, Index step, float* y, Index y_step) {
  cblas_sgemv(CblasColMajor, CblasTrans, static_cast<int>(a.rows), static_cast<int>(a.cols), alpha, a.data,
              stride(a), x, static_cast<int>(step), 1, y, static_cast<int>(y_step));
}
void call_gemv(double alpha, ConstMatrixView<double> a, const double* x, Index step, double* y,
               Index y_step) {
  cblas_dgemv(CblasColMajor, CblasTrans, static_cast<int>(a.rows), static_cast<int>(a.cols), alpha, a.data,
              stride(a), x, static_cast<int>(step), 1, y, static_cast<int>(y_step));
}

void call_trsv(Op op, ConstMatrixView<double> lower, double* x, Index step) {
  cblas_dtrsv(CblasColMajor, CblasLower, flag(op), CblasNonUnit, static_cast<int>(lower.rows), lower.data,
              static_cast<int>(lower.ld), x, static_cast<int>(step));
}

}  // namespace bdl
