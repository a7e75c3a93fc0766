// p(y | x) = integral of p(y | f) q(f) df for q(f) = N(m, S): what is left of a predictive distribution once
// the model is linearised (docs/mathematics/predictions.md, "Closed forms").
#pragma once

#include "likelihood/likelihood.hpp"

namespace bdl {

/// The probit approximation E[sigma(f)] = sigma(kappa m), kappa = 1 / sqrt(1 + pi v / 8), of one output f ~
/// N(m, v) (MacKay 1992).
struct ProbitScale {
  double kappa, complement;  // complement: 1 - kappa, without cancellation
};
ProbitScale probit_scale(double v);

/// logits_c = kappa(S_cc) m_c: the outputs at which the likelihood's probabilities are those of the probit
/// approximation, also with several classes (Gibbs 1998; Daxberger et al. 2021).
void probit_logits(ConstSpan<double> mean, ConstMatrixView<double> covariance, double* logits);

/// S += R, the covariance of y given f (Gaussian likelihood).
void add_noise_covariance(const Likelihood& likelihood, MatrixView<double> s);

/// Of linearized_log_density().
inline Index linearized_density_scratch(Index outputs) {
  return outputs * (outputs + 2);
}

/// log p(y | x) of one example, of its targets that are not missing (NaN). Gaussian: log N(y; m, S + R).
/// Bernoulli, categorical: the probit approximation. Poisson: the exact integral. The last
/// three read diag(S) only: several outputs are taken as independent, as are several targets of a
/// heteroscedastic Gaussian, see heteroscedastic.hpp. -infinity where it is below the doubles, or S so large
/// that rounding leaves S + R no covariance. Allocates nothing once scratch has so many numbers.
template <class T>
double linearized_log_density(const Likelihood& likelihood, ConstSpan<double> mean,
                              ConstMatrixView<double> covariance, const T* y, Buffer<double>& scratch);

}  // namespace bdl
