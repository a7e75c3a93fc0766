// Overdispersed counts with log means f_c: y_c is negative binomial with mean mu = e^f_c and variance mu +
// mu^2 / theta, that is, Poisson with a rate mu g where g ~ Gamma(theta, theta). theta, the shape, is learned
// as log theta (Lawless 1987; theta of MASS::glm.nb).
#pragma once

#include <numbers>

#include "likelihood/kinds/independent_outputs.hpp"
#include "likelihood/logistic.hpp"
#include "likelihood/output_nodes.hpp"
#include "likelihood/shape_terms.hpp"
#include "likelihood/special_functions.hpp"

namespace bdl {

/// With g = f - log theta, log p = log Gamma(y + theta) / (Gamma(theta) y!) - theta softplus(g) - y
/// softplus(-g).
struct NegativeBinomial : IndependentOutputs<NegativeBinomial> {
  using Base = IndependentOutputs<NegativeBinomial>;
  using Base::log_density, Base::misfit, Base::moments;
  static double log_density(const Likelihood& l, Index, double f, double y) {
    return log_rising_over_factorial(theta(l), y) - loss(l, f, y);
  }
  /// The best mean is y.
  static double misfit(const Likelihood& l, Index, double f, double y) {
    return std::max(0.0, loss(l, f, y) - (y > 0 ? loss(l, std::log(y), y) : 0));
  }
  static TargetMoments moments(const Likelihood& l, Index, double f) {
    const double mean = std::exp(f);
    return {mean, mean + mean * mean / theta(l)};
  }
  static double slope(const Likelihood& l, Index, double f, double y) {
    const double g = f - std::log(theta(l));
    return theta(l) * logistic(g) - y * logistic(-g);
  }
  template <class Target>
  static double curvature(const Likelihood& l, Index, double f, const Target& y) {
    const double g = f - std::log(theta(l));
    return std::isnan(y()) ? 0 : (y() + theta(l)) * logistic(g) * logistic(-g);
  }
  static double root(const Likelihood& l, Index, double f) {
    return std::max(std::sqrt(theta(l) * logistic(f - std::log(theta(l)))), least_root);
  }
  /// log p has singularities at i pi, but p grows beyond i pi / 2, as does that of a Poisson count.
  static double strip(const Likelihood&) { return std::numbers::pi / 2; }
  /// Returns the standard deviation of log y, for the narrowest tails.
  static double width(const Likelihood& l, double f) { return std::sqrt(1 / theta(l) + std::exp(-f)); }
  static double typical_curvature(const Likelihood& l, double y) { return (y + theta(l)) / 4; }
  static QuadraticLoss quadratic_loss(const Likelihood& l, double y) {
    return {theta(l) * (y + 0.5) / (theta(l) + y + 0.5), std::log(y + 0.5)};
  }
  static ExpectedLoss expected_loss(const Likelihood& l, Index, double m, double v, double y) {
    return of_softplus(l, m, y, expected_softplus(m - std::log(theta(l)), v));
  }
  static ExpectedLoss expected_loss_of_many(const Likelihood& l, double m, double v, double y) {
    return of_softplus(l, m, y, expected_softplus_of_many(m - std::log(theta(l)), v));
  }

  static CountTails tails(double shape, double f, double y) {
    return negative_binomial_tails(y, std::exp(f), shape);
  }

  /// d log p / d theta = psi(y + theta) - psi(theta) - softplus(g) + (mu - y) / (theta + mu).
  static void add_shape_gradient(const Likelihood& l, double f, double y, double weight, ShapeTerms& out) {
    const double t = theta(l), g = f - std::log(t), share = logistic(-g) / t;  // share = 1 / (theta + mu)
    out.gradient[0] += weight * t * (digamma(y + t) - digamma(t) - softplus(g) + logistic(g) - y * share);
  }
  /// With logistic(-g) = 1 - logistic(g), they follow from the expectations of softplus(g).
  static void add_expected_shape_terms(const Likelihood& l, double m, double v, double y, double weight,
                                       ShapeTerms& out) {
    const double t = theta(l);
    const ExpectedLoss of = expected_softplus_of_many(m - std::log(t), v);
    const double share = (1 - of.slope) / t, square = (1 - of.slope - of.curvature) / (t * t);
    const double of_y = y > 0 ? digamma(y + t) - digamma(t) : 0,
                 bend = y > 0 ? trigamma(t) - trigamma(y + t) : 0;
    out.gradient[0] += weight * t * (of_y - of.loss + of.slope - y * share);
    out.information[0] += weight * t * t * (bend - 1 / t + 2 * share - (y + t) * square);
  }
  /// Takes E[psi'(y + theta)] by the second-order expansion about y = mu.
  static void add_shape_information(const Likelihood& l, double f, double weight, ShapeTerms& out) {
    const double t = theta(l), mean = std::exp(std::min(f, 300.0)), sum = t + mean;
    const double at_mean = t * t * (trigamma(t) - trigamma(sum) - 1 / t + 1 / sum);
    out.information[0] += weight * std::max(at_mean - t * mean / (sum * sum), at_mean / 10);
  }

 private:
  static ExpectedLoss of_softplus(const Likelihood& l, double m, double y, const ExpectedLoss& of) {
    const double sum = y + theta(l), g = m - std::log(theta(l));  // softplus(-g) = softplus(g) - g
    return {sum * of.loss - y * g - log_rising_over_factorial(theta(l), y), sum * of.slope - y,
            sum * of.curvature};
  }
  static double theta(const Likelihood& l) { return l.shape(0); }
  static double loss(const Likelihood& l, double f, double y) {
    const double g = f - std::log(theta(l));
    return theta(l) * softplus(g) + (y > 0 ? y * softplus(-g) : 0);
  }
};

}  // namespace bdl
