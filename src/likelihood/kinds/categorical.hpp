// One class number as target, with a logit f_c for each class: P(y = c) = e^f_c / sum_k e^f_k over the
// possible classes.
#pragma once

#include <algorithm>
#include <cmath>

#include "likelihood/likelihood.hpp"

namespace bdl {

struct Categorical {
  template <class T>
  static double log_density(const Likelihood& l, const T* f, const T* y) {
    return l.has_class(static_cast<Index>(y[0]))
               ? static_cast<double>(f[static_cast<Index>(y[0])]) - normaliser(l, f)
               : -HUGE_VAL;
  }
  template <class T>
  static double misfit(const Likelihood& l, const T* f, const T* y) {
    return std::max(0.0, -log_density(l, f, y));
  }
  template <class T>
  static void moments(const Likelihood& l, const T* f, double* mean, double* variance) {
    const double scale = normaliser(l, f);
    for (Index c = 0; c < l.outputs(); ++c) {
      mean[c] = probability(l, f, c, scale);
      variance[c] = mean[c] * (1 - mean[c]);
    }
  }
  template <class T>
  static void gradient(const Likelihood& l, const T* f, const T* y, T* seed) {
    const double scale = normaliser(l, f);
    for (Index c = 0; c < l.outputs(); ++c)
      seed[c] = static_cast<T>(probability(l, f, c, scale) - (c == static_cast<Index>(y[0]) ? 1 : 0));
  }
  /// A = diag(sqrt p) - p sqrt(p)^T, z_k = (p_k - y_k) / sqrt(p_k).
  template <class T>
  static void hessian_root(const Likelihood& l, const T* f, const T* y, Index k, T* seed,
                           double* coefficient) {
    std::fill_n(seed, l.outputs(), T(0));
    *coefficient = 0;
    if (!l.has_class(k)) return;
    const double scale = normaliser(l, f);
    const double p = std::max(std::exp(static_cast<double>(f[k]) - scale), 1e-30), root = std::sqrt(p);
    for (Index c = 0; c < l.outputs(); ++c)
      if (l.has_class(c)) seed[c] = static_cast<T>(root * ((c == k ? 1 : 0) - probability(l, f, c, scale)));
    *coefficient = (p - (k == static_cast<Index>(y[0]) ? 1 : 0)) / root;
  }
  template <class T>
  static void hessian_terms(const Likelihood& l, const T* f, const T*, double* h) {
    const double scale = normaliser(l, f);
    for (Index c = 0; c < l.outputs(); ++c)
      h[c] = std::min(probability(l, f, c, scale), 1.0);  // h (1 - h) must not be negative
  }
  static double hessian_entry(const Likelihood&, const double* h, Index c, Index k) {
    return h[c] * ((c == k ? 1 : 0) - h[k]);
  }
  template <class T>
  static void hessian_product(const Likelihood& l, const double* h, const T* v, T* out) {
    double mean = 0;  // mean of v under the class probabilities
    for (Index c = 0; c < l.outputs(); ++c) mean += h[c] * static_cast<double>(v[c]);
    for (Index c = 0; c < l.outputs(); ++c)
      out[c] = static_cast<T>(h[c] * (static_cast<double>(v[c]) - mean));
  }
  static double information(const Likelihood& l, const double* f, Index c) {
    const double p = probability(l, f, c, normaliser(l, f));
    return p * (1 - p);
  }
  template <class T>
  static double squared_error(const Likelihood&, const T* f, const T* y, Index target) {
    const double residual = static_cast<double>(y[target]) - static_cast<double>(f[target]);
    return residual * residual;
  }
  static double curvature_bound(const Likelihood&) { return 0.5; }

 private:
  /// Returns log sum_k e^f_k over the possible classes.
  template <class T>
  static double normaliser(const Likelihood& l, const T* f) {
    const double top = static_cast<double>(f[l.top_class(f)]);
    double sum = 0;
    for (Index k = 0; k < l.outputs(); ++k)
      if (l.has_class(k)) sum += std::exp(static_cast<double>(f[k]) - top);
    return top + std::log(sum);
  }
  /// Returns e^(f_c - normaliser), or 0 for impossible classes.
  template <class T>
  static double probability(const Likelihood& l, const T* f, Index c, double normaliser) {
    return l.has_class(c) ? std::exp(static_cast<double>(f[c]) - normaliser) : 0;
  }
};

}  // namespace bdl
