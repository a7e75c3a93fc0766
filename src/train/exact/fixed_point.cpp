#include "train/exact/fixed_point.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.hpp"

namespace bdl {
namespace {

/// Length of steps from which on they are Newton's near the optimum: they get shorter whatever rounding, or
/// the errors of integrals, make of differences of the ELBO.
constexpr double newton_length = 1e-2;

/// Returns the value of evaluate(), or none if the ELBO is not finite there or no such step exists.
template <class Evaluate>
std::optional<ExactElbo::Value> value_of(Evaluate&& evaluate) {
  try {
    return evaluate();
  } catch (const Error& error) {
    if (error.status() != Status::ERROR_DIVERGED) throw;
    return {};
  }
}

}  // namespace

FixedPoint::FixedPoint(ExactElbo& elbo, Posterior<double>& q, const ProjectionOptions& projection)
    : elbo_(elbo), q_(q), projection_(projection) {
  memory_.next = q.clone();
}

bool FixedPoint::begin() {
  if (!elbo_.has_quadratic()) {
    value_ = elbo_.evaluate(q_);
    return false;
  }
  const auto here = value_of([&] { return elbo_.evaluate(q_); });
  value_ = here.value_or(ExactElbo::Value{-HUGE_VAL, 0});
  if (value_of([&] { return elbo_.evaluate_quadratic(q_); }) && try_step(1, here ? value_.rounding() : 0)) {
    accept();
    return true;
  }
  value_ = elbo_.evaluate(q_);
  return false;
}

bool FixedPoint::step(double part, double least_gain) {
  if (!try_step(part, least_gain)) {
    value_ = elbo_.evaluate(q_);
    return false;
  }
  accept();
  return true;
}

void FixedPoint::accept() {
  q_.swap(*memory_.next);
  value_ = next_value_;
}

bool FixedPoint::try_step(double part, double least_gain) {
  PosteriorStep<double> step{q_};
  step.m = elbo_.slope();
  step.mean_rate = step.curvature_rate = part;
  step.projection = projection_;
  const auto next = value_of([&] {
    step.curvature = elbo_.curvature();
    elbo_.prior().enter(step);
    memory_.next->update(step, memory_.scratch);
    return elbo_.evaluate(*memory_.next);
  });
  if (!next) return false;  // the step is too long
  next_value_ = *next;
  measure(part);
  const bool hides = least_gain < 0 && length_ <= newton_length;
  return hides || next_value_.loss() <= value_.loss() - least_gain;
}

void FixedPoint::measure(double part) {
  const Index dimension = q_.dimension();
  const auto shift = memory_.shift.first(dimension), before = memory_.old_diagonal.first(dimension),
             after = memory_.new_diagonal.first(dimension);
  std::ranges::transform(std::as_const(*memory_.next).mean(), std::as_const(q_).mean(), shift.begin(),
                         std::minus<>());
  q_.precision_diagonal(before);
  memory_.next->precision_diagonal(after);
  length_ = std::sqrt(memory_.next->quadratic(shift, memory_.scratch)) / part;
  for (std::size_t i = 0; i < before.size(); ++i)
    length_ = std::max(length_, std::abs(after[i] / before[i] - 1) / part);
}

/// Near the optimum differences of the ELBO are rounding, so every step is accepted.
SearchEnd converge(FixedPoint& point, double tolerance, const Posterior<double>& q,
                   const Iterated& iterated) {
  constexpr double least_part = 1e-6;
  constexpr double worthwhile = 0.1;  // nats
  constexpr int patience = 8;
  double part = 1, shortest = HUGE_VAL;
  for (int waiting = 0; waiting < patience && part >= least_part;) {
    const double before = point.value().loss();
    if (!point.step(part, -point.value().rounding())) {
      part /= 2;
      continue;
    }
    if (iterated(q, point.value())) return SearchEnd::stopped;
    if (point.length() <= tolerance) return SearchEnd::converged;
    part = std::min(1.0, 2 * part);
    const bool gains = before - point.value().loss() > worthwhile;
    waiting = gains || point.length() <= shortest / 2 ? 0 : waiting + 1;
    shortest = std::min(shortest, point.length());
  }
  return SearchEnd::stuck;
}

SearchEnd end_of_search(double length) {
  constexpr double near = 1e-5;  // posterior standard deviations
  return length <= near ? SearchEnd::converged : SearchEnd::stuck;
}

}  // namespace bdl
