#include "methods/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bdl {

double plan_fraction(const Plan& plan, Index t) {
  if (plan.end <= plan.begin) return 0;
  return std::clamp(static_cast<double>(t - 1 - plan.begin) / static_cast<double>(plan.end - plan.begin), 0.0,
                    1.0);
}

Index step_at(const Plan& plan, double fraction) {
  return plan.begin + static_cast<Index>(std::ceil(fraction * static_cast<double>(plan.end - plan.begin)));
}

double planned_curvature_rate(const Options& options, const Plan& plan) {
  const auto steps = static_cast<double>(plan.end - plan.begin);
  if (options.start_share == 0 || options.schedule != ScheduleKind::cosine || !(steps > 0))
    return options.curvature_rate;
  const double mean_factor = (1 + options.final_rate) / 2;
  return std::min(options.curvature_rate, -std::log(options.start_share) / (mean_factor * steps));
}

Index swag_begin(const Options& options, const Plan& plan) {
  const Index steps = plan.end - plan.begin,
              before = static_cast<Index>(std::ceil(options.swag_from * static_cast<double>(steps)));
  // If swag_every is 0, two parameter vectors are collected at least, however short the course is.
  return plan.begin + (options.swag_every > 0 ? before : std::min(before, std::max<Index>(0, steps - 2)));
}

double rate_factor(const Options& options, const Plan& plan, Index t) {
  if (options.swag && plan.end > plan.begin) t = std::min(t, swag_begin(options, plan) + 1);
  const double done = plan_fraction(plan, t);
  if (options.schedule == ScheduleKind::cosine)
    return options.final_rate + (1 - options.final_rate) * (1 + std::cos(std::numbers::pi * done)) / 2;
  if (options.schedule == ScheduleKind::steps) {
    const double since = done - options.step_from;
    return since < 0 ? 1 : std::pow(options.step_factor, 1 + std::floor(since / options.step_every));
  }
  return options.decay == 0 ? 1 : 1 / (1 + std::pow(static_cast<double>(t), options.decay));
}

double warmup_factor(const Options& options, const Plan& plan, Index t) {
  if (options.rate_warmup == 0 || plan.end <= plan.begin) return 1;
  const double rising = options.rate_warmup * static_cast<double>(plan.end - plan.begin);
  return std::min(1.0, static_cast<double>(t - plan.begin) / std::max(1.0, rising));
}

double kl_weight(const Options& options, const Plan& plan, Index t) {
  if (options.kl_warmup == 0 || plan.end <= plan.begin) return options.kl_weight;
  const double risen = std::min(1.0, plan_fraction(plan, t) / options.kl_warmup);
  return options.kl_start + (options.kl_weight - options.kl_start) * risen;
}

MomentumTerms momentum_terms(const Options& options, Index gradients) {
  const double keep = options.momentum;
  const bool sums = options.momentum_form == MomentumForm::heavy_ball,
             corrects = options.momentum_form == MomentumForm::corrected;
  return {keep, sums ? 1 : 1 - keep, corrects ? 1 / (1 - std::pow(keep, static_cast<double>(gradients))) : 1};
}

}  // namespace bdl
