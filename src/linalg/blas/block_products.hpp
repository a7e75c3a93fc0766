// Products of block Krylov iterations: few columns, on one thread. (bdl_bench kernels compares them with
// BLAS.)
#pragma once

#include "base/simd.hpp"
#include "base/view.hpp"

namespace bdl {

// Tall matrices have 64-byte aligned columns, strides that are multiples of lane_count, and zeros there below
// their rows.

/// Y = A X for a symmetric A of which only the lower triangle is read, once for every four columns of X. A is
/// any matrix; X and Y are tall, and have their stride in common.
void symmetric_product(ConstMatrixView<double> a, ConstMatrixView<double> x, MatrixView<double> y,
                       Simd simd = widest_simd());

/// C = X^T Y for tall X and Y.
void inner_products(ConstMatrixView<double> x, ConstMatrixView<double> y, MatrixView<double> c,
                    Simd simd = widest_simd());

/// Y += factor X C for tall X and Y.
void add_combinations(double factor, ConstMatrixView<double> x, ConstMatrixView<double> c,
                      MatrixView<double> y, Simd simd = widest_simd());

}  // namespace bdl
