#pragma once
#include "curvature/estimator.hpp"
namespace bdl {
template <class T> class HessianEstimator { public:
  explicit HessianEstimator(const Model<T>&) {}
  Index bytes(const BatchSize&) const { return 0; }
  void dense(ConstMatrixView<T>, ConstMatrixView<T>, ConstMatrixView<T>, double, MatrixView<double>) { fail(Status::ERROR_UNSUPPORTED, "x"); }
  void diagonal(ConstMatrixView<T>, ConstMatrixView<T>, ConstMatrixView<T>, double, std::span<T>) { fail(Status::ERROR_UNSUPPORTED, "x"); }
  void diagonal_by_probes(ConstMatrixView<T>, ConstMatrixView<T>, ConstMatrixView<T>, double, ConstMatrixView<T>, std::span<T>) { fail(Status::ERROR_UNSUPPORTED, "x"); }
};
}
