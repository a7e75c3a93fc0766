// Positive targets with log means f_c: y_c ~ Gamma with mean mu = e^f_c and variance mu^2 / alpha. alpha, the
// shape, is 1 / dispersion in terms of R's glm, and is learned as log alpha.
#pragma once

#include <numbers>

#include "likelihood/kinds/independent_outputs.hpp"
#include "likelihood/output_nodes.hpp"
#include "likelihood/shape_terms.hpp"
#include "likelihood/special_functions.hpp"

namespace bdl {

struct Gamma : IndependentOutputs<Gamma> {
  using Base = IndependentOutputs<Gamma>;
  using Base::log_density, Base::misfit, Base::moments;
  static double log_density(const Likelihood& l, Index, double f, double y) {
    return constant(l, y) - deviance(l, f, y);
  }
  static double misfit(const Likelihood& l, Index, double f, double y) { return deviance(l, f, y); }
  static TargetMoments moments(const Likelihood& l, Index, double f) {
    const double mean = std::exp(f);
    return {mean, mean * mean / alpha(l)};
  }
  static double slope(const Likelihood& l, Index, double f, double y) {
    return -alpha(l) * std::expm1(std::log(y) - f);
  }
  template <class Target>
  static double curvature(const Likelihood& l, Index, double f, const Target& y) {
    return std::isnan(y()) ? 0 : alpha(l) * std::exp(std::log(y()) - f);
  }
  static double root(const Likelihood& l, Index, double) { return std::sqrt(alpha(l)); }
  static double strip(const Likelihood&) { return std::numbers::pi / 2; }
  static double width(const Likelihood& l, double) { return 1 / std::sqrt(alpha(l)); }
  static double typical_curvature(const Likelihood& l, double) { return alpha(l); }
  static QuadraticLoss quadratic_loss(const Likelihood& l, double y) { return {alpha(l), std::log(y)}; }
  static ExpectedLoss expected_loss(const Likelihood& l, Index, double m, double v, double y) {
    const double d = std::log(y) - m;
    return {alpha(l) * (std::expm1(d + v / 2) - d) - constant(l, y), -alpha(l) * std::expm1(d + v / 2),
            alpha(l) * std::exp(d + v / 2)};
  }

  static CountTails tails(double shape, double f, double y) {
    return gamma_tails(shape * y * std::exp(-f), shape);
  }

  /// d log p / d alpha = log alpha + 1 - psi(alpha) + d - e^d for d = log y - f.
  static void add_shape_gradient(const Likelihood& l, double f, double y, double weight, ShapeTerms& out) {
    const double a = alpha(l), d = std::log(y) - f;
    out.gradient[0] += weight * a * (std::log(a) - digamma(a) - (std::expm1(d) - d));
  }
  static void add_expected_shape_terms(const Likelihood& l, double m, double v, double y, double weight,
                                       ShapeTerms& out) {
    const double a = alpha(l), d = std::log(y) - m;
    out.gradient[0] += weight * a * (std::log(a) - digamma(a) - (std::expm1(d + v / 2) - d));
    add_shape_information(l, m, weight, out);
  }
  static void add_shape_information(const Likelihood& l, double, double weight, ShapeTerms& out) {
    out.information[0] += weight * alpha(l) * (alpha(l) * trigamma(alpha(l)) - 1);
  }

 private:
  static double alpha(const Likelihood& l) { return l.shape(0); }
  /// Returns log p at the best mean, y.
  static double constant(const Likelihood& l, double y) {
    const double a = alpha(l);
    return -std::log(y) - log_gamma_remainder(a) + std::log(a / (2 * std::numbers::pi)) / 2;
  }
  static double deviance(const Likelihood& l, double f, double y) {
    const double d = std::log(y) - f;
    return alpha(l) * (std::expm1(d) - d);
  }
};

}  // namespace bdl
