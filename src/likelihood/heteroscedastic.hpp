// The heteroscedastic Gaussian: y_c ~ N(f_c, 1 / (tau_c e^h_c)) with outputs (f_1 .. f_T, h_1 .. h_T), two
// per target. While the log precisions are held, h counts as 0 and has gradient 0, but its curvature:
// training frees them once the means fit (docs/mathematics/likelihoods.md, "Heteroscedastic Gaussian"), and
// networks start with h = 0. Its functions are those of Likelihood.
//
// The log of the noise variance, -h - log tau, stays below the likelihood's limit + 1 (limited.hpp): h is
// replaced by what is left of it.
#pragma once

#include <algorithm>
#include <cmath>

#include "likelihood/likelihood.hpp"
#include "likelihood/limited.hpp"
#include "likelihood/logistic_rule.hpp"
#include "likelihood/normal_mixture.hpp"

namespace bdl::heteroscedastic {

template <class T>
double log_density(const Likelihood& likelihood, const T* f, const T* y);
/// The best outputs are the best means for h = 0: for all h there are none. Never negative.
template <class T>
double misfit(const Likelihood& likelihood, const T* f, const T* y);
template <class T>
void moments(const Likelihood& likelihood, const T* f, double* mean, double* variance);
template <class T>
void gradient(const Likelihood& likelihood, const T* f, const T* y, T* seed);

/// Of the Fisher information diag(tau e^h, 1/2), but for h at least the Hessian z^2 / 2 of residuals of z
/// standard deviations: a natural step of h is then at most 1, where the information alone lets an outlier
/// run away with it.
template <class T>
void information_root(const Likelihood& likelihood, const T* f, const T* y, Index k, T* seed,
                      double* coefficient);

/// Of the Hessian itself: tau e^h, and the residuals f - y (NaN: missing).
template <class T>
void hessian_terms(const Likelihood& likelihood, const T* f, const T* y, double* h);
double hessian_entry(const Likelihood& likelihood, const double* h, Index c, Index k);

/// h of target c, limited, and the first two derivatives of that by h.
inline double limited_log_precision(const Likelihood& likelihood, double h, Index c) {
  const double log_tau = std::log(likelihood.noise_precision(c)), w = -h - log_tau;
  return w > likelihood.limit() ? -limited(w, likelihood.limit()) - log_tau : h;
}
inline Bend log_precision_bend(const Likelihood& likelihood, double h, Index c) {
  const Bend bend = bend_at(-h - std::log(likelihood.noise_precision(c)), likelihood.limit());
  return {bend.slope, -bend.second};
}

/// tau e^h of target c.
template <class T>
double noise_precision(const Likelihood& likelihood, const T* f, Index c) {
  const double tau = likelihood.noise_precision(c);
  if (!likelihood.log_precision_is_free()) return tau;
  const auto h = static_cast<double>(f[likelihood.targets() + c]);
  return tau * std::exp(limited_log_precision(likelihood, h, c));
}

/// For outputs ~ N(m, S): E[log p(y | f)] of the targets that are not missing.
double expected_log_density(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s,
                            const double* y);
/// E[1 / (tau e^h)] of target c.
double expected_noise_variance(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s,
                               Index c);
/// log p(y | x) of the targets that are not missing, taken as independent given x.
double log_predictive_density(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s,
                              const double* y);

/// add(h, E[f | h], Var[f | h], weight) at nodes of the trapezoidal rule over h of target c, h limited and of
/// positive variance; `widest` is the deviation of h from which on the nodes are no closer.
template <class Add>
void visit_nodes(const Likelihood& likelihood, ConstSpan<double> m, ConstMatrixView<double> s, Index c,
                 double widest, Add&& add) {
  const Index t = likelihood.targets() + c;
  const double h = m[static_cast<std::size_t>(t)], deviation = std::sqrt(s(t, t)),
               slope = s(c, t) / deviation, rest = std::max(0.0, s(c, c) - slope * slope);
  const double reach = std::min(9 + deviation, 39.0),  // exp(-39^2 / 2) is no double
      step = 0.25 / std::clamp(deviation, 1.0, widest);
  place_nodes(-reach, reach, step, [&](double z) {
    add(limited_log_precision(likelihood, h + deviation * z, c), m[static_cast<std::size_t>(c)] + slope * z,
        rest, std::exp(-z * z / 2));
  });
}

/// p(y_c | x) as a mixture of normal distributions: add(mean, variance, weight), the weights to be divided by
/// their sum. f given h is Gaussian, and the trapezoidal rule takes the integral over h to near rounding.
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
