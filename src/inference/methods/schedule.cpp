#include "inference/methods/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bdl {

double plan_fraction(const Plan& plan, Index t) {
  if (plan.end <= plan.begin) return 0;
  return std::clamp(static_cast<double>(t - 1 - plan.begin) / static_cast<double>(plan.end - plan.begin), 0.0,
                    1.0);
}

namespace {

constexpr std::int32_t cosine = 0;

}  // namespace

double planned_curvature_rate(const Options& options, const Plan& plan) {
  const auto steps = static_cast<double>(plan.end - plan.begin);
  if (options.start_share == 0 || options.schedule != cosine || !(steps > 0)) return options.curvature_rate;
  const double mean_factor = (1 + options.final_rate) / 2;
  return std::min(options.curvature_rate, -std::log(options.start_share) / (mean_factor * steps));
}

double rate_factor(const Options& options, const Plan& plan, Index t) {
  if (options.schedule == cosine)
    return options.final_rate +
           (1 - options.final_rate) * (1 + std::cos(std::numbers::pi * plan_fraction(plan, t))) / 2;
  return options.decay == 0 ? 1 : 1 / (1 + std::pow(static_cast<double>(t), options.decay));
}

}  // namespace bdl
