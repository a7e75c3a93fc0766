#include "train/exact/scales/shape_marginal.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "likelihood/shape.hpp"
#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"
#include "train/exact/accelerated.hpp"

namespace bdl {

bool integrate_shape(const LearnedFit& fit) {
  FullPosterior<double>* const full = whole_covariance(fit.q);
  if (!full || !has_coupled_shape(fit.likelihood)) return false;
  const Index dimension = full->dimension(), size = std::ssize(fit.likelihood.shape());
  Buffer<double> of_shape, scaled, square, root;
  const auto covariance = of_shape.matrix(size, size), product = scaled.matrix(dimension, size),
             precision = square.matrix(dimension, dimension), factor = root.matrix(dimension, dimension);
  shape_covariance(fit.likelihood, fit.elbo.shape_sums(fit.q), fit.has_intercept, covariance);
  const MatrixView<double> couplings = fit.elbo.shape_couplings(fit.q);
  std::copy_n(full->precision().data, precision.size(), precision.data);
  gemm(Op::none, Op::none, 1.0, couplings, covariance, 0.0, product);
  gemm(Op::none, Op::transpose, -1.0, product, couplings, 1.0, precision);
  std::copy_n(precision.data, precision.size(), factor.data);
  if (!cholesky(factor))
    fail(
        Status::ERROR_DIVERGED,
        "the data do not tell the coefficients from the cut points: give the coefficients a prior precision, "
        "or leave out inputs that add up to a constant");
  full->set_precision(precision);
  return true;
}

}  // namespace bdl
