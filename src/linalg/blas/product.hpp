// Matrix products on the library's own threads. On one thread BLAS is as fast. But OpenBLAS's threads keep
// their processors busy for a while after each call, when this library's loops want them (a fifth of a step),
// and on two threads it takes twice as long for matrices of size 100 (bdl_bench gemm).
#pragma once

#include "base/view.hpp"

namespace bdl {

enum class Op { none, transpose };

/// Of thin products tiles fill no vectors.
inline bool suits_product(Index rows, Index cols) {
  return rows >= 8 && cols >= 4;
}

/// C = alpha op(A) op(B) + beta C, or its lower triangle only; with beta = 0 the old C is not read.
template <class T>
void product(Op op_a, Op op_b, T alpha, ConstMatrixView<T> a, ConstMatrixView<T> b, T beta, MatrixView<T> c,
             bool lower_only);

}  // namespace bdl
