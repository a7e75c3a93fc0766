// Products of matrices so small that BLAS spends as long on its threads and copies as on the arithmetic.
#pragma once

#include "base/view.hpp"

namespace bdl {

enum class Op { none, transpose };

/// True where small_product() is the faster one: from about 32^3 to 128^3 multiplications, no side being
/// thin.
inline bool suits_small_product(Index rows, Index cols, Index inner) {
  constexpr double least = 1 << 14, most = 1 << 21;
  const double size = static_cast<double>(rows) * static_cast<double>(cols) * static_cast<double>(inner);
  return size >= least && size <= most && rows >= 8 && cols >= 8;
}

/// C = alpha op(A) op(B) + beta C, or its lower triangle only; with beta = 0 the old C is not read.
template <class T>
void small_product(Op op_a, Op op_b, T alpha, ConstMatrixView<T> a, ConstMatrixView<T> b, T beta,
                   MatrixView<T> c, bool lower_only);

}  // namespace bdl
