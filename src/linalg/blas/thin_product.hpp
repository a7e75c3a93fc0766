// C = alpha A^T B + beta C with few rows or columns: inner products of columns, which fill vectors where
// tiles of C do not.
#pragma once

#include "base/view.hpp"

namespace bdl {

/// The lower triangle only where asked; with beta = 0 the old C is not read. The same bits on any number of
/// threads.
template <class T>
void thin_product(T alpha, ConstMatrixView<T> a, ConstMatrixView<T> b, T beta, MatrixView<T> c,
                  bool lower_only);

}  // namespace bdl
