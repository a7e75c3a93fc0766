// Student-t noise: y_c ~ f_c + t_nu / sqrt(tau_c), which is robust against outliers. It is a scale mixture:
// y_c given lambda ~ Gamma(nu / 2, nu / 2) is N(f_c, 1 / (tau_c lambda)).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "likelihood/gaussian_integrals.hpp"
#include "likelihood/kinds/independent_outputs.hpp"

namespace bdl::student_t {

/// Returns log of the density's normaliser for tau = 1.
double log_normaliser(double degrees);
/// Returns -log of (1 + q / nu)^(-(nu + 1) / 2).
inline double loss(double nu, double q) {
  return (nu + 1) / 2 * std::log1p(q / nu);
}
/// Returns tau (f - y)^2, NaN if y is missing.
inline double square(const Likelihood& likelihood, Index c, double f, double y) {
  const double r = f - y;
  return likelihood.noise_precision(c) * r * r;
}
/// Returns (nu + 1) / (nu + tau r^2), the weight of an observation.
inline double weight(const Likelihood& likelihood, Index c, double f, double y) {
  const double nu = likelihood.degrees_of_freedom();
  return (nu + 1) / (nu + square(likelihood, c, f, y));
}

/// Returns d log p / d log nu for a residual with q = tau r^2.
double score(double degrees, double q);

/// Both are for f_c ~ N(m_c, S_cc), with targets taken as independent given x; missing ones do not count.
double expected_log_density(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s,
                            const double* y);
double log_predictive_density(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s,
                              const double* y);

/// Returns the log density of Student's t where it is sqrt(square).
double log_density_at(double square, double degrees);
/// Returns the log density of Student's t of so many variables, normal if the degrees are infinite, where the
/// sum of their squares is `square`.
double log_density_at(double square, double degrees, Index size);

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

namespace bdl {

struct StudentT : IndependentOutputs<StudentT> {
  using Base = IndependentOutputs<StudentT>;
  using Base::log_density, Base::misfit, Base::moments;
  static double log_density(const Likelihood& l, Index c, double f, double y) {
    const double nu = l.degrees_of_freedom();
    return student_t::log_normaliser(nu) + std::log(l.noise_precision(c)) / 2 -
           student_t::loss(nu, student_t::square(l, c, f, y));
  }
  static double misfit(const Likelihood& l, Index c, double f, double y) {
    return student_t::loss(l.degrees_of_freedom(), student_t::square(l, c, f, y));
  }
  /// The variance is infinite for nu <= 2.
  static TargetMoments moments(const Likelihood& l, Index c, double f) {
    const double nu = l.degrees_of_freedom();
    return {f, nu > 2 ? nu / ((nu - 2) * l.noise_precision(c)) : std::numeric_limits<double>::infinity()};
  }
  static double slope(const Likelihood& l, Index c, double f, double y) {
    return student_t::weight(l, c, f, y) * l.noise_precision(c) * (f - y);
  }
  /// Negative for outliers.
  template <class Target>
  static double curvature(const Likelihood& l, Index c, double f, const Target& y) {
    const double nu = l.degrees_of_freedom(), q = student_t::square(l, c, f, y());
    return std::isnan(q) ? 0 : l.noise_precision(c) * student_t::weight(l, c, f, y()) * (nu - q) / (nu + q);
  }
  /// The Fisher information is tau (nu + 1) / (nu + 3).
  static double root(const Likelihood& l, Index c, double) {
    const double nu = l.degrees_of_freedom();
    return std::sqrt(l.noise_precision(c) * (nu + 1) / (nu + 3));
  }
  static double information(const Likelihood& l, const double*, Index c) {
    const double nu = l.degrees_of_freedom();
    return l.noise_precision(c) * (nu + 1) / (nu + 3);
  }
  template <class T>
  static double squared_error(const Likelihood& l, const T* f, const T* y, Index target) {
    const double output = static_cast<double>(f[target]), residual = static_cast<double>(y[target]) - output;
    return student_t::weight(l, target, output, static_cast<double>(y[target])) * residual * residual;
  }
};

}  // namespace bdl
