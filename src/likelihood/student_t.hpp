// Student-t noise: y_c ~ f_c + t_nu / sqrt(tau_c), robust against outliers. As a scale mixture, y_c given
// lambda ~ Gamma(nu / 2, nu / 2) is N(f_c, 1 / (tau_c lambda)). Its functions are those of Likelihood.
#pragma once

#include <algorithm>
#include <cmath>

#include "likelihood/likelihood.hpp"
#include "likelihood/logistic_rule.hpp"
#include "likelihood/normal_mixture.hpp"

namespace bdl::student_t {

template <class T>
double log_density(const Likelihood& likelihood, const T* f, const T* y);
template <class T>
double misfit(const Likelihood& likelihood, const T* f, const T* y);
/// Infinite variance for nu <= 2.
template <class T>
void moments(const Likelihood& likelihood, const T* f, double* mean, double* variance);
/// (nu + 1) / (nu + tau r^2): how much an observation counts.
template <class T>
double weight(const Likelihood& likelihood, const T* f, const T* y, Index c);
template <class T>
void gradient(const Likelihood& likelihood, const T* f, const T* y, T* seed);
/// Of the Fisher information tau (nu + 1) / (nu + 3).
template <class T>
void information_root(const Likelihood& likelihood, const T* f, const T* y, Index k, T* seed,
                      double* coefficient);
/// The Hessian's diagonal, negative for outliers.
template <class T>
void hessian_terms(const Likelihood& likelihood, const T* f, const T* y, double* h);

/// d log p / d log nu of a residual with q = tau r^2.
double score(double degrees, double q);

/// For f_c ~ N(m_c, S_cc), targets taken as independent given x; missing ones have no part in it.
double expected_log_density(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s,
                            const double* y);
double log_predictive_density(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s,
                              const double* y);

/// Of t itself.
double density(double z, double degrees);

/// p(y_c | x) as a mixture of normal distributions: add(mean, variance, weight), the weights to be divided by
/// their sum; the trapezoidal rule in log lambda.
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
