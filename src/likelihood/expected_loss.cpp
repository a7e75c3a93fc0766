#include "likelihood/expected_loss.hpp"

#include <cmath>
#include <numbers>

#include "likelihood/formulas.hpp"
#include "likelihood/gaussian_integrals.hpp"

namespace bdl {

namespace {

/// Returns the expectations of softplus(f); visit(m, v, add) has the nodes.
template <class Visit>
ExpectedLoss expected_softplus_at(double m, double v, Visit&& visit) {
  ExpectedLoss sums;
  double total = 0;
  visit(m, v, [&](double z, double weight) {
    const double e = std::exp(-std::abs(z)), larger = 1 / (1 + e), smaller = e * larger;
    total += weight;
    sums.loss += weight * (std::max(z, 0.0) + std::log1p(e));
    sums.slope += weight * (z >= 0 ? larger : smaller);
    sums.curvature += weight * larger * smaller;
  });
  return {sums.loss / total, sums.slope / total, sums.curvature / total};
}

}  // namespace

ExpectedLoss expected_softplus(double m, double v) {
  return expected_softplus_at(
      m, v, [](double mean, double variance, auto&& add) { visit_logistic_nodes(mean, variance, add); });
}

ExpectedLoss expected_softplus_of_many(double m, double v) {
  constexpr double largest = 0.01;  // few_nodes_suffice() for a strip of pi
  if (!(v <= largest)) return expected_softplus(m, v);
  return expected_softplus_at(
      m, v, [](double mean, double variance, auto&& add) { visit_few_nodes(mean, variance, add); });
}

ExpectedLoss expected_loss(const Likelihood& likelihood, double m, double v, double y, Index output) {
  if (std::isnan(y)) return {};
  return with_formulas(likelihood, [&](auto formulas) -> ExpectedLoss {
    if constexpr (requires { formulas.expected_loss(likelihood, output, m, v, y); })
      return formulas.expected_loss(likelihood, output, m, v, y);
    return {};
  });
}

ExpectedLoss expected_loss_of_many(const Likelihood& likelihood, double m, double v, double y) {
  if (std::isnan(y)) return {};
  return with_formulas(likelihood, [&](auto formulas) -> ExpectedLoss {
    if constexpr (requires { formulas.expected_loss_of_many(likelihood, m, v, y); })
      return formulas.expected_loss_of_many(likelihood, m, v, y);
    return expected_loss(likelihood, m, v, y);
  });
}

bool has_quadratic_loss(const Likelihood& likelihood) {
  return with_formulas(likelihood, [&](auto formulas) {
    return requires {
      formulas.quadratic_loss(likelihood, 1.0);
    };
  });
}

ExpectedLoss expected_quadratic_loss(const Likelihood& likelihood, double m, double v, double y) {
  if (std::isnan(y)) return {};
  return with_formulas(likelihood, [&](auto formulas) -> ExpectedLoss {
    if constexpr (requires { formulas.quadratic_loss(likelihood, y); }) {
      const QuadraticLoss of = formulas.quadratic_loss(likelihood, y);
      const double error = m - of.mode;
      return {of.curvature * (error * error + v) / 2, of.curvature * error, of.curvature};
    }
    return {};
  });
}

double typical_curvature(const Likelihood& likelihood, double y) {
  return with_formulas(likelihood, [&](auto formulas) -> double {
    if constexpr (requires { formulas.typical_curvature(likelihood, y); })
      return formulas.typical_curvature(likelihood, y);
    return 0;
  });
}

}  // namespace bdl
