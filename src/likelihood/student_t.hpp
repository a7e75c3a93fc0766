// Student-t noise: y_c ~ f_c + t_nu / sqrt(tau_c), which is robust against outliers. It is a scale mixture:
// y_c given lambda ~ Gamma(nu / 2, nu / 2) is N(f_c, 1 / (tau_c lambda)). Functions without a comment are as
// in class Likelihood.
#pragma once

#include <algorithm>
#include <cmath>

#include "likelihood/gaussian_integrals.hpp"
#include "likelihood/likelihood.hpp"

namespace bdl::student_t {

template <class T>
double log_density(const Likelihood& likelihood, const T* f, const T* y);
template <class T>
double misfit(const Likelihood& likelihood, const T* f, const T* y);
/// The variance is infinite for nu <= 2.
template <class T>
void moments(const Likelihood& likelihood, const T* f, double* mean, double* variance);
/// Returns (nu + 1) / (nu + tau r^2), the weight of an observation.
template <class T>
double weight(const Likelihood& likelihood, const T* f, const T* y, Index c);
template <class T>
void gradient(const Likelihood& likelihood, const T* f, const T* y, T* seed);
/// Writes the root of the Fisher information tau (nu + 1) / (nu + 3).
template <class T>
void information_root(const Likelihood& likelihood, const T* f, const T* y, Index k, T* seed,
                      double* coefficient);
/// Writes the Hessian's diagonal, which is negative for outliers.
template <class T>
void hessian_terms(const Likelihood& likelihood, const T* f, const T* y, double* h);

/// Returns d log p / d log nu for a residual with q = tau r^2.
double score(double degrees, double q);

/// Both are for f_c ~ N(m_c, S_cc), with targets taken as independent given x; missing ones do not count.
double expected_log_density(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s,
                            const double* y);
double log_predictive_density(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s,
                              const double* y);

/// Returns the log density of Student's t where it is sqrt(square).
double log_density_at(double square, double degrees);

/// Returns the density of Student's t.
double density(double z, double degrees);

/// Visits p(y_c | x) as a mixture of normal distributions, by the trapezoidal rule in log lambda: calls
/// add(mean, variance, weight) with weights that are not normalised.
template <class Add>
void visit_components(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s, Index c,
                      Add&& add) {
  const double nu = likelihood.degrees_of_freedom(), tau = likelihood.noise_precision(c);
  const double width = std::sqrt(2 / nu), step = std::min(0.2, width / 3);
  const double low = -80 / nu - 9 * width, high = std::log(1 + 80 / nu) + 9 * std::min(width, 0.3);
  place_nodes(low, high, step, [&](double u) {
    const double weight = std::exp(nu / 2 * (u - std::expm1(u)));
    const double variance = s(c, c) + std::exp(std::min(-u, largest_log_variance)) / tau;
    add(m[static_cast<std::size_t>(c)], variance, weight);
  });
}

}  // namespace bdl::student_t
