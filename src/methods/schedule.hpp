// How the rates fall, and which steps a course of training has.
#pragma once

#include "options/options.hpp"

namespace bdl {

/// Steps begin + 1 .. end belong to the current course; end = 0: no plan.
struct Plan {
  Index begin = 0, end = 0;
  bool operator==(const Plan&) const = default;
};

/// Fraction of the plan done before step t (counted from 1), in [0, 1]; 0 without a plan.
double plan_fraction(const Plan& plan, Index t);

/// The step after which SWAG's part of the plan begins, in which rates stay.
Index swag_begin(const Options& options, const Plan& plan);

/// Factor on learning_rate and curvature_rate in step t (docs/mathematics/natural-gradients.md, "Rates and
/// momentum").
double rate_factor(const Options& options, const Plan& plan, Index t);

/// Factor on learning_rate while it rises to its first value.
double warmup_factor(const Options& options, const Plan& plan, Index t);

/// Of step t: the temperature.
double kl_weight(const Options& options, const Plan& plan, Index t);

/// Momentum m = keep m + add g, of which factor m is used.
struct MomentumTerms {
  double keep, add, factor;
};
/// After so many gradients.
MomentumTerms momentum_terms(const Options& options, Index gradients);

/// curvature_rate, or the lower one by which the product of all 1 - beta_t of the plan is start_share.
double planned_curvature_rate(const Options& options, const Plan& plan);

}  // namespace bdl
