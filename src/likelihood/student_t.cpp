#include "likelihood/student_t.hpp"

#include <limits>
#include <numbers>

#include "likelihood/special_functions.hpp"

namespace bdl::student_t {
namespace {

double log_gamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

/// Returns the log normaliser of the density of Student's t.
double log_normaliser(double nu) {
  return log_gamma((nu + 1) / 2) - log_gamma(nu / 2) - std::log(nu * std::numbers::pi) / 2;
}

/// Returns tau r^2, NaN if y is missing.
template <class T>
double square(const Likelihood& likelihood, const T* f, const T* y, Index c) {
  const double r = static_cast<double>(f[c]) - static_cast<double>(y[c]);
  return likelihood.noise_precision(c) * r * r;
}

/// Returns -log of (1 + q / nu)^(-(nu + 1) / 2).
double loss(double nu, double q) {
  return (nu + 1) / 2 * std::log1p(q / nu);
}

}  // namespace

template <class T>
double log_density(const Likelihood& likelihood, const T* f, const T* y) {
  const double nu = likelihood.degrees_of_freedom(), normaliser = log_normaliser(nu);
  double sum = 0;
  for (Index c = 0; c < likelihood.targets(); ++c) {
    if (std::isnan(y[c])) continue;
    sum += normaliser + std::log(likelihood.noise_precision(c)) / 2 - loss(nu, square(likelihood, f, y, c));
  }
  return sum;
}

template <class T>
double misfit(const Likelihood& likelihood, const T* f, const T* y) {
  double sum = 0;
  for (Index c = 0; c < likelihood.targets(); ++c)
    if (!std::isnan(y[c])) sum += loss(likelihood.degrees_of_freedom(), square(likelihood, f, y, c));
  return sum;
}

template <class T>
void moments(const Likelihood& likelihood, const T* f, double* mean, double* variance) {
  const double nu = likelihood.degrees_of_freedom();
  for (Index c = 0; c < likelihood.targets(); ++c) {
    mean[c] = static_cast<double>(f[c]);
    variance[c] =
        nu > 2 ? nu / ((nu - 2) * likelihood.noise_precision(c)) : std::numeric_limits<double>::infinity();
  }
}

template <class T>
double weight(const Likelihood& likelihood, const T* f, const T* y, Index c) {
  const double nu = likelihood.degrees_of_freedom();
  return (nu + 1) / (nu + square(likelihood, f, y, c));
}

template <class T>
void gradient(const Likelihood& likelihood, const T* f, const T* y, T* seed) {
  for (Index c = 0; c < likelihood.targets(); ++c) {
    const double r = static_cast<double>(f[c]) - static_cast<double>(y[c]);
    seed[c] = std::isnan(r) ? T(0)
                            : static_cast<T>(weight(likelihood, f, y, c) * likelihood.noise_precision(c) * r);
  }
}

template <class T>
void information_root(const Likelihood& likelihood, const T* f, const T* y, Index k, T* seed,
                      double* coefficient) {
  const double nu = likelihood.degrees_of_freedom(),
               root = std::sqrt(likelihood.noise_precision(k) * (nu + 1) / (nu + 3));
  std::fill_n(seed, likelihood.outputs(), T(0));
  *coefficient = 0;
  if (std::isnan(y[k])) return;
  seed[k] = static_cast<T>(root);
  *coefficient = weight(likelihood, f, y, k) * likelihood.noise_precision(k) *
                 (static_cast<double>(f[k]) - static_cast<double>(y[k])) / root;
}

template <class T>
void hessian_terms(const Likelihood& likelihood, const T* f, const T* y, double* h) {
  const double nu = likelihood.degrees_of_freedom();
  for (Index c = 0; c < likelihood.targets(); ++c) {
    const double q = square(likelihood, f, y, c), tau = likelihood.noise_precision(c);
    h[c] = std::isnan(q) ? 0 : tau * weight(likelihood, f, y, c) * (nu - q) / (nu + q);
  }
}

double score(double nu, double q) {
  const double slope = (nu * (digamma((nu + 1) / 2) - digamma(nu / 2)) - 1) / 2;
  return slope - nu / 2 * std::log1p(q / nu) + (nu + 1) / 2 * q / (nu + q);
}

/// The step follows from the singularities of log1p(tau (y - f)^2 / nu), sqrt(nu / tau) from the real line.
double expected_log_density(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s,
                            const double* y) {
  double result = 0;
  for (Index c = 0; c < likelihood.targets(); ++c) {
    if (std::isnan(y[c])) continue;
    const double deviation = std::sqrt(std::max(0.0, s(c, c))), mean = m[static_cast<std::size_t>(c)];
    const double nu = likelihood.degrees_of_freedom(), tau = likelihood.noise_precision(c);
    const double step = std::clamp(0.15 * std::sqrt(nu / tau) / std::max(deviation, 1e-300), 1e-3, 0.4);
    double sum = 0, total = 0;
    place_nodes(-9, 9, step, [&](double z) {
      const double r = mean + deviation * z - y[c], mass = std::exp(-z * z / 2);
      sum += mass * loss(nu, tau * r * r);
      total += mass;
    });
    result += log_normaliser(nu) + std::log(tau) / 2 - sum / total;
  }
  return result;
}

double log_predictive_density(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s,
                              const double* y) {
  return log_normal_mixtures(likelihood.targets(), y,
                             [&](Index c, auto&& add) { visit_components(likelihood, m, s, c, add); });
}

double log_density_at(double square, double degrees) {
  return log_normaliser(degrees) - loss(degrees, square);
}

double density(double z, double nu) {
  return std::exp(log_normaliser(nu) - loss(nu, z * z));
}

#define BDL_INSTANTIATE(T)                                                                   \
  template double log_density(const Likelihood&, const T*, const T*);                        \
  template double misfit(const Likelihood&, const T*, const T*);                             \
  template void moments(const Likelihood&, const T*, double*, double*);                      \
  template double weight(const Likelihood&, const T*, const T*, Index);                      \
  template void gradient(const Likelihood&, const T*, const T*, T*);                         \
  template void information_root(const Likelihood&, const T*, const T*, Index, T*, double*); \
  template void hessian_terms(const Likelihood&, const T*, const T*, double*);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl::student_t
