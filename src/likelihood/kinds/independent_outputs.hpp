// The page that likelihoods share whose targets are independent given f, each with an output of its own. A
// likelihood `One` offers formulas for output c alone, and everything else follows:
//
//   log_density(l, c, f, y)  log p(y | f) with all constants
//   misfit(l, c, f, y)       sup over f of log p, less log p
//   moments(l, c, f)         mean and variance of y
//   slope(l, c, f, y)        -d log p / df
//   curvature(l, c, f, y)    -d^2 log p / df^2, which asks for the target by y()
//   root(l, c, f)            a root of E_y[-d^2 log p / df^2], positive, so that slope / root is finite
//
// f and y are scalars in double. A missing y is NaN: only curvature() sees it.
#pragma once

#include <algorithm>
#include <cmath>

#include "likelihood/likelihood.hpp"

namespace bdl {

/// Mean and variance of y given f.
struct TargetMoments {
  double mean, variance;
};

template <class One>
struct IndependentOutputs {
  template <class T>
  static double log_density(const Likelihood& likelihood, const T* f, const T* y) {
    return sum(likelihood, f, y, [&](Index c, double output, double target) {
      return One::log_density(likelihood, c, output, target);
    });
  }
  template <class T>
  static double misfit(const Likelihood& likelihood, const T* f, const T* y) {
    return sum(likelihood, f, y, [&](Index c, double output, double target) {
      return One::misfit(likelihood, c, output, target);
    });
  }
  template <class T>
  static void moments(const Likelihood& likelihood, const T* f, double* mean, double* variance) {
    for (Index c = 0; c < likelihood.outputs(); ++c) {
      const TargetMoments of = One::moments(likelihood, c, static_cast<double>(f[c]));
      mean[c] = of.mean;
      variance[c] = of.variance;
    }
  }
  template <class T>
  static void gradient(const Likelihood& likelihood, const T* f, const T* y, T* seed) {
    for (Index c = 0; c < likelihood.outputs(); ++c)
      seed[c] = std::isnan(y[c]) ? T(0)
                                 : static_cast<T>(One::slope(likelihood, c, static_cast<double>(f[c]),
                                                             static_cast<double>(y[c])));
  }
  template <class T>
  static void hessian_root(const Likelihood& likelihood, const T* f, const T* y, Index k, T* seed,
                           double* coefficient) {
    std::fill_n(seed, likelihood.outputs(), T(0));
    *coefficient = 0;
    if (std::isnan(y[k])) return;
    const double output = static_cast<double>(f[k]), root = One::root(likelihood, k, output);
    seed[k] = static_cast<T>(root);
    *coefficient = One::slope(likelihood, k, output, static_cast<double>(y[k])) / root;
  }
  template <class T>
  static void hessian_terms(const Likelihood& likelihood, const T* f, const T* y, double* h) {
    for (Index c = 0; c < likelihood.outputs(); ++c)
      h[c] =
          One::curvature(likelihood, c, static_cast<double>(f[c]), [&] { return static_cast<double>(y[c]); });
  }
  static double hessian_entry(const Likelihood&, const double* h, Index c, Index k) {
    return c == k ? h[c] : 0;
  }
  template <class T>
  static void hessian_product(const Likelihood& likelihood, const double* h, const T* v, T* out) {
    for (Index c = 0; c < likelihood.outputs(); ++c)
      out[c] = static_cast<T>(h[c] * static_cast<double>(v[c]));
  }
  /// Returns E_y[-d^2 log p / df_c^2].
  static double information(const Likelihood& likelihood, const double* f, Index c) {
    const double root = One::root(likelihood, c, f[c]);
    return root * root;
  }
  template <class T>
  static double squared_error(const Likelihood&, const T* f, const T* y, Index target) {
    const double residual = static_cast<double>(y[target]) - static_cast<double>(f[target]);
    return residual * residual;
  }
  /// Returns an upper bound of the second derivative of -log p in any direction of f.
  static double curvature_bound(const Likelihood&) { return HUGE_VAL; }

 private:
  /// Returns the sum of value(c, f_c, y_c) over targets that are not missing.
  template <class T, class Value>
  static double sum(const Likelihood& likelihood, const T* f, const T* y, Value value) {
    double sum = 0;
    for (Index c = 0; c < likelihood.outputs(); ++c)
      if (!std::isnan(y[c])) sum += value(c, static_cast<double>(f[c]), static_cast<double>(y[c]));
    return sum;
  }
};

/// Returns value(y) of a label; of a share of successes, what so many successes and failures have on average.
template <class Value>
auto of_share(double y, Value value) {
  return y > 0 && y < 1 ? y * value(1.0) + (1 - y) * value(0.0) : value(y);
}

/// Roots are at least this large, so that gradient / root stays finite.
inline constexpr double least_root = 1e-15;

}  // namespace bdl
