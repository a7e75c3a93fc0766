// p(y | x) = integral of p(y | f) q(f) df for q(f) = N(m, S), the predictive distribution of a linearised
// model (docs/theory/predictions.md, "Closed forms").
#pragma once

#include "likelihood/likelihood.hpp"

namespace bdl {

/// Probit approximation E[sigma(f)] = sigma(kappa m), kappa = 1 / sqrt(1 + pi v / 8), for f ~ N(m, v) (MacKay
/// 1992).
struct ProbitScale {
  double kappa, complement;  // the complement is 1 - kappa, without cancellation
};
ProbitScale probit_scale(double v);

/// Writes logits_c = kappa(S_cc) m_c, at which the likelihood has the probabilities of the probit
/// approximation, also with several classes (Gibbs 1998; Daxberger et al. 2021).
void probit_logits(ConstSpan<double> mean, ConstMatrixView<double> covariance, double* logits);

/// Adds R, the covariance of y given f, to S (Gaussian likelihood).
void add_noise_covariance(const Likelihood& likelihood, MatrixView<double> s);

/// Size of the scratch memory of linearized_log_density().
inline Index linearized_density_scratch(Index outputs) {
  return outputs * (outputs + 2);
}

/// Returns log p(y | x) of one example, for its targets that are not missing (NaN). Gaussian: log N(y; m, S +
/// R). Bernoulli and categorical: the probit approximation. Poisson and all that integrate by nodes: the
/// exact integral. These and the next read only diag(S): outputs are taken as independent, as are targets of
/// a heteroscedastic Gaussian (heteroscedastic.hpp). The value is -infinity if it underflows, or if S is so
/// large that S + R is not positive definite after rounding.
template <class T>
double linearized_log_density(const Likelihood& likelihood, ConstSpan<double> mean,
                              ConstMatrixView<double> covariance, const T* y, Buffer<double>& scratch);

}  // namespace bdl
