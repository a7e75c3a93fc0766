// Labels 0 or 1 with logits f_c: P(y_c = 1) = 1 / (1 + e^-f_c).
#pragma once

#include "likelihood/expected_loss.hpp"
#include "likelihood/kinds/independent_outputs.hpp"
#include "likelihood/logistic.hpp"

namespace bdl {

struct Bernoulli : IndependentOutputs<Bernoulli> {
  using Base = IndependentOutputs<Bernoulli>;
  using Base::log_density, Base::misfit, Base::moments;
  static double log_density(const Likelihood&, Index, double f, double y) {
    return of_share(y, [=](double label) { return -softplus(label > 0 ? -f : f); });
  }
  static double misfit(const Likelihood& l, Index c, double f, double y) {
    return std::max(0.0, -log_density(l, c, f, y));
  }
  static TargetMoments moments(const Likelihood&, Index, double f) {
    const double p = logistic(f);
    return {p, p * (1 - p)};
  }
  static double slope(const Likelihood&, Index, double f, double y) { return logistic(f) - y; }
  template <class Target>
  static double curvature(const Likelihood&, Index, double f, const Target&) {
    return logistic(f) * logistic(-f);
  }
  /// Returns sqrt(p (1 - p)) = e^{-|f|/2} / (1 + e^{-|f|}).
  static double root(const Likelihood&, Index, double f) {
    const double half = std::exp(-std::abs(f) / 2);
    return std::max(half / (1 + half * half), least_root);
  }
  static double information(const Likelihood&, const double* f, Index c) {
    const double p = logistic(f[c]);
    return p * (1 - p);
  }
  static double curvature_bound(const Likelihood&) { return 0.25; }
  static double typical_curvature(const Likelihood&, double) { return 0.25; }
  static ExpectedLoss expected_loss(const Likelihood&, Index, double m, double v, double y) {
    return of_softplus(expected_softplus, m, v, y);
  }
  static ExpectedLoss expected_loss_of_many(const Likelihood&, double m, double v, double y) {
    return of_softplus(expected_softplus_of_many, m, v, y);
  }

 private:
  static ExpectedLoss of_softplus(ExpectedLoss (*softplus_of)(double, double), double m, double v, double y) {
    const double sign = y == 1 ? -1 : 1;
    const ExpectedLoss of = softplus_of(sign * m, v);
    if (y > 0 && y < 1) return {of.loss - y * m, of.slope - y, of.curvature};  // a share of successes
    return {of.loss, sign * of.slope, of.curvature};
  }
};

}  // namespace bdl
