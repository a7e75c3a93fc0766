// Products of a small matrix with itself, in double, in an order that depends on nothing.
#pragma once

#include "base/view.hpp"

namespace bdl {

/// Lower triangle of out += P P^T, column after column.
template <class T>
void add_lower_products(ConstMatrixView<T> p, MatrixView<double> out) {
  for (Index j = 0; j < p.rows; ++j)
    for (Index i = j; i < p.rows; ++i) {
      double sum = out(i, j);
      for (Index k = 0; k < p.cols; ++k) sum += static_cast<double>(p(i, k)) * static_cast<double>(p(j, k));
      out(i, j) = sum;
    }
}

/// Lower triangle of out = 0.
inline void clear_lower(MatrixView<double> out) {
  for (Index j = 0; j < out.cols; ++j)
    for (Index i = j; i < out.rows; ++i) out(i, j) = 0;
}

}  // namespace bdl
