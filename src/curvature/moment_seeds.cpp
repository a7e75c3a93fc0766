#include "curvature/moment_seeds.hpp"

#include <cmath>

#include "base/error.hpp"
#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"

namespace bdl {

MomentSeeds::MomentSeeds(const Likelihood& likelihood, double jitter)
    : likelihood_(likelihood), jitter_(jitter), size_(likelihood.outputs()) {
  covariance_.reserve(size_ * size_);
  root_.reserve(size_ * size_);
  for (Buffer<double>* buffer : {&coefficients_, &mean_, &variance_}) buffer->reserve(size_);
}

template <class T>
void MomentSeeds::compute(const T* f, const T* y) {
  const auto covariance = covariance_.matrix(size_, size_), root = root_.matrix(size_, size_);
  const double* p = mean_.data();
  const bool categorical = likelihood_.kind() == BDL_CATEGORICAL;
  likelihood_.moments(f, mean_.data(), variance_.data());
  for (Index j = 0; j < size_; ++j)
    for (Index i = 0; i < size_; ++i)
      covariance(i, j) = root(i, j) = i == j ? p[i] * (1 - p[i]) : categorical ? -p[i] * p[j] : 0;
  for (Index i = 0; i < size_; ++i) {
    covariance(i, i) += jitter_;
    const bool hit = categorical ? i == static_cast<Index>(y[0]) : y[i] > 0;
    coefficients_.data()[i] = p[i] - (hit ? 1 : 0);
    if (categorical || !std::isnan(y[i])) continue;
    coefficients_.data()[i] = root(i, i) = 0;  // missing
  }
  if (!cholesky(covariance)) fail(Status::ERROR_DIVERGED, "the covariance of the class labels is not finite");
  solve_lower_right(Op::transpose, covariance, root);
  solve_lower_left(Op::none, covariance, coefficients_.matrix(size_, 1));
}

double MomentSeeds::gradient(Index i) const {
  double sum = 0;
  for (Index k = 0; k < size_; ++k) sum += root(i, k) * coefficient(k);
  return sum;
}

template void MomentSeeds::compute(const float*, const float*);
template void MomentSeeds::compute(const double*, const double*);

}  // namespace bdl
