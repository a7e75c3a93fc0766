// Rotations, plain ones to add and mixed hyperbolic ones to subtract, each as stable as its problem allows
// (Bojanczyk, Brent, Van Dooren, de Hoog 1987). Column by column of L, so that L passes through the caches
// once, however many terms there are.
#include "linalg/dense/cholesky_update.hpp"

#include <cmath>

#include "base/interrupt.hpp"
#include "base/simd.hpp"

namespace bdl {
namespace {

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

constexpr Index columns_between_questions = 64;

}  // namespace

bool update_cholesky(MatrixView<double> lower, MatrixView<double> z, Index added) {
  const Index size = lower.rows;
  bool good = true;
  with_simd([&](auto) BDL_INLINE_LAMBDA {
    for (Index j = 0; j < size && good; ++j) {
      if (j % columns_between_questions == 0) check_loop();
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
