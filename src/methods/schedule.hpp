// Schedules of learning rates, KL weight and momentum over the steps of a course of training.
#pragma once

#include "options/options.hpp"

namespace bdl {

/// Planned steps begin + 1 .. end of the current course; end = 0 if there is no plan.
struct Plan {
  Index begin = 0, end = 0;
  bool operator==(const Plan&) const = default;
};

/// Returns the fraction of the plan done before step t (counted from 1), in [0, 1]; 0 without a plan.
double plan_fraction(const Plan& plan, Index t);

/// Returns the step after which SWAG takes snapshots; rates stay constant from the next step on.
Index swag_begin(const Options& options, const Plan& plan);

/// Returns the factor on learning_rate and curvature_rate in step t (docs/mathematics/natural-gradients.md,
/// "Rates and momentum").
double rate_factor(const Options& options, const Plan& plan, Index t);

/// Returns the factor on learning_rate in step t of the warm-up, in which it rises to 1; 1 after it.
double warmup_factor(const Options& options, const Plan& plan, Index t);

/// Returns the weight of the KL divergence in step t: the temperature.
double kl_weight(const Options& options, const Plan& plan, Index t);

/// Terms of the momentum m' = keep m + add g, of which factor m' is used.
struct MomentumTerms {
  double keep, add, factor;
};
/// Returns the terms after so many gradients, the present one included.
MomentumTerms momentum_terms(const Options& options, Index gradients);

/// Returns curvature_rate, or the lower rate for which the plan's product of all 1 - beta_t is start_share.
double planned_curvature_rate(const Options& options, const Plan& plan);

}  // namespace bdl
