#include "likelihood/kinds/heteroscedastic.hpp"

#include <numbers>

namespace bdl::heteroscedastic {
namespace {

// h + log tau that training finds, where targets are standardised: a noise of 1e-4 of their deviation.
constexpr double most_log_precision = 18;

/// Returns half the log of tau e^h / (2 pi).
double half_log_scale(const Likelihood& likelihood, double h, Index c) {
  const double log_tau = std::log(likelihood.noise_precision(c) / (2 * std::numbers::pi));
  return (log_tau + (likelihood.log_precision_is_free() ? limited_log_precision(likelihood, h, c) : 0)) / 2;
}

/// Returns sqrt(tau e^h), whose products with residuals overflow late when they are squared.
template <class T>
double root_precision(const Likelihood& likelihood, const T* f, Index c) {
  const double root = std::sqrt(likelihood.noise_precision(c));
  if (!likelihood.log_precision_is_free()) return root;
  const auto h = static_cast<double>(f[likelihood.targets() + c]);
  return root * std::exp(limited_log_precision(likelihood, h, c) / 2);
}

/// Returns the derivative of -log p(y | f) with respect to h, where the residual has z standard deviations.
/// Targets without noise would raise h for ever: beyond the most it is pulled back. The limit is infinite
/// where targets are not standardised.
double slope_of_log_precision(const Likelihood& likelihood, double z, double h, Index c) {
  const double slope = (z * z - 1) / 2 * log_precision_bend(likelihood, h, c).slope;
  if (!std::isfinite(likelihood.limit())) return slope;
  const double beyond = h + std::log(likelihood.noise_precision(c)) - most_log_precision;
  return beyond > 0 ? std::max(slope, beyond / 2) : slope;
}

/// Returns the residual f - y in standard deviations of the noise, NaN if y is missing.
template <class T>
double whitened(const Likelihood& likelihood, const T* f, const T* y, Index c) {
  return root_precision(likelihood, f, c) * (static_cast<double>(f[c]) - static_cast<double>(y[c]));
}

}  // namespace

template <class T>
double log_density(const Likelihood& likelihood, const T* f, const T* y) {
  double sum = 0;
  for (Index c = 0; c < likelihood.targets(); ++c) {
    const double z = whitened(likelihood, f, y, c);
    if (std::isnan(y[c])) continue;
    sum += half_log_scale(likelihood, static_cast<double>(f[likelihood.targets() + c]), c) - z * z / 2;
  }
  return sum;
}

template <class T>
double misfit(const Likelihood& likelihood, const T* f, const T* y) {
  double best = 0;
  for (Index c = 0; c < likelihood.targets(); ++c)
    if (!std::isnan(y[c])) best += std::log(likelihood.noise_precision(c) / (2 * std::numbers::pi)) / 2;
  return std::max(0.0, best - log_density(likelihood, f, y));
}

template <class T>
void moments(const Likelihood& likelihood, const T* f, double* mean, double* variance) {
  for (Index c = 0; c < likelihood.targets(); ++c) {
    mean[c] = static_cast<double>(f[c]);
    variance[c] = 1 / noise_precision(likelihood, f, c);
  }
}

template <class T>
void gradient(const Likelihood& likelihood, const T* f, const T* y, T* seed) {
  const Index targets = likelihood.targets();
  for (Index c = 0; c < targets; ++c) {
    const double z = whitened(likelihood, f, y, c);
    const bool missing = std::isnan(y[c]), free = likelihood.log_precision_is_free();
    seed[c] = missing ? T(0) : static_cast<T>(root_precision(likelihood, f, c) * z);
    const auto h = static_cast<double>(f[targets + c]);
    seed[targets + c] = missing || !free ? T(0) : static_cast<T>(slope_of_log_precision(likelihood, z, h, c));
  }
}

template <class T>
void hessian_root(const Likelihood& likelihood, const T* f, const T* y, Index k, T* seed,
                  double* coefficient) {
  const Index targets = likelihood.targets(), c = k % targets;
  const double z = whitened(likelihood, f, y, c);
  std::fill_n(seed, likelihood.outputs(), T(0));
  *coefficient = 0;
  if (std::isnan(y[c])) return;
  if (k < targets) {
    constexpr double least = 1e-15;  // keeps the root above 0, so that a row can hold the gradient
    const double root = root_precision(likelihood, f, c);
    seed[k] = static_cast<T>(std::max(root, least));
    *coefficient = root >= least ? z : root * z / least;
    return;
  }
  const bool free = likelihood.log_precision_is_free();
  const double bend = free ? log_precision_bend(likelihood, static_cast<double>(f[k]), c).slope : 1,
               root = std::max(std::sqrt((free ? std::max(1.0, z * z) : 1) / 2) * bend, 1e-15);
  seed[k] = static_cast<T>(root);
  if (free) *coefficient = slope_of_log_precision(likelihood, z, static_cast<double>(f[k]), c) / root;
}

template <class T>
void hessian_terms(const Likelihood& likelihood, const T* f, const T* y, double* h) {
  const Index targets = likelihood.targets();
  for (Index c = 0; c < targets; ++c) {
    h[c] = noise_precision(likelihood, f, c);
    h[targets + c] = static_cast<double>(f[c]) - static_cast<double>(y[c]);
  }
}

double hessian_entry(const Likelihood& likelihood, const double* h, Index c, Index k) {
  const Index targets = likelihood.targets(), target = c % targets;
  const double precision = h[target], residual = h[targets + target];
  if (target != k % targets || std::isnan(residual)) return 0;
  if (c == k && c < targets) return precision;
  if (!likelihood.log_precision_is_free()) return c == k ? 0.5 : 0;
  const Bend bend = bend_of_limited(-std::log(precision), likelihood.limit());
  if (c != k) return precision * residual * bend.slope;
  const double square = precision * residual * residual;
  if (bend.second == 0) return square / 2;
  return square / 2 * bend.slope * bend.slope - (square - 1) / 2 * bend.second;
}

namespace {

/// True if log noise variances up to `reach` standard deviations above this mean exceed the limit.
bool meets_limit(const Likelihood& likelihood, double mean, double variance, Index c) {
  constexpr double reach = 9;
  return likelihood.log_precision_is_free() &&
         mean + reach * std::sqrt(std::max(variance, 0.0)) - std::log(likelihood.noise_precision(c)) >
             likelihood.limit();
}

/// Returns E[value(h, E[f | h], Var[f | h])] of target c.
template <class Value>
double expectation(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s, Index c,
                   Value value) {
  double sum = 0, total = 0;
  visit_nodes(likelihood, m, s, c, 300, [&](double h, double mean, double variance, double weight) {
    sum += weight * value(h, mean, variance);
    total += weight;
  });
  return sum / total;
}

}  // namespace

/// Out of reach of the limit, E[e^h (f - y)^2] = e^{m_h + S_hh / 2} ((m_f + S_fh - y)^2 + S_ff).
double expected_log_density(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s,
                            const double* y) {
  const bool free = likelihood.log_precision_is_free();
  double sum = 0;
  for (Index c = 0; c < likelihood.targets(); ++c) {
    if (std::isnan(y[c])) continue;
    const Index t = likelihood.targets() + c;
    const double h = free ? m[static_cast<std::size_t>(t)] : 0, v = free ? s(t, t) : 0;
    if (v > 0 && meets_limit(likelihood, -h, v, c)) {
      const double tau = likelihood.noise_precision(c);
      sum += expectation(likelihood, m, s, c, [&](double x, double mean, double variance) {
        const double square = (mean - y[c]) * (mean - y[c]) + variance;
        return (std::log(tau / (2 * std::numbers::pi)) + x - tau * std::exp(x) * square) / 2;
      });
      continue;
    }
    const double residual = m[static_cast<std::size_t>(c)] + (free ? s(c, t) : 0) - y[c];
    sum += half_log_scale(likelihood, h, c) -
           likelihood.noise_precision(c) *
               std::exp(v > 0 || !free ? h + v / 2 : limited_log_precision(likelihood, h, c)) *
               (residual * residual + s(c, c)) / 2;
  }
  return sum;
}

double expected_noise_variance(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s,
                               Index c) {
  const Index t = likelihood.targets() + c;
  const double tau = likelihood.noise_precision(c), h = m[static_cast<std::size_t>(t)], v = s(t, t);
  if (!likelihood.log_precision_is_free()) return 1 / tau;
  if (!meets_limit(likelihood, v - h, v, c)) return std::exp(v / 2 - h) / tau;
  if (!(v > 0)) return std::exp(-limited_log_precision(likelihood, h, c)) / tau;
  return expectation(likelihood, m, s, c, [](double x, double, double) { return std::exp(-x); }) / tau;
}

double log_predictive_density(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s,
                              const double* y) {
  return log_normal_mixtures(likelihood.targets(), y,
                             [&](Index c, auto&& add) { visit_components(likelihood, m, s, c, add); });
}

#define BDL_INSTANTIATE(T)                                                               \
  template double log_density(const Likelihood&, const T*, const T*);                    \
  template double misfit(const Likelihood&, const T*, const T*);                         \
  template void moments(const Likelihood&, const T*, double*, double*);                  \
  template void gradient(const Likelihood&, const T*, const T*, T*);                     \
  template void hessian_root(const Likelihood&, const T*, const T*, Index, T*, double*); \
  template void hessian_terms(const Likelihood&, const T*, const T*, double*);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl::heteroscedastic
