// Products of a matrix with a vector on our own threads.
#pragma once

#include "linalg/blas/product.hpp"

namespace bdl {

/// y = alpha op(A) x + beta y; with beta = 0 the old y is not read. The same bits on any number of threads.
template <class T>
void matrix_vector(Op op, T alpha, ConstMatrixView<T> a, const T* x, T beta, T* y);

}  // namespace bdl
