// Eigenpairs of dense symmetric matrices, of up to some thousand rows. A matrix that fits the caches is
// reduced to tridiagonal form in one pass per column (householder.hpp); one that does not, in the same way on
// the library's threads. Eigenvalues of the tridiagonal matrix that are well apart come
// from Sturm counts and Rayleigh quotient iterations (tridiagonal_pairs.hpp), close ones from LAPACK
// (linalg/lapack.hpp). A few pairs of a large positive semi-definite matrix, as a low-rank projection needs
// them, come sooner from a block Krylov space (block_krylov.cpp). Everything is in double; results do not
// depend on the number of threads.
#pragma once

#include "base/scratch.hpp"
#include "base/simd.hpp"

namespace bdl {

/// Writes the vectors.cols largest eigenvalues of A (lower triangle read) in descending order and their
/// orthonormal vectors. False if A is not finite.
bool largest_eigenpairs(ConstMatrixView<double> a, double* values, MatrixView<double> vectors,
                        Scratch& scratch, Simd simd = widest_simd());
/// Number of doubles that it takes from the scratch at most, for `count` pairs.
Index largest_eigenpairs_numbers(Index size, Index count);

/// Eigenvalues in descending order, and the vector of each as a column.
struct EigenPairs {
  ConstSpan<double> values;
  ConstMatrixView<double> vectors;
};

/// Returns the `count` largest eigenpairs, taken from the scratch, of a positive semi-definite A (lower
/// triangle read, upper one overwritten by it). Orthonormal vectors v have residuals |A v - theta v| <=
/// tolerance theta_1 or at rounding level; eigenvalues are accurate to the square of that over the gap. Few
/// pairs of a large matrix come sooner the larger the tolerance, and if the first coordinates are near them.
/// Fails with ERROR_DIVERGED if A is not finite.
EigenPairs largest_positive_pairs(MatrixView<double> a, Index count, double tolerance, Scratch& scratch);

/// True if so few pairs of a matrix of that size may come sooner from a block Krylov space.
bool suits_krylov(Index size, Index count);

/// Writes R = R^T with R R = A for a positive semi-definite A, singular or not. Other than a Cholesky factor
/// with pivots it is a continuous function of A: rounding errors cannot choose between different roots where
/// pivots are equal or zero. Eigenvalues below `negligible` times the largest count as 0. False if A is not
/// finite.
bool symmetric_root(ConstMatrixView<double> a, double negligible, MatrixView<double> root, Scratch& scratch);

}  // namespace bdl
