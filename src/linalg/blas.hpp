// Dense linear algebra. This folder alone knows BLAS and LAPACK; everything is column-major, and small
// systems are solved in double. In the order in which to read it:
//
//   blas.hpp                products and triangular systems: the door to BLAS; behind it products.cpp (large
//                           products in tiles), vector_products.cpp and triangular.cpp
//   dense/cholesky.hpp      Cholesky factors; dense/positive_matrix.hpp a matrix that is held with its factor
//   eigen/eigenpairs.hpp    eigenpairs of symmetric matrices; lapack.hpp is the door to LAPACK
//   tall/tall.hpp           D x L matrices, L << D: what low-rank posteriors are made of
//
// Dense products and triangular systems come from the system's BLAS. OpenBLAS decides from the sizes of a
// call alone whether it works on the calling thread; every call stays below its limits. So results depend
// neither on our number of threads nor on that of BLAS, nothing of the host's settings is read or changed,
// and no call waits for a thread of BLAS, which a fork or a refused thread could take away. A BLAS with other
// limits gives right results too; they may then depend on its number of threads.
#pragma once

#include <algorithm>

#include "parallel/parallel.hpp"

namespace bdl {

enum class Op { none, transpose };

/// C = alpha op(A) op(B) + beta C; with beta = 0 the old C is not read.
void gemm(Op op_a, Op op_b, float alpha, ConstMatrixView<float> a, ConstMatrixView<float> b, float beta,
          MatrixView<float> c);
void gemm(Op op_a, Op op_b, double alpha, ConstMatrixView<double> a, ConstMatrixView<double> b, double beta,
          MatrixView<double> c);

/// Lower triangle of C = alpha op(A) op(A)^T + beta C.
void syrk(Op op, float alpha, ConstMatrixView<float> a, float beta, MatrixView<float> c);
void syrk(Op op, double alpha, ConstMatrixView<double> a, double beta, MatrixView<double> c);

/// B = op(L)^-1 B (left) or B op(L)^-1 (right) for a lower triangular L.
void solve_lower_left(Op op, ConstMatrixView<double> lower, MatrixView<double> b);
void solve_lower_right(Op op, ConstMatrixView<double> lower, MatrixView<double> b);

/// sums_i = sum_j a(i, j).
void row_sums(ConstMatrixView<float> a, float* sums);
void row_sums(ConstMatrixView<double> a, double* sums);

/// Copies the lower triangle of a square matrix onto its upper one.
template <class T>
void mirror_lower(MatrixView<T> a) {
  constexpr Index block = 32,
                  large = 1024;  // rows that stay in the cache while they are read across; for threads
  const auto mirror = [a](Index first, Index count) noexcept {
    const Index end = first + count;
    for (Index j = 0; j < end; ++j)
      for (Index i = std::max(first, j + 1); i < end; ++i) a(j, i) = a(i, j);
  };
  if (a.rows >= large) return parallel_blocks(a.rows, block, mirror);
  for (Index first = 0; first < a.rows; first += block) mirror(first, std::min(block, a.rows - first));
}

}  // namespace bdl
