// What Kronecker factors are made of, whatever the layer: products of a few columns at a time in T, summed up
// in double.
#pragma once

#include "linalg/blas.hpp"
#include "network/block_rows.hpp"

namespace bdl {

/// Numbers of the factors that are gathered at a time, if a single example has not more.
inline constexpr Index most_factor_numbers = Index{1} << 18;

/// Lower triangle of out += factor products.
template <class T>
void add_lower(double factor, ConstMatrixView<T> products, MatrixView<double> out) {
  for (Index j = 0; j < out.cols; ++j)
    for (Index i = j; i < out.rows; ++i) out(i, j) += factor * static_cast<double>(products(i, j));
}

/// out += products.
template <class T>
void add_all(ConstMatrixView<T> products, MatrixView<double> out) {
  for (Index j = 0; j < out.cols; ++j)
    for (Index i = 0; i < out.rows; ++i) out(i, j) += static_cast<double>(products(i, j));
}

}  // namespace bdl
