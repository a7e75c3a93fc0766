// Counts with log rates f_c, which may have a limit (limited_rates.hpp): y_c ~ Poisson(e^f_c).
#pragma once

#include "likelihood/expected_loss.hpp"
#include "likelihood/kinds/independent_outputs.hpp"
#include "likelihood/limited_rates.hpp"
#include "likelihood/special_functions.hpp"

namespace bdl {

struct Poisson : IndependentOutputs<Poisson> {
  using Base = IndependentOutputs<Poisson>;
  using Base::log_density, Base::misfit, Base::moments;
  /// -infinity if the rate overflows.
  static double log_density(const Likelihood& l, Index, double f, double y) {
    const double log_rate = limited(f, l.limit()), rate = std::exp(log_rate);
    return std::isinf(rate) ? -HUGE_VAL : y * log_rate - rate - log_factorial(y);
  }
  static double misfit(const Likelihood& l, Index, double f, double y) {
    return std::max(0.0, half_poisson_deviance(limited(f, l.limit()), y));
  }
  static TargetMoments moments(const Likelihood& l, Index, double f) {
    const double rate = std::exp(limited(f, l.limit()));
    return {rate, rate};
  }
  static double slope(const Likelihood& l, Index, double f, double y) {
    return (std::exp(limited(f, l.limit())) - y) * bend_at(f, l.limit()).slope;
  }
  /// Beyond the limit it is negative if the rate is too large for y.
  template <class Target>
  static double curvature(const Likelihood& l, Index, double f, const Target& y) {
    if (!(f > l.limit())) return std::exp(f);
    const double rate = std::exp(limited(f, l.limit()));
    const Bend bend = bend_at(f, l.limit());
    return rate * bend.slope * bend.slope + (std::isnan(y()) ? 0 : (rate - y()) * bend.second);
  }
  static double root(const Likelihood& l, Index, double f) {
    return std::max(std::exp(limited(f, l.limit()) / 2) * bend_at(f, l.limit()).slope, least_root);
  }
  static double information(const Likelihood& l, const double* f, Index c) {
    return std::exp(limited(f[c], l.limit()));
  }
  static ExpectedLoss expected_loss(const Likelihood&, Index, double m, double v, double y) {
    const double rate = std::exp(m + v / 2);
    return {loss(m, y) - rate * std::expm1(-v / 2), rate - y, rate};
  }
  static double typical_curvature(const Likelihood&, double y) { return std::max(1.0, y); }
  static QuadraticLoss quadratic_loss(const Likelihood&, double y) { return {y + 0.5, std::log(y + 0.5)}; }

 private:
  /// Returns exp(f) - y f + log y! as half the deviance above its least value: for large counts the terms of
  /// the definition are a million times their sum.
  static double loss(double f, double y) { return half_poisson_deviance(f, y) - log_poisson(y, y); }
};

}  // namespace bdl
