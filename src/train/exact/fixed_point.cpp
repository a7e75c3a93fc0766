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

NaturalStep::NaturalStep(ExactElbo& elbo, Posterior<double>& q, const ProjectionOptions& projection)
    : elbo_(elbo), q_(q), projection_(projection), next_(q.clone()) {}

void NaturalStep::take(double part) {
  PosteriorStep<double> step{q_};
  step.m = elbo_.slope();
  step.mean_rate = step.curvature_rate = part;
  step.projection = projection_;
  step.curvature = elbo_.curvature();
  elbo_.prior().enter(step);
  next_->update(step, scratch_);
}

double NaturalStep::length(double part) {
  const Index dimension = q_.dimension();
  const auto shift = shift_.first(dimension), before = old_diagonal_.first(dimension),
             after = new_diagonal_.first(dimension);
  std::ranges::transform(std::as_const(*next_).mean(), std::as_const(q_).mean(), shift.begin(),
                         std::minus<>());
  q_.precision_diagonal(before);
  next_->precision_diagonal(after);
  double length = std::sqrt(next_->quadratic(shift, scratch_)) / part;
  for (std::size_t i = 0; i < before.size(); ++i)
    length = std::max(length, std::abs(after[i] / before[i] - 1) / part);
  return length;
}

FixedPoint::FixedPoint(ExactElbo& elbo, Posterior<double>& q, const ProjectionOptions& projection)
    : elbo_(elbo), q_(q), natural_(elbo, q, projection) {}

bool FixedPoint::begin_by_quadratic() {
  const auto here = value_of([&] { return elbo_.evaluate(q_); });
  value_ = here.value_or(ExactElbo::Value{-HUGE_VAL, 0});
  if (value_of([&] { return elbo_.evaluate_quadratic(q_); }) && try_step(1, here ? value_.rounding() : 0)) {
    accept();
    return true;
  }
  begin();
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
  q_.swap(natural_.next());
  value_ = next_value_;
}

bool FixedPoint::try_step(double part, double least_gain) {
  const auto next = value_of([&] {
    natural_.take(part);
    return elbo_.evaluate(natural_.next());
  });
  if (!next) return false;  // the step is too long
  next_value_ = *next;
  length_ = natural_.length(part);
  const bool hides = least_gain < 0 && length_ <= newton_length;
  return hides || next_value_.loss() <= value_.loss() - least_gain;
}

/// Near the optimum differences of the ELBO are rounding, so every step is accepted.
SearchEnd converge(FixedPoint& point, double tolerance, const Posterior<double>& q,
                   const Iterated& iterated) {
  constexpr double least_part = 1e-6;
  constexpr double worthwhile = 0.1;  // nats
  constexpr double hidden = 1e-7;     // length of steps that do not get shorter for rounding alone
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
  return shortest <= hidden ? SearchEnd::converged : SearchEnd::stuck;
}

SearchEnd end_of_search(double length) {
  constexpr double near = 1e-5;  // posterior standard deviations
  return length <= near ? SearchEnd::converged : SearchEnd::stuck;
}

}  // namespace bdl
