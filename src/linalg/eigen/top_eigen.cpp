#include "linalg/eigen/top_eigen.hpp"

#include "base/error.hpp"
#include "base/profile.hpp"
#include "linalg/eigen/lanes.hpp"

namespace bdl {

void TopEigen::reserve(Index size, Index count) {
  values_.reserve(size);
  vectors_.reserve(lane_padded(size) * count);
  direct_.reserve(size, count);
  if (BlockKrylov::suits(size, count)) krylov_.reserve(size, count);
}

ConstMatrixView<double> TopEigen::vectors() const {
  return {vectors_.data(), size_, count_, lane_padded(size_)};
}

void TopEigen::compute(ConstMatrixView<double> a, Index count, double tolerance) {
  const StageTimer timer(Stage::eig);
  size_ = a.rows;
  count_ = count;
  if (count == 0) return;
  reserve(size_, count);
  const MatrixView<double> vectors{vectors_.data(), size_, count, lane_padded(size_)};
  if (BlockKrylov::suits(size_, count) && krylov_.compute(a, tolerance, direct_, values_.data(), vectors))
    return;
  if (!direct_.compute(a, values_.data(), vectors))
    fail(Status::ERROR_DIVERGED, "the curvature's Gram matrix is not finite");
}

}  // namespace bdl
