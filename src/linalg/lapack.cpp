#include "linalg/lapack.hpp"

#include <lapacke.h>

#include <algorithm>

#include "parallel/fork_gate.hpp"

namespace bdl {
namespace {

static_assert(most_rows_of_potrf < 64);  // lapack/potrf.c: one thread below GEMM_MULTITHREAD_THRESHOLD * 16

// Sizes of dstemr's memory that its documentation asks for, in numbers of each row.
constexpr Index stemr_numbers = 18, stemr_integers = 10, stemr_supports = 2;

}  // namespace

bool factorize_positive(MatrixView<double> a) {
  const ForkGate::Pass pass;
  return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', static_cast<int>(a.rows), a.data, static_cast<int>(a.ld)) == 0;
}

void TridiagonalScratch::reserve(Index size) {
  numbers.reserve((3 + stemr_numbers) * size);
  integers.reserve((stemr_supports + stemr_integers) * size);
}

bool largest_tridiagonal_pairs(Index size, const double* diagonal, const double* beside, double* values,
                               MatrixView<double> vectors, TridiagonalScratch& scratch) {
  scratch.reserve(size);
  double *const d = scratch.numbers.data(), *const e = d + size, *const found = e + size;
  int* const supports = scratch.integers.data();
  std::copy_n(diagonal, size, d);
  std::copy_n(beside, size - 1, e);
  const int n = static_cast<int>(size), count = static_cast<int>(vectors.cols);
  int pairs = 0, accurate = 1;
  const ForkGate::Pass pass;
  const int info = LAPACKE_dstemr_work(
      LAPACK_COL_MAJOR, 'V', count == n ? 'A' : 'I', n, d, e, 0, 0, n - count + 1, n, &pairs, found, vectors.data,
      static_cast<int>(vectors.ld), count, supports, &accurate, found + size, static_cast<int>(stemr_numbers * size),
      supports + stemr_supports * size, static_cast<int>(stemr_integers * size));
  if (info != 0 || pairs != count) return false;
  std::reverse_copy(found, found + count, values);
  for (Index k = 0; k < count / 2; ++k)
    std::swap_ranges(vectors.column_data(k), vectors.column_data(k) + size, vectors.column_data(count - 1 - k));
  return true;
}

}  // namespace bdl
