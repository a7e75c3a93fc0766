// Integrals over one Gaussian output f ~ N(m, v) by the trapezoidal rule, for likelihoods of the table with
// `nodes`. Such a likelihood has two more formulas:
//
//   strip(l)      half the width of a strip around the real line in which log p(y | f) is analytic, and p
//   bounded width(l, f)   least width in f of steps of P(Y <= y | f), for means up to those of f
//
// and its log p(y | f) is concave in f. The rule's error falls as exp(-2 pi strip / (h s)) with the step h in
// standard deviations s (Trefethen, Weideman 2014), so the step follows from strip and s; errors are near
// 1e-13 of the integral of the absolute value.
#pragma once

#include "likelihood/expected_loss.hpp"
#include "likelihood/gaussian_integrals.hpp"
#include "likelihood/likelihood.hpp"

namespace bdl {

/// Most nodes of a rule: beyond some 20 standard deviations a strip, steps are as short as the rule has
/// nodes.
inline constexpr double most_nodes_of_rule = 4096;

/// Calls add(t, weight) for standard normal nodes t; the caller divides the weights by their sum. Features of
/// the integrand may be as narrow as `width`. The tails suffice for e^(s t) and e^(2 s t) as well.
template <class Add>
void visit_standard_nodes(double width, double s, Add&& add) {
  constexpr double reach = 9, underflow = 38;
  const double range = std::min(reach + 2 * s, underflow),
               step = std::max(std::min(0.4, width), 2 * range / most_nodes_of_rule);
  place_nodes(-range, range, step, [&](double t) { add(t, std::exp(-t * t / 2)); });
}

/// Calls add(f, weight) for nodes of f ~ N(m, v), with a width in f.
template <class Add>
void visit_output_nodes(double m, double v, double width, Add&& add) {
  if (!(v > 0)) return add(m, 1.0);
  const double s = std::sqrt(v);
  visit_standard_nodes(width / s, s, [&](double t, double weight) { add(m + s * t, weight); });
}

/// Step of the trapezoidal rule in units of strip / s: exp(-2 pi / 0.18) < 1e-15.
inline constexpr double step_of_strip = 0.18;

/// Returns the expectations of loss_at(f), the loss with its derivatives, of a likelihood with these
/// formulas.
template <class Formulas, class LossAt>
ExpectedLoss expected_by_nodes(const Likelihood& likelihood, double m, double v, LossAt&& loss_at) {
  ExpectedLoss sums;
  double total = 0;
  visit_output_nodes(m, v, step_of_strip * Formulas::strip(likelihood), [&](double f, double weight) {
    const ExpectedLoss at = loss_at(f);
    total += weight;
    sums.loss += weight * at.loss;
    sums.slope += weight * at.slope;
    sums.curvature += weight * at.curvature;
  });
  return {sums.loss / total, sums.slope / total, sums.curvature / total};
}

/// Returns the same but for rounding, by fewer nodes if v is small.
template <class Formulas, class LossAt>
ExpectedLoss expected_by_few_nodes(const Likelihood& likelihood, double m, double v, LossAt&& loss_at) {
  if (!few_nodes_suffice(v, Formulas::strip(likelihood)))
    return expected_by_nodes<Formulas>(likelihood, m, v, loss_at);
  ExpectedLoss sums;
  visit_few_nodes(m, v, [&](double f, double weight) {
    const ExpectedLoss at = loss_at(f);
    sums.loss += weight * at.loss;
    sums.slope += weight * at.slope;
    sums.curvature += weight * at.curvature;
  });
  return sums;
}

/// Returns the width of the features of p(y | f) for visit_output_nodes(), at any y.
double feature_width(const Likelihood& likelihood, double m, double v);

/// Writes standard nodes as a list, with normalised weights; one node if s is 0.
void standard_rule(double width, double s, NormalRule& rule);

/// Returns log of the integral of p(y | f)^times N(f; m, v), for `times` trials of the same f: by the
/// trapezoidal rule about the integrand's mode. v >= 0; -infinity if it underflows.
double log_density_of_normal(const Likelihood& likelihood, double m, double v, double y, double times = 1);

}  // namespace bdl
