// The heteroscedastic Gaussian likelihood: y_c ~ N(f_c, 1 / (tau_c e^h_c)) with outputs (f_1 .. f_T, h_1 ..
// h_T), two per target. Training first holds the log precisions, and frees them once the means fit: while
// held, h counts as 0 and has gradient 0, but its usual curvature (docs/theory/likelihoods.md,
// "Heteroscedastic Gaussian"). Networks start with h = 0. Functions without a comment are as in class
// Likelihood.
//
// The log of the noise variance, -h - log tau, stays below the likelihood's limit + 1 (limited_rates.hpp),
// and h is changed accordingly.
#pragma once

#include <algorithm>
#include <cmath>

#include "likelihood/gaussian_integrals.hpp"
#include "likelihood/likelihood.hpp"
#include "likelihood/limited_rates.hpp"

namespace bdl::heteroscedastic {

template <class T>
double log_density(const Likelihood& likelihood, const T* f, const T* y);
/// The best outputs are the best means for h = 0, as the density has no maximum over h. Never negative.
template <class T>
double misfit(const Likelihood& likelihood, const T* f, const T* y);
template <class T>
void moments(const Likelihood& likelihood, const T* f, double* mean, double* variance);
template <class T>
void gradient(const Likelihood& likelihood, const T* f, const T* y, T* seed);

/// Writes a column of a root of the Fisher information diag(tau e^h, 1/2); for h it is at least the Hessian
/// z^2 / 2 of a residual of z standard deviations. Natural steps of h are then at most 1; otherwise an
/// outlier would make h diverge.
template <class T>
void hessian_root(const Likelihood& likelihood, const T* f, const T* y, Index k, T* seed,
                  double* coefficient);

/// Writes the terms of the Hessian itself: tau e^h, and the residuals f - y (NaN if missing).
template <class T>
void hessian_terms(const Likelihood& likelihood, const T* f, const T* y, double* h);
double hessian_entry(const Likelihood& likelihood, const double* h, Index c, Index k);

/// Returns the limited h of target c; log_precision_bend() has its first two derivatives with respect to h.
inline double limited_log_precision(const Likelihood& likelihood, double h, Index c) {
  const double log_tau = std::log(likelihood.noise_precision(c)), w = -h - log_tau;
  return w > likelihood.limit() ? -limited(w, likelihood.limit()) - log_tau : h;
}
inline Bend log_precision_bend(const Likelihood& likelihood, double h, Index c) {
  const Bend bend = bend_at(-h - std::log(likelihood.noise_precision(c)), likelihood.limit());
  return {bend.slope, -bend.second};
}

/// Returns tau e^h of target c.
template <class T>
double noise_precision(const Likelihood& likelihood, const T* f, Index c) {
  const double tau = likelihood.noise_precision(c);
  if (!likelihood.log_precision_is_free()) return tau;
  const auto h = static_cast<double>(f[likelihood.targets() + c]);
  return tau * std::exp(limited_log_precision(likelihood, h, c));
}

/// Returns E[log p(y | f)] for outputs ~ N(m, S), of the targets that are not missing.
double expected_log_density(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s,
                            const double* y);
/// Returns E[1 / (tau e^h)] of target c.
double expected_noise_variance(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s,
                               Index c);
/// Returns log p(y | x) of the targets that are not missing, which are taken as independent given x.
double log_predictive_density(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s,
                              const double* y);

/// Calls add(h, E[f | h], Var[f | h], weight) at nodes of the trapezoidal rule over the h of target c, which
/// is limited and has positive variance. From the deviation `widest` on, nodes do not come closer.
template <class Add>
void visit_nodes(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s, Index c,
                 double widest, Add&& add) {
  const Index t = likelihood.targets() + c;
  const double h = m[static_cast<std::size_t>(t)], deviation = std::sqrt(s(t, t)),
               slope = s(c, t) / deviation, rest = std::max(0.0, s(c, c) - slope * slope);
  const double reach = std::min(9 + deviation, 39.0),  // exp(-39^2 / 2) underflows
      step = 0.25 / std::clamp(deviation, 1.0, widest);
  place_nodes(-reach, reach, step, [&](double z) {
    add(limited_log_precision(likelihood, h + deviation * z, c), m[static_cast<std::size_t>(c)] + slope * z,
        rest, std::exp(-z * z / 2));
  });
}

/// Visits p(y_c | x) as a mixture of normal distributions: calls add(mean, variance, weight) with weights
/// that are not normalised. f given h is Gaussian, and the trapezoidal rule integrates over h to near
/// rounding.
template <class Add>
void visit_components(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s, Index c,
                      Add&& add) {
  const Index t = likelihood.targets() + c;
  const double tau = likelihood.noise_precision(c), mean = m[static_cast<std::size_t>(c)];
  if (!likelihood.log_precision_is_free()) return add(mean, s(c, c) + 1 / tau, 1.0);
  const double h = m[static_cast<std::size_t>(t)], v = s(t, t), deviation = std::sqrt(std::max(v, 0.0));
  const auto variance_at = [&](double x) { return std::exp(std::min(-x, largest_log_variance)) / tau; };
  if (!(deviation > 0) || !std::isfinite(deviation))
    return add(mean, s(c, c) + variance_at(limited_log_precision(likelihood, h, c)), 1.0);
  visit_nodes(likelihood, m, s, c, 30, [&](double x, double center, double rest, double weight) {
    add(center, rest + variance_at(x), weight);
  });
}

}  // namespace bdl::heteroscedastic

namespace bdl {

struct Heteroscedastic {
  template <class T>
  static double log_density(const Likelihood& l, const T* f, const T* y) {
    return heteroscedastic::log_density(l, f, y);
  }
  template <class T>
  static double misfit(const Likelihood& l, const T* f, const T* y) {
    return heteroscedastic::misfit(l, f, y);
  }
  template <class T>
  static void moments(const Likelihood& l, const T* f, double* mean, double* variance) {
    heteroscedastic::moments(l, f, mean, variance);
  }
  template <class T>
  static void gradient(const Likelihood& l, const T* f, const T* y, T* seed) {
    heteroscedastic::gradient(l, f, y, seed);
  }
  template <class T>
  static void hessian_root(const Likelihood& l, const T* f, const T* y, Index k, T* seed,
                           double* coefficient) {
    heteroscedastic::hessian_root(l, f, y, k, seed, coefficient);
  }
  template <class T>
  static void hessian_terms(const Likelihood& l, const T* f, const T* y, double* h) {
    heteroscedastic::hessian_terms(l, f, y, h);
  }
  static double hessian_entry(const Likelihood& l, const double* h, Index c, Index k) {
    return heteroscedastic::hessian_entry(l, h, c, k);
  }
  template <class T>
  static void hessian_product(const Likelihood& l, const double* h, const T* v, T* out) {
    for (Index c = 0; c < l.outputs(); ++c) {
      double sum = 0;
      for (Index k = 0; k < l.outputs(); ++k) sum += hessian_entry(l, h, c, k) * static_cast<double>(v[k]);
      out[c] = static_cast<T>(sum);
    }
  }
  static double information(const Likelihood& l, const double* f, Index c) {
    return 1 / (1 / heteroscedastic::noise_precision(l, f, c));
  }
  template <class T>
  static double squared_error(const Likelihood& l, const T* f, const T* y, Index target) {
    const double residual = static_cast<double>(y[target]) - static_cast<double>(f[target]);
    return residual * residual * heteroscedastic::noise_precision(l, f, target) / l.noise_precision(target);
  }
  static double curvature_bound(const Likelihood&) { return HUGE_VAL; }
};

}  // namespace bdl
