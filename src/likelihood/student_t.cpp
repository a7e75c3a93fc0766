#include "likelihood/student_t.hpp"

#include <limits>
#include <numbers>

namespace bdl::student_t {
namespace {

double log_gamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

/// Of the density of t itself.
double log_normaliser(double nu) {
  return log_gamma((nu + 1) / 2) - log_gamma(nu / 2) - std::log(nu * std::numbers::pi) / 2;
}

/// tau r^2; NaN: missing.
template <class T>
double square(const Likelihood& likelihood, const T* f, const T* y, Index c) {
  const double r = static_cast<double>(f[c]) - static_cast<double>(y[c]);
  return likelihood.noise_precision(c) * r * r;
}

/// -log of (1 + q / nu)^(-(nu + 1) / 2).
double loss(double nu, double q) {
  return (nu + 1) / 2 * std::log1p(q / nu);
}

/// The continued fraction of the incomplete beta function I_x(a, b), for x < (a + 1) / (a + b + 2), by Lentz.
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  const auto safe = [](double value) { return std::abs(value) < tiny ? tiny : value; };
  double c = 1, d = 1 / safe(1 - (a + b) * x / (a + 1)), h = d;
  for (int i = 1; i <= 10000; ++i) {
    const double m = i, even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                 odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / safe(1 + even * d);
    c = safe(1 + even / c);
    h *= d * c;
    d = 1 / safe(1 + odd * d);
    c = safe(1 + odd / c);
    h *= d * c;
    if (std::abs(d * c - 1) < 1e-16) break;
  }
  return h;
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

/// The normaliser's part by a central difference of a smooth function.
double score(double nu, double q) {
  constexpr double h = 1e-3;
  const double slope = (log_normaliser(nu * std::exp(h)) - log_normaliser(nu * std::exp(-h))) / (2 * h);
  return slope - nu / 2 * std::log1p(q / nu) + (nu + 1) / 2 * q / (nu + q);
}

/// log1p(tau (y - f)^2 / nu) has its singularities at a distance of sqrt(nu / tau) from the real line.
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
      const double r = mean + deviation * z - y[c], part = std::exp(-z * z / 2);
      sum += part * loss(nu, tau * r * r);
      total += part;
    });
    result += log_normaliser(nu) + std::log(tau) / 2 - sum / total;
  }
  return result;
}

double log_predictive_density(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s,
                              const double* y) {
  double result = 0;
  for (Index c = 0; c < likelihood.targets(); ++c) {
    if (std::isnan(y[c])) continue;
    result += log_normal_mixture(y[c], [&](auto&& add) { visit_components(likelihood, m, s, c, add); });
  }
  return result;
}

double density(double z, double nu) {
  return std::exp(log_normaliser(nu) - loss(nu, z * z));
}

/// I_x(nu / 2, 1 / 2) / 2 with x = nu / (nu + z^2) is P(T < -|z|).
double cdf(double z, double nu) {
  const double a = nu / 2, b = 0.5, x = nu / (nu + z * z), rest = z * z / (nu + z * z);
  if (rest == 0) return 0.5;
  const double log_front =
      log_gamma(a + b) - log_gamma(a) - log_gamma(b) - a * std::log1p(z * z / nu) + b * std::log(rest);
  const double front = std::exp(log_front);
  const bool small = x < (a + 1) / (a + b + 2);
  const double tail =
      small ? front * beta_fraction(a, b, x) / a / 2 : (1 - front * beta_fraction(b, a, rest) / b) / 2;
  return z < 0 ? tail : 1 - tail;
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
