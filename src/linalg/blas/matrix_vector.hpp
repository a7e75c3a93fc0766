// Products of a matrix with a vector on our own threads: BLAS's, once woken by a large one, spin for a while
// on the processors that the next loops need.
#pragma once

#include "linalg/blas/product.hpp"

namespace bdl {

/// BLAS is as good where it would not use threads.
bool suits_matrix_vector(Index rows, Index cols);

/// y = alpha op(A) x + beta y; with beta = 0 the old y is not read. The same bits on any number of threads.
template <class T>
void matrix_vector(Op op, T alpha, ConstMatrixView<T> a, const T* x, T beta, T* y);

}  // namespace bdl
