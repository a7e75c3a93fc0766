#include "linalg/dense/cholesky.hpp"

#include <algorithm>
#include <cmath>

#include "base/simd.hpp"
#include "linalg/blas.hpp"
#include "linalg/lapack.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// True if nothing is beside the diagonal: posteriors begin so, and need no work.
bool is_zero(ConstMatrixView<double> a) {
  for (Index j = 0; j < a.cols; ++j)
    for (const double value : a.column(j))
      if (value != 0) return false;
  return true;
}

/// Factorises by halves: A11 = C11 C11^T, C21 = A21 C11^-T, and the rest is A22 - C21 C21^T.
bool factorize(MatrixView<double> a) {
  constexpr Index small = 16;
  static_assert(small <= most_rows_of_potrf);
  if (a.rows <= small) return factorize_positive(a);
  const Index n = (a.rows / 2 + small - 1) / small * small, rest = a.rows - n;
  const auto first = a.block(0, 0, n, n), beside = a.block(n, 0, rest, n), last = a.block(n, n, rest, rest);
  if (!factorize(first)) return false;
  if (!is_zero(beside)) {
    solve_lower_right(Op::transpose, first, beside);
    syrk(Op::none, -1.0, beside, 1.0, last);
  }
  return factorize(last);
}

/// [l z] <- [l z] [c -s; s c] below the diagonal.
BDL_ALWAYS_INLINE void rotate(double* l, double* z, double c, double s, Index count) {
  for (Index i = 0; i < count; ++i) {
    const double old = l[i];
    l[i] = c * old + s * z[i];
    z[i] = c * z[i] - s * old;
  }
}

/// l <- (l - s z) / c, then z <- c z - s l.
BDL_ALWAYS_INLINE void rotate_back(double* l, double* z, double c, double s, Index count) {
  const double inverse = 1 / c;
  for (Index i = 0; i < count; ++i) {
    l[i] = (l[i] - s * z[i]) * inverse;
    z[i] = c * z[i] - s * l[i];
  }
}

/// A rotation of a column of L with one of Z; s = 0 is none.
struct Rotation {
  double c, s;
};
constexpr Index most_rotations = 64;  // of a column that are applied together

/// Finds the rotations of column j with `count` columns of Z from `first` on, and l_jj after them. False if
/// that is not positive.
BDL_ALWAYS_INLINE bool find_rotations(MatrixView<double> lower, MatrixView<double> z, Index j, Index first,
                                      Index count, Index added, Rotation* rotations) {
  double& l = lower(j, j);
  for (Index r = 0; r < count; ++r) {
    const double pivot = l, value = z(j, first + r);
    rotations[r] = {1, 0};
    if (value == 0) continue;
    if (first + r < added) {
      const double root = std::sqrt(pivot * pivot + value * value);
      l = root;
      rotations[r] = {pivot / root, value / root};
    } else {
      const double square = (pivot - value) * (pivot + value);
      l = std::sqrt(square);
      if (!(square > 0)) return false;
      rotations[r] = {l / pivot, value / pivot};
    }
  }
  return true;
}

/// Applies the rotations of column j to `rows` rows from `row` on.
BDL_ALWAYS_INLINE void apply_rotations(MatrixView<double> lower, MatrixView<double> z, Index j, Index first,
                                       Index count, Index added, const Rotation* rotations, Index row,
                                       Index rows) {
  double* const l = lower.column_data(j) + row;
  for (Index r = 0; r < count; ++r) {
    const auto [c, s] = rotations[r];
    if (s == 0) continue;
    double* const x = z.column_data(first + r) + row;
    first + r < added ? rotate(l, x, c, s, rows) : rotate_back(l, x, c, s, rows);
  }
}

/// Calls use(L of the rows from j on, columns j, j + 1, ... of I on these rows) for blocks of columns of I.
template <class Use>
void for_blocks_of_identity(ConstMatrixView<double> lower, MatrixView<double> identity, Use use) {
  constexpr Index together = 64;
  const Index n = lower.rows;
  for (Index j = 0; j < n; ++j) {
    std::fill_n(identity.column_data(j), n, 0.0);
    identity(j, j) = 1;
  }
  for (Index j = 0; j < n; j += together)
    use(lower.block(j, j, n - j, n - j), identity.block(j, j, n - j, std::min(together, n - j)));
}

}  // namespace

bool cholesky(MatrixView<double> a) {
  if (!factorize(a)) return false;
  for (Index j = 0; j < a.cols; ++j) {
    std::fill_n(a.column_data(j), j, 0.0);
    if (!std::isfinite(a(j, j))) return false;
  }
  return true;
}

double log_det_from_cholesky(ConstMatrixView<double> lower) {
  double sum = 0;
  for (Index i = 0; i < lower.rows; ++i) sum += std::log(lower(i, i));
  return 2 * sum;
}

void cholesky_solve(ConstMatrixView<double> lower, MatrixView<double> x) {
  solve_lower_left(Op::none, lower, x);
  solve_lower_left(Op::transpose, lower, x);
}

void lower_inverse(ConstMatrixView<double> lower, MatrixView<double> inverse) {
  for_blocks_of_identity(lower, inverse, [](ConstMatrixView<double> l, MatrixView<double> columns) {
    solve_lower_left(Op::none, l, columns);
  });
}

void cholesky_inverse(ConstMatrixView<double> lower, MatrixView<double> inverse) {
  for_blocks_of_identity(lower, inverse, cholesky_solve);
  for (Index j = 0; j < inverse.cols; ++j)
    for (Index i = j + 1; i < inverse.rows; ++i) inverse(j, i) = inverse(i, j);
}

/// Rotates: plain rotations add and mixed hyperbolic ones subtract, each as stable as its problem allows
/// (Bojanczyk, Brent, Van Dooren, de Hoog 1987). Column by column of L, which passes through the caches once;
/// rows are rotated by themselves, so that threads divide those of a large matrix.
bool update_cholesky(MatrixView<double> lower, MatrixView<double> z, Index added) {
  constexpr Index grain = 1024, large = 1 << 17;  // rows of a task; numbers worth several tasks
  Rotation rotations[most_rotations];
  for (Index j = 0; j < lower.rows; ++j) {
    const Index below = lower.rows - j - 1;
    for (Index first = 0; first < z.cols; first += most_rotations) {
      const Index count = std::min(most_rotations, z.cols - first);
      const auto apply = [&](Index row, Index rows) noexcept {
        with_simd([&](auto) BDL_INLINE_LAMBDA {
          apply_rotations(lower, z, j, first, count, added, rotations, row, rows);
        });
      };
      bool good = true;
      with_simd([&](auto) BDL_INLINE_LAMBDA {
        good = find_rotations(lower, z, j, first, count, added, rotations);
      });
      if (!good) return false;
      if (below * count < large)
        apply(j + 1, below);
      else
        parallel_blocks(below, grain, [&](Index row, Index rows) noexcept { apply(j + 1 + row, rows); });
    }
    if (!(lower(j, j) > 0 && std::isfinite(lower(j, j)))) return false;
  }
  return true;
}

}  // namespace bdl
