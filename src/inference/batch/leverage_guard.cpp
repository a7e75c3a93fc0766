#include "inference/batch/leverage_guard.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/profile.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// Samples and seeds of an example share one row x_i, or its loss is an expectation: the leverage is that of
/// x_i.
template <class T>
bool is_by_inputs(const ExampleLosses<T>& losses) {
  return losses.estimate.merged;
}

template <class T>
bool is_expectation(const ExampleLosses<T>& losses) {
  return losses.outputs.cols == 0;
}

/// Gradients: of examples at samples, or of examples.
template <class T>
Index gradient_count(const ExampleLosses<T>& losses) {
  return is_by_inputs(losses) ? losses.y.cols : losses.outputs.cols;
}

/// Pairs of example and sample, each with a part of its own.
template <class T>
Index pair_count(const ExampleLosses<T>& losses) {
  return is_expectation(losses) ? losses.y.cols : losses.outputs.cols;
}

constexpr int most_trials = 60;
// A squared error is done after one trial; a flat loss takes some, each at least a half.
constexpr double least_factor = 0.05, first_factor = 0.9, most_factor = 0.5, slack = 1.01;

/// Of the second derivative of the loss in any direction: a(s) is at most s t times it, so that short steps
/// need no look at the loss.
double curvature_bound(const Likelihood& likelihood) {
  if (likelihood.noise_covariance().given()) return std::numeric_limits<double>::infinity();
  switch (likelihood.kind()) {
    case BDL_GAUSSIAN:
      return std::ranges::max(likelihood.noise_precision());
    case BDL_BERNOULLI:
      return 0.25;
    case BDL_CATEGORICAL:
      return 0.5;
    default:
      return std::numeric_limits<double>::infinity();
  }
}

}  // namespace

double kept_part(const Likelihood& likelihood, const double* f, const double* y, const double* e, double t,
                 double limit, double* moved) {
  const Index outputs = likelihood.outputs();
  double square = 0;
  for (Index c = 0; c < outputs; ++c) square += e[c] * e[c];
  if (!(t * square > 0)) return 1;
  const double before = -likelihood.log_density(f, y);
  double part = 1;
  for (int trial = 0; trial < most_trials; ++trial) {
    const double length = part * t, promised = length * square;
    for (Index c = 0; c < outputs; ++c) moved[c] = f[c] - length * e[c];
    const double after = -likelihood.log_density(moved, y);
    const double a = 2 * (1 + (after - before) / promised);
    if (a <= slack * limit || promised <= 1e-12 * (1 + std::abs(before))) break;
    part *= std::isfinite(a) ? std::clamp(limit / a, least_factor, trial == 0 ? first_factor : most_factor)
                             : least_factor;
  }
  return part;
}

/// Samples and seeds may share a row, or the samples may have rows of their own.
template <class T>
void LeverageGuard<T>::reserve(const Posterior<T>& metric, Index outputs, Index pairs, Index rows) {
  const Index gradients = std::min(pairs, rows);
  z_.reserve(rows);
  c_.reserve(rows);
  leverages_.reserve(gradients);
  parts_.reserve(pairs);
  which_.reserve(gradients);
  work_.reserve(4 * outputs * pairs);
  metric.reserve_leverages(gradients, scratch_);
}

/// By the bounds of the leverages first: an example that they let pass would pass by its leverage, too.
template <class T>
ConstSpan<T> LeverageGuard<T>::scale(const ExampleLosses<T>& losses, const Posterior<T>& metric, double rate,
                                     double limit) {
  const StageTimer timer(Stage::guard);
  const Estimate<T>& estimate = losses.estimate;
  const Index gradients = gradient_count(losses), rows = estimate.rows->count();
  reserve(metric, losses.likelihood.outputs(), pair_count(losses), rows);
  estimate.rows->reserve_gradients(std::min(gradients, most_gradients));
  const ConstSpan<T> z = is_by_inputs(losses) ? ConstSpan<T>(z_.first(rows)) : estimate.c;
  if (is_by_inputs(losses)) std::ranges::fill(z_.first(rows), T(1));
  const auto leverages = leverages_.first(gradients);
  const bool exact = metric.bound_leverages(*estimate.rows, z, leverages, scratch_);
  find_parts(losses, rate, limit);
  collect_held(gradients, pair_count(losses));
  if (held_count_ > 0 && !exact) {
    metric.leverages(*estimate.rows, z, std::as_const(which_).first(held_count_), leverages, scratch_);
    find_parts(losses, rate, limit);
  }
  held_ = std::ranges::any_of(parts_.first(pair_count(losses)), [](double part) { return part < 1; });
  if (!held_) return estimate.c;
  if (is_by_inputs(losses) && !is_expectation(losses))
    merge_scaled(losses);
  else
    scale_rows(losses);
  return c_.first(rows);
}

