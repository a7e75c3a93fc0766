// The only door to LAPACK: lapack.cpp alone calls it. Its routines for whole symmetric matrices are not
// called: they use products of BLAS that wake its threads whatever the size (dsymv, dsyr2k), on which results
// would depend.
#pragma once

#include "base/scratch.hpp"

namespace bdl {

/// Number of rows up to which OpenBLAS's dpotrf works on the calling thread.
inline constexpr Index most_rows_of_potrf = 63;

/// Overwrites the lower triangle of A with its Cholesky factor; what is above is neither read nor written.
/// False if A is not positive definite. A has at most most_rows_of_potrf rows.
bool factorize_positive(MatrixView<double> a);

/// Number of doubles that the next function takes from the scratch, for each row.
inline constexpr Index tridiagonal_numbers = 27;
/// Writes the vectors.cols largest eigenvalues of a symmetric tridiagonal matrix, in descending order, and
/// their vectors, orthonormal to 1e-12, by multiple relatively robust representations (dstemr: Dhillon and
/// Parlett 2004) or, where there are none, bisection and inverse iteration. Of values closer than 1e-10 |T|
/// at the end of those wanted, others may be found. False if the numbers are not finite. It cannot be
/// interrupted: all pairs of 800 rows take some 0.15 s.
bool largest_tridiagonal_pairs(Index size, const double* diagonal, const double* beside, double* values,
                               MatrixView<double> vectors, Scratch& scratch);

}  // namespace bdl
