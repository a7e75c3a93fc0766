#include "linalg/eigen/top_eigen.hpp"

#include "base/error.hpp"
#include "base/profile.hpp"
#include "linalg/blas.hpp"

namespace bdl {

void TopEigen::reserve(Index size, Index count) {
  values_.reserve(size);
  vectors_.reserve(size * count);
  direct_.reserve(size, count);
  if (BlockKrylov::suits(size, count)) krylov_.reserve(size, count);
}

ConstMatrixView<double> TopEigen::vectors() const {
  return vectors_.matrix(size_, count_);
}

void TopEigen::compute(MatrixView<double> a, Index count, double tolerance) {
  const StageTimer timer(Stage::eig);
  size_ = a.rows;
  count_ = count;
  if (count == 0) return;
  reserve(size_, count);
  const MatrixView<double> vectors = vectors_.matrix(size_, count);
  if (BlockKrylov::suits(size_, count)) {
    mirror_lower(a);
    if (krylov_.compute(a, tolerance, direct_, values_.data(), vectors)) return;
  }
  if (!direct_.compute(a, values_.data(), vectors))
    fail(Status::ERROR_DIVERGED, "the curvature's Gram matrix is not finite");
}

}  // namespace bdl
