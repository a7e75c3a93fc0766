// Products of a matrix with a vector: a gemm() whose result has a single row or column.
#pragma once

#include "linalg/blas.hpp"

namespace bdl {

/// y = alpha op(A) x + beta y; elements of x are `step` apart, those of y y_step. With beta = 0 the old y is
/// not read.
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

template <class T>
void multiply(const VectorProduct<T>& product);

}  // namespace bdl
