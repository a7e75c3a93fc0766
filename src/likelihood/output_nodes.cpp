#include "likelihood/output_nodes.hpp"

#include <cmath>
#include <numbers>

#include "likelihood/formulas.hpp"

namespace bdl {
namespace {

/// times log p(y | m + s t) - t^2 / 2 with its first two derivatives by t.
struct LogIntegrand {
  double value, slope, curvature;  // the curvature is minus the second derivative, at least 1
};

template <class Formulas>
LogIntegrand log_integrand(const Likelihood& likelihood, double m, double s, double y, double times,
                           double t) {
  const double f = m + s * t;
  return {times * Formulas::log_density(likelihood, 0, f, y) - t * t / 2,
          -s * times * Formulas::slope(likelihood, 0, f, y) - t,
          s * s * times * std::max(0.0, Formulas::curvature(likelihood, 0, f, [y] { return y; })) + 1};
}

/// Returns the mode, by Newton's method within a bracket: the slope falls with t.
template <class Evaluate>
double mode_of(Evaluate evaluate) {
  double low = -HUGE_VAL, high = HUGE_VAL, t = 0;
  for (int i = 0; i < 1000; ++i) {
    const LogIntegrand at = evaluate(t);
    if (std::isnan(at.slope) || at.slope == 0) break;
    (at.slope > 0 ? low : high) = t;
    const double newton =
        std::isfinite(at.curvature) ? at.slope / at.curvature : std::copysign(1.0, at.slope);
    double next = t + newton;
    if (!(next > low && next < high)) next = low + (high - low) / 2;
    const double step = std::abs(next - t);
    t = next;
    if (step * std::sqrt(std::min(at.curvature, 1e300)) <= 1e-6) break;
  }
  return t;
}

template <class Formulas>
double log_integral(const Likelihood& likelihood, double m, double v, double y, double times) {
  if (!(v > 0)) return times * Formulas::log_density(likelihood, 0, m, y);
  const double s = std::sqrt(v);
  const auto evaluate = [&](double t) { return log_integrand<Formulas>(likelihood, m, s, y, times, t); };
  constexpr double negligible = 42, reach = 9.2;  // e^-42 < 1e-18, and of a normal density beyond the reach
  constexpr int most = 1 << 16;
  constexpr double most_deviation = 1e8;  // beyond, rounding of m + s t moves the mode
  const double mode = mode_of(evaluate);
  const LogIntegrand top = evaluate(mode);
  if (!std::isfinite(top.value)) return -HUGE_VAL;
  const double of_strip = step_of_strip * Formulas::strip(likelihood) / s,
               shortest = s < most_deviation ? reach / most : 0,
               step = std::min(0.3 / std::sqrt(top.curvature), std::max(of_strip, shortest));
  double sum = 1;
  for (const double sign : {-1.0, 1.0})
    for (int k = 1; k < most; ++k) {
      const double term = evaluate(mode + sign * k * step).value - top.value;
      if (!(term > -negligible)) break;
      sum += std::exp(term);
    }
  return top.value + std::log(sum * step / std::sqrt(2 * std::numbers::pi));
}

}  // namespace

double feature_width(const Likelihood& likelihood, double m, double v) {
  return with_formulas(likelihood, [&](auto formulas) {
    if constexpr (requires { formulas.strip(likelihood); })
      return step_of_strip *
             std::min(formulas.strip(likelihood), 3 * formulas.width(likelihood, m + 4 * std::sqrt(v)));
    return 0.4;
  });
}

void standard_rule(double width, double s, NormalRule& rule) {
  rule.nodes.clear();
  rule.weights.clear();
  double sum = 0;
  const auto add = [&](double t, double weight) {
    rule.nodes.push_back(t);
    rule.weights.push_back(weight);
    sum += weight;
  };
  if (s > 0)
    visit_standard_nodes(width, s, add);
  else
    add(0, 1);
  for (double& weight : rule.weights) weight /= sum;
}

double log_density_of_normal(const Likelihood& likelihood, double m, double v, double y, double times) {
  return with_formulas(likelihood, [&](auto formulas) -> double {
    if constexpr (requires { formulas.strip(likelihood); })
      return log_integral<decltype(formulas)>(likelihood, m, v, y, times);
    return 0;  // other likelihoods have integrals of their own
  });
}

}  // namespace bdl