template <class T>
void LeverageGuard<T>::find_parts(const ExampleLosses<T>& losses, double rate, double limit) {
  const Index densities = losses.likelihood.outputs() * 3;
  parallel_blocks(pair_count(losses), task_grain(32 * densities), [&](Index first, Index count) noexcept {
    for (Index j = first; j < first + count; ++j) find_part(losses, j, rate, limit);
  });
}

/// The rows hold weight / S times the gradients, so the leverages its square. An expected loss is taken as
/// the quadratic that its gradient and Hessian make.
template <class T>
void LeverageGuard<T>::find_part(const ExampleLosses<T>& losses, Index j, double rate, double limit) {
  const Index examples = losses.y.cols, outputs = losses.likelihood.outputs();
  const double leverage = leverages_.data()[is_by_inputs(losses) ? j % examples : j], weight = losses.weight;
  double& part = parts_.data()[j];
  part = 1;
  if (is_expectation(losses)) {
    const double a = rate * leverage * static_cast<double>(losses.estimate.w[static_cast<std::size_t>(j)]);
    if (!(a <= slack * limit)) part = std::isfinite(a) ? limit / a : 0;
    return;
  }
  const double longest = limit / curvature_bound(losses.likelihood);
  if (is_by_inputs(losses) && rate * weight * leverage <= longest) return;
  double *f = work_.data() + 4 * outputs * j, *e = f + outputs, *moved = e + outputs, *y = moved + outputs;
  std::ranges::copy(losses.outputs.column(j), f);
  std::ranges::copy(losses.y.column(j % examples), y);
  losses.likelihood.gradient(f, y, e);
  double square = 0;
  for (Index c = 0; c < outputs; ++c) square += e[c] * e[c];
  if (!(square > 0)) return;
  const double scale = weight * static_cast<double>(examples) / static_cast<double>(losses.outputs.cols);
  const double t = rate * weight * (is_by_inputs(losses) ? leverage : leverage / (scale * scale * square));
  if (!std::isfinite(t))
    part = 0;  // only a bound so far, or overflow
  else if (t > longest)
    part = kept_part(losses.likelihood, f, y, e, t, limit, moved);
}

/// Gradients some part of which was held back.
template <class T>
void LeverageGuard<T>::collect_held(Index gradients, Index pairs) {
  held_count_ = 0;
  for (Index j = 0; j < gradients; ++j) {
    bool held = false;
    for (Index pair = j; pair < pairs; pair += gradients) held = held || parts_.data()[pair] < 1;
    if (held) which_.data()[held_count_++] = j;
  }
}

template <class T>
void LeverageGuard<T>::scale_rows(const ExampleLosses<T>& losses) {
  const Index pairs = pair_count(losses);
  const ConstSpan<T> c = losses.estimate.c;
  for (std::size_t r = 0; r < c.size(); ++r)
    c_.data()[r] = static_cast<T>(parts_.data()[static_cast<Index>(r) % pairs]) * c[r];
}

/// c_i = weight / S sum_s s_is e_is.
template <class T>
void LeverageGuard<T>::merge_scaled(const ExampleLosses<T>& losses) {
  const Index pairs = pair_count(losses), examples = losses.y.cols;
  const double scale = losses.weight * static_cast<double>(examples) / static_cast<double>(pairs);
  for (Index i = 0; i < examples; ++i) {
    double sum = 0;
    for (Index j = i; j < pairs; j += examples) {
      T e = 0;
      losses.likelihood.gradient(losses.outputs.column_data(j), losses.y.column_data(i), &e);
      sum += parts_.data()[j] * static_cast<double>(e);
    }
    c_.data()[i] = static_cast<T>(scale * sum);
  }
}

template class LeverageGuard<float>;
template class LeverageGuard<double>;

}  // namespace bdl
