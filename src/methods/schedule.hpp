// Numbers that a step takes from the options: what the rules have in common (docs/theory/streams.md,
// "The four rules"), and how rates, momentum and temperature change in a course of training.
#pragma once

#include "options/options.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

/// True for rules whose loss includes the KL divergence to the prior: blr and bbb.
inline bool has_kl(Rule rule) {
  return rule == Rule::blr || rule == Rule::bbb;
}

inline Descent descent_of(Rule rule) {
  return rule == Rule::bong || rule == Rule::blr ? Descent::natural : Descent::plain;
}

inline ProjectionOptions projection_options(const Options& options) {
  return {options.eigen_method, options.eigen_passes, options.eigen_oversampling};
}

/// A planned course of training: the steps begin + 1 .. end; end = 0 if there is no plan.
struct Plan {
  Index begin = 0, end = 0;
  bool operator==(const Plan&) const = default;
};

/// Returns the fraction of the plan done before step t (counted from 1), in [0, 1]; 0 without a plan.
double plan_fraction(const Plan& plan, Index t);

/// Returns the number of the step after which a fraction of the plan is done.
Index step_at(const Plan& plan, double fraction);

/// Returns the step after which SWAG collects parameters, at rates that stay as they are.
Index swag_begin(const Options& options, const Plan& plan);

/// Returns the factor on learning_rate and curvature_rate in step t (docs/theory/natural-gradients.md,
/// "Rates and momentum").
double rate_factor(const Options& options, const Plan& plan, Index t);

/// Returns the factor on learning_rate while it rises to its first value.
double warmup_factor(const Options& options, const Plan& plan, Index t);

/// Returns the temperature of step t.
double kl_weight(const Options& options, const Plan& plan, Index t);

/// Momentum by option momentum_form: m <- keep m + add g, and steps use bias_correction m. With momentum
/// beta_1 and t gradients, (keep, add, bias_correction) is
///
///   heavy_ball   (beta_1, 1, 1)
///   average      (beta_1, 1 - beta_1, 1)
///   corrected    (beta_1, 1 - beta_1, 1 / (1 - beta_1^t))
struct MomentumTerms {
  double keep, add, bias_correction;
};
/// Returns the terms after this number of gradients.
MomentumTerms momentum_terms(const Options& options, Index gradients);

/// Returns curvature_rate, or the lower one with which the product of all 1 - beta_t of the plan is
/// start_share.
double planned_curvature_rate(const Options& options, const Plan& plan);

}  // namespace bdl
