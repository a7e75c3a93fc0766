#include "linalg/dense/cholesky.hpp"

#include <algorithm>
#include <cmath>

#include "base/simd.hpp"
#include "linalg/blas.hpp"
#include "linalg/lapack.hpp"

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

void cholesky_inverse(ConstMatrixView<double> lower, MatrixView<double> inverse) {
  for (Index j = 0; j < inverse.cols; ++j) {
    std::fill_n(inverse.column_data(j), inverse.rows, 0.0);
    inverse(j, j) = 1;
  }
  cholesky_solve(lower, inverse);
}

/// Rotates: plain rotations add and mixed hyperbolic ones subtract, each as stable as its problem allows
/// (Bojanczyk, Brent, Van Dooren, de Hoog 1987). Column by column of L, which passes through the caches once.
bool update_cholesky(MatrixView<double> lower, MatrixView<double> z, Index added) {
  const Index size = lower.rows;
  bool good = true;
  with_simd([&](auto) BDL_INLINE_LAMBDA {
    for (Index j = 0; j < size && good; ++j) {
      double* l = lower.column_data(j) + j;
      const Index below = size - j - 1;
      for (Index k = 0; k < z.cols; ++k) {
        double* x = z.column_data(k) + j;
        const double pivot = *l, value = *x;
        if (value == 0) continue;
        if (k < added) {
          const double root = std::sqrt(pivot * pivot + value * value);
          *l = root;
          rotate(l + 1, x + 1, pivot / root, value / root, below);
        } else {
          const double square = (pivot - value) * (pivot + value);
          *l = std::sqrt(square);
          if (!(square > 0)) break;
          rotate_back(l + 1, x + 1, *l / pivot, value / pivot, below);
        }
      }
      good = *l > 0 && std::isfinite(*l);
    }
  });
  return good;
}

}  // namespace bdl
