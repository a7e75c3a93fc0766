#include "linalg/dense/symmetric_root.hpp"

#include <cmath>

#include "linalg/blas.hpp"

namespace bdl {

void SymmetricRoot::reserve(Index size) {
  eigen_.reserve(size, size);
  values_.reserve(size);
  vectors_.reserve(size * size);
  scaled_.reserve(size * size);
}

/// Q diag(lambda)^1/2 Q^T = (Q diag(lambda)^1/4) (Q diag(lambda)^1/4)^T.
bool SymmetricRoot::compute(ConstMatrixView<double> a, double negligible, MatrixView<double> root) {
  const Index size = a.rows;
  if (size == 1) {
    root(0, 0) = a(0, 0) > 0 ? std::sqrt(a(0, 0)) : 0;
    return std::isfinite(a(0, 0));
  }
  reserve(size);
  const auto vectors = vectors_.matrix(size, size), scaled = scaled_.matrix(size, size);
  double* const values = values_.data();
  if (!eigen_.compute(a, values, vectors)) return false;
  for (Index k = 0; k < size; ++k) {
    const bool counts = values[k] > 0 && values[k] >= negligible * values[0];
    const double factor = counts ? std::sqrt(std::sqrt(values[k])) : 0;
    for (Index i = 0; i < size; ++i) scaled(i, k) = factor * vectors(i, k);
  }
  syrk(Op::none, 1.0, scaled, 0.0, root);
  mirror_lower(root);
  return true;
}

}  // namespace bdl
