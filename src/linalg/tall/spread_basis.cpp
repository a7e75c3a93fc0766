// Orthonormal bases that ranks make together: the Gram matrix of the columns is a pass that they share, and
// its eigenvectors turn the columns (Stathopoulos and Wu 2002). Columns are not sent again.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "linalg/tall/low_rank_projection.hpp"

namespace bdl {

template <class T>
void LowRankProjection<T>::reserve_spread(Index columns) {
  eigen_.reserve(columns, columns);
  mixing_.reserve(columns * columns);
  lengths_.reserve(columns);
}

/// Q = Y W, so many times: rounding hurts once in columns that are near to each other. How many directions
/// they have.
template <class T>
Index LowRankProjection<T>::orthonormalize_spread(Index rows, Index columns, int rounds,
                                                  TallScratch& scratch) {
  constexpr double epsilon = std::numeric_limits<T>::epsilon(), rounding = 1e-15;
  const double floor =
      std::max(epsilon * epsilon * static_cast<double>(rows), rounding * static_cast<double>(columns));
  for (int round = 0; round < rounds; ++round) {
    const auto gram = matrix_.matrix(columns, columns);
    tall_gram<T>(basis_.matrix(rows, columns), {}, gram, scratch);
    const Index kept = whiten(gram, floor);
    tall_combine<T>(basis_.matrix(rows, columns), mixing_.matrix(columns, kept), false,
                    image_.matrix(rows, kept), scratch);
    basis_.swap(image_);
    columns = kept;
  }
  return columns;
}

/// Writes W = S Z Theta^-1/2 of S G S = Z Theta Z^T into mixing_, S dividing by the columns' lengths, for the
/// eigenvalues above `floor` times the largest one; their number.
template <class T>
Index LowRankProjection<T>::whiten(MatrixView<double> gram, double floor) {
  const Index size = gram.rows;
  double* const lengths = lengths_.data();  // their inverses
  for (Index j = 0; j < size; ++j) {
    const double square = gram(j, j);
    if (!std::isfinite(square)) fail(Status::ERROR_DIVERGED, "the columns of a factor are not finite");
    lengths[j] = square > 0 ? 1 / std::sqrt(square) : 0;
  }
  for (Index j = 0; j < size; ++j)
    for (Index i = j; i < size; ++i) gram(i, j) *= lengths[i] * lengths[j];
  eigen_.compute(gram, size);
  const auto values = eigen_.values();
  Index kept = 0;
  while (kept < size && values[static_cast<std::size_t>(kept)] > floor * values[0]) ++kept;
  const auto mixing = mixing_.matrix(size, kept);
  for (Index k = 0; k < kept; ++k)
    for (Index i = 0; i < size; ++i)
      mixing(i, k) = static_cast<T>(lengths[i] * eigen_.vectors()(i, k) /
                                    std::sqrt(values[static_cast<std::size_t>(k)]));
  return kept;
}

#define BDL_INSTANTIATE(T)                                   \
  template void LowRankProjection<T>::reserve_spread(Index); \
  template Index LowRankProjection<T>::orthonormalize_spread(Index, Index, int, TallScratch&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
