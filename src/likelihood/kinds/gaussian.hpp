// Gaussian noise: y_c ~ N(f_c, 1 / tau_c), or y ~ N(f, R) with a covariance between targets.
#pragma once

#include <numbers>

#include "likelihood/expected_loss.hpp"
#include "likelihood/kinds/independent_outputs.hpp"

namespace bdl {

struct Gaussian;

/// Targets with independent noise.
struct IndependentGaussian : IndependentOutputs<IndependentGaussian> {
  using Base = IndependentOutputs<IndependentGaussian>;
  using Base::log_density, Base::misfit, Base::moments;
  static double log_density(const Likelihood& l, Index c, double f, double y) {
    const double precision = l.noise_precision(c), residual = y - f;
    return (std::log(precision / (2 * std::numbers::pi)) - precision * residual * residual) / 2;
  }
  static double misfit(const Likelihood& l, Index c, double f, double y) {
    return l.noise_precision(c) * std::pow(y - f, 2) / 2;
  }
  static TargetMoments moments(const Likelihood& l, Index c, double f) { return {f, l.noise_variance(c)}; }
  static double slope(const Likelihood& l, Index c, double f, double y) {
    return l.noise_precision(c) * (f - y);
  }
  template <class Target>
  static double curvature(const Likelihood& l, Index c, double, const Target&) {
    return l.noise_precision(c);
  }
  static double root(const Likelihood& l, Index c, double) { return std::sqrt(l.noise_precision(c)); }
};

struct Gaussian {
  template <class T>
  static double log_density(const Likelihood& l, const T* f, const T* y) {
    return l.noise_covariance().given() ? l.noise_covariance().log_density(f, y)
                                        : IndependentGaussian::log_density(l, f, y);
  }
  template <class T>
  static double misfit(const Likelihood& l, const T* f, const T* y) {
    if (!l.noise_covariance().given()) return IndependentGaussian::misfit(l, f, y);
    double sum = 0;
    for (Index k = 0; k < l.outputs(); ++k)
      sum += std::pow(l.noise_covariance().whitened_residual(f, y, k), 2) / 2;
    return sum;
  }
  template <class T>
  static void moments(const Likelihood& l, const T* f, double* mean, double* variance) {
    IndependentGaussian::moments(l, f, mean, variance);
  }
  template <class T>
  static void gradient(const Likelihood& l, const T* f, const T* y, T* seed) {
    if (!l.noise_covariance().given()) return IndependentGaussian::gradient(l, f, y, seed);
    for (Index c = 0; c < l.outputs(); ++c) {
      double slope = 0;
      for (Index k = 0; k < l.outputs(); ++k)
        slope += hessian_entry(l, nullptr, c, k) * (static_cast<double>(f[k]) - static_cast<double>(y[k]));
      seed[c] = static_cast<T>(slope);
    }
  }
  /// With a covariance R = L L^T the root is A = L^-T, and z = L^-1 (f - y).
  template <class T>
  static void hessian_root(const Likelihood& l, const T* f, const T* y, Index k, T* seed,
                           double* coefficient) {
    if (!l.noise_covariance().given())
      return IndependentGaussian::hessian_root(l, f, y, k, seed, coefficient);
    for (Index c = 0; c < l.outputs(); ++c) seed[c] = static_cast<T>(l.noise_covariance().whitener()(k, c));
    *coefficient = l.noise_covariance().whitened_residual(f, y, k);
  }
  template <class T>
  static void hessian_terms(const Likelihood& l, const T* f, const T* y, double* h) {
    IndependentGaussian::hessian_terms(l, f, y, h);
  }
  static double hessian_entry(const Likelihood& l, const double* h, Index c, Index k) {
    return l.noise_covariance().given() ? l.noise_covariance().precision()(c, k) : c == k ? h[c] : 0;
  }
  template <class T>
  static void hessian_product(const Likelihood& l, const double* h, const T* v, T* out) {
    if (!l.noise_covariance().given()) return IndependentGaussian::hessian_product(l, h, v, out);
    for (Index c = 0; c < l.outputs(); ++c) {
      double sum = 0;
      for (Index k = 0; k < l.outputs(); ++k) sum += hessian_entry(l, h, c, k) * static_cast<double>(v[k]);
      out[c] = static_cast<T>(sum);
    }
  }
  static double information(const Likelihood& l, const double*, Index c) { return 1 / l.noise_variance(c); }
  template <class T>
  static double squared_error(const Likelihood& l, const T* f, const T* y, Index target) {
    return IndependentGaussian::squared_error(l, f, y, target);
  }
  static double curvature_bound(const Likelihood& l) {
    return l.noise_covariance().given() ? HUGE_VAL : std::ranges::max(l.noise_precision());
  }
  static ExpectedLoss expected_loss(const Likelihood& l, Index c, double m, double v, double y) {
    const double precision = l.noise_precision(c),
                 log_density = l.noise_covariance().given() ? l.noise_covariance().log_density(&m, &y)
                                                            : IndependentGaussian::log_density(l, c, m, y);
    return {precision * v / 2 - log_density, precision * (m - y), precision};
  }
  static double typical_curvature(const Likelihood& l, double) { return l.noise_precision(0); }
};

}  // namespace bdl
