#include "posterior/kronecker/factors.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace bdl {
namespace {

Index squared(Index size) {
  return size * size;
}

Index numbers_of(const MatrixShape& shape) {
  return shape.is_matrix() ? squared(shape.columns()) + squared(shape.outputs) : 0;
}

}  // namespace

void KroneckerFactors::reserve(const std::vector<MatrixShape>& shapes) {
  if (shapes == shapes_) return;
  Index size = 0;
  for (const MatrixShape& shape : shapes) size += numbers_of(shape);
  values_.reserve(size);  // before the shapes, which say that it is there
  shapes_ = shapes;
  size_ = size;
}

MatrixView<double> KroneckerFactors::omega(std::size_t k) {
  double* at = values_.data();
  for (std::size_t j = 0; j < k; ++j) at += numbers_of(shapes_[j]);
  return {at, shapes_[k].columns(), shapes_[k].columns()};
}

MatrixView<double> KroneckerFactors::gamma(std::size_t k) {
  return {omega(k).data + squared(shapes_[k].columns()), shapes_[k].outputs, shapes_[k].outputs};
}

void KroneckerFactors::swap(KroneckerFactors& other) noexcept {
  shapes_.swap(other.shapes_);
  std::swap(size_, other.size_);
  values_.swap(other.values_);
}

template <class T>
void add_factors(const BlockedRows<T>& rows, double input_weight, double output_weight, ConstSpan<T> w,
                 KroneckerFactors& out, Scratch& scratch, ConstSpan<T> of_examples) {
  for_each_matrix(rows, out.shapes(), [&](const BlockRows<T>& block, std::size_t k) {
    block.add_input_factor(input_weight, of_examples, out.omega(k), scratch);
    block.add_output_factor(output_weight / static_cast<double>(block.positions()), w, out.gamma(k), scratch);
  });
}

SplitDamping split_damping(ConstSpan<double> omega_values, ConstSpan<double> gamma_values, double damping) {
  const auto mean = [](ConstSpan<double> values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  };
  const double omega = mean(omega_values), gamma = mean(gamma_values), root = std::sqrt(damping),
               pi = omega > 0 && gamma > 0 ? std::sqrt(omega / gamma) : 1;
  return {pi * root, root / pi};
}

void FactorEigen::compute(ConstMatrixView<double> a, Scratch& scratch) {
  size_ = a.rows;
  const auto values = values_.first(size_);
  const auto vectors = vectors_.matrix(size_, size_);
  bool good = true;
  if (size_ == 1) {
    values[0] = a(0, 0);
    vectors(0, 0) = 1;
    good = std::isfinite(a(0, 0));
  } else {
    good = largest_eigenpairs(a, values.data(), vectors, scratch);
  }
  if (!good) fail(Status::ERROR_DIVERGED, "a Kronecker factor of the curvature is not finite");
  for (double& value : values) value = std::max(value, 0.0);
}

#define BDL_INSTANTIATE(T)                                                                          \
  template void add_factors(const BlockedRows<T>&, double, double, ConstSpan<T>, KroneckerFactors&, \
                            Scratch&, ConstSpan<T>);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
