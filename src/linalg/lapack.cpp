#include "linalg/lapack.hpp"

#include <lapacke.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "parallel/fork_gate.hpp"

namespace bdl {
namespace {

static_assert(most_rows_of_potrf < 64);  // lapack/potrf.c: one thread below GEMM_MULTITHREAD_THRESHOLD * 16

// Numbers for each row that the documentation asks for, the copies of T and the eigenvalues included.
constexpr Index stemr_numbers = 18, stemr_integers = 10, pair_numbers = 3 + stemr_numbers,
                pair_integers = 2 + stemr_integers;
static_assert(pair_numbers + (pair_integers + 1) / 2 == tridiagonal_numbers);

/// The largest eigenpairs that are being found, in ascending order; the values are the first numbers.
struct Pairs {
  Index size;
  MatrixView<double> vectors;
  double* numbers;
  int* integers;

  int rows() const { return static_cast<int>(size); }
  int count() const { return static_cast<int>(vectors.cols); }
  int first() const { return rows() - count() + 1; }
};

/// Copies T without the elements beside the diagonal that are rounding errors of the whole: what they would
/// tie together, a singular matrix's null space above all, takes much of the time.
void copy_and_split(Index size, const double* diagonal, const double* beside, double* d, double* e) {
  double largest = 0;
  for (Index i = 0; i < size; ++i) largest = std::max(largest, std::abs(diagonal[i]));
  for (Index i = 0; i + 1 < size; ++i) largest = std::max(largest, std::abs(beside[i]));
  const double rounding = std::numeric_limits<double>::epsilon() / 2 * largest;
  std::copy_n(diagonal, size, d);
  for (Index i = 0; i + 1 < size; ++i) e[i] = std::abs(beside[i]) <= rounding ? 0 : beside[i];
}

/// Finds the pairs by multiple relatively robust representations.
bool find_by_representations(const Pairs& p, const double* diagonal, const double* beside) {
  double *const d = p.numbers + p.size, *const e = d + p.size, *const work = e + p.size;
  copy_and_split(p.size, diagonal, beside, d, e);
  int found = 0, accurate = 1;
  const int info = LAPACKE_dstemr_work(LAPACK_COL_MAJOR, 'V', p.count() == p.rows() ? 'A' : 'I', p.rows(), d,
                                       e, 0, 0, p.first(), p.rows(), &found, p.numbers, p.vectors.data,
                                       static_cast<int>(p.vectors.ld), p.count(), p.integers, &accurate, work,
                                       static_cast<int>(stemr_numbers * p.size), p.integers + 2 * p.size,
                                       static_cast<int>(stemr_integers * p.size));
  return info == 0 && found == p.count();
}

/// v^T T v, which the error of v changes by its square only: bisection of a part of the spectrum ends sooner.
double rayleigh_quotient(ConstSpan<double> v, const double* diagonal, const double* beside) {
  double sum = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    sum += diagonal[i] * v[i] * v[i];
    if (i + 1 < v.size()) sum += 2 * beside[i] * v[i] * v[i + 1];
  }
  return sum;
}

/// Sorts the pairs, which may have been found block by block.
void sort_descending(double* values, MatrixView<double> vectors) {
  for (Index k = 0; k < vectors.cols; ++k) {
    const Index largest = std::max_element(values + k, values + vectors.cols) - values;
    if (largest == k) continue;
    std::swap(values[k], values[largest]);
    std::swap_ranges(vectors.column_data(k), vectors.column_data(k) + vectors.rows,
                     vectors.column_data(largest));
  }
}

/// Finds the pairs by bisection and inverse iteration, as LAPACK itself does where there are no such
/// representations.
bool find_by_bisection(const Pairs& p, const double* diagonal, const double* beside) {
  double* const work = p.numbers + p.size;
  int *const blocks = p.integers, *const splits = blocks + p.size, *const more = splits + p.size;
  int found = 0, split = 0;
  if (LAPACKE_dstebz_work('I', 'B', p.rows(), 0, 0, p.first(), p.rows(), 0, diagonal, beside, &found, &split,
                          p.numbers, blocks, splits, work, more) != 0 ||
      found != p.count())
    return false;
  return LAPACKE_dstein_work(LAPACK_COL_MAJOR, p.rows(), diagonal, beside, found, p.numbers, blocks, splits,
                             p.vectors.data, static_cast<int>(p.vectors.ld), work, more, more + p.size) == 0;
}

}  // namespace

bool factorize_positive(MatrixView<double> a) {
  if (a.rows == 0) return true;
  const ForkGate::Pass pass;
  return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', static_cast<int>(a.rows), a.data,
                             static_cast<int>(a.ld)) == 0;
}

bool largest_tridiagonal_pairs(Index size, const double* diagonal, const double* beside, double* values,
                               MatrixView<double> vectors, Scratch& scratch) {
  const auto is_finite = [](double value) { return std::isfinite(value); };
  if (!std::all_of(diagonal, diagonal + size, is_finite) ||
      !std::all_of(beside, beside + size - 1, is_finite))
    return false;  // dstemr would not return
  const Scratch::Frame frame(scratch);
  const Pairs p{size, vectors, scratch.take<double>(pair_numbers * size).data(),
                scratch.take<int>(pair_integers * size).data()};
  if (!find_by_representations(p, diagonal, beside) && !find_by_bisection(p, diagonal, beside)) return false;
  for (Index k = 0; k < vectors.cols; ++k) values[k] = rayleigh_quotient(vectors.column(k), diagonal, beside);
  sort_descending(values, vectors);
  return true;
}

}  // namespace bdl
