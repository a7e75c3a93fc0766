// The expected Hessian H of the negative log likelihood, in the form its estimator gives.
#pragma once

#include "curvature/rows.hpp"

namespace bdl {

/// One of three: a factor, H = sum_r w_r b_r b_r^T with w_r >= 0; the matrix (lower triangle), which may be
/// indefinite; or its diagonal only.
template <class T>
struct Curvature {
  Rows<T>* rows = nullptr;
  ConstSpan<T> w;
  ConstMatrixView<double> matrix;
  ConstSpan<T> diagonal;
};

}  // namespace bdl
