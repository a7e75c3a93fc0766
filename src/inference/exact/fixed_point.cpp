#include "inference/exact/fixed_point.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace bdl {

FixedPoint::FixedPoint(ExactElbo& elbo, Posterior<double>& q, const ProjectionOptions& projection)
    : elbo_(elbo), q_(q), projection_(projection), value_(elbo.evaluate(q)) {
  memory_.reserve(q, elbo.step_size(q, projection));
}

void FixedPoint::Memory::reserve(const Posterior<double>& q, const StepSize& step) {
  reserve_copy(q, next);
  for (Buffer<double>* buffer : {&shift, &old_diagonal, &new_diagonal}) buffer->reserve(q.dimension());
  q.reserve_step(step, workspace);
}

Index FixedPoint::bytes(const Posterior<double>& q, const StepSize& step) {
  return bytes_to_reserve<Memory>(q, step);
}

bool FixedPoint::step(double part, double least_gain) {
  ExactElbo::Value next_value;
  if (!try_step(part, least_gain, next_value)) {
    value_ = elbo_.evaluate(q_);
    return false;
  }
  measure(part);
  q_.swap(*memory_.next);
  value_ = next_value;
  return true;
}

bool FixedPoint::try_step(double part, double least_gain, ExactElbo::Value& next_value) {
  PosteriorStep<double> step{q_};
  step.m = elbo_.slope();
  step.mean_rate = step.curvature_rate = part;
  step.projection = projection_;
  try {
    step.curvature = elbo_.curvature();
    elbo_.prior().enter(step);
    memory_.next->take(step, memory_.workspace);
    next_value = elbo_.evaluate(*memory_.next);
  } catch (const Error& error) {
    if (error.status() != Status::ERROR_DIVERGED) throw;
    return false;  // too long
  }
  return next_value.loss() <= value_.loss() - least_gain;
}

void FixedPoint::measure(double part) {
  const Index dimension = q_.dimension();
  const auto shift = memory_.shift.first(dimension), before = memory_.old_diagonal.first(dimension),
             after = memory_.new_diagonal.first(dimension);
  std::ranges::transform(std::as_const(*memory_.next).mean(), std::as_const(q_).mean(), shift.begin(),
                         std::minus<>());
  q_.precision_diagonal(before);
  memory_.next->precision_diagonal(after);
  length_ = std::sqrt(memory_.next->quadratic(shift, memory_.workspace.scratch)) / part;
  for (std::size_t i = 0; i < before.size(); ++i)
    length_ = std::max(length_, std::abs(after[i] / before[i] - 1) / part);
}

/// Near the optimum the ELBO cannot tell steps apart: there, steps that get longer are damped, and the
/// search ends where none has been the shortest for a while.
SearchEnd converge(FixedPoint& point, double tolerance, const Posterior<double>& q,
                   const Iterated& iterated) {
  constexpr double least_part = 1e-6;
  constexpr int patience = 10;
  double part = 1, shortest = HUGE_VAL, last = HUGE_VAL;
  for (int waiting = 0; waiting < patience;) {
    const double before = point.value().loss(), rounding = point.value().rounding();
    if (!point.step(part, -rounding)) {
      part /= 2;
      if (part < least_part) fail(Status::ERROR_DIVERGED, "no step raises the ELBO");
      continue;
    }
    const bool tie = before - point.value().loss() <= rounding;
    if (iterated(q, point.value())) return SearchEnd::stopped;
    if (point.length() <= tolerance) return SearchEnd::converged;
    part = tie && point.length() > last ? part / 2 : tie ? part : std::min(1.0, 2 * part);
    last = point.length();
    waiting = tie && last >= shortest ? waiting + 1 : 0;
    shortest = std::min(shortest, last);
  }
  return end_of_search(shortest);
}

SearchEnd end_of_search(double length) {
  constexpr double near = 1e-5;  // posterior standard deviations
  if (!(length <= near))
    fail(Status::ERROR_DIVERGED,
         "rounding hides the ELBO's optimum: the search ended where the natural gradient has length %g",
         length);
  return SearchEnd::converged;
}

}  // namespace bdl
