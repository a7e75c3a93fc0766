#include <algorithm>
#include <cmath>
#include <limits>

#include "base/profile.hpp"
#include "parallel/parallel.hpp"
#include "posterior/leverages.hpp"
#include "steps/guard.hpp"

namespace bdl {
namespace {

constexpr int most_trials = 60;
// The first trial multiplies s by least_factor .. first_factor, later ones by at most most_factor. A
// squared error needs one trial, a flat loss several. `slack` is the tolerance of the limit.
constexpr double least_factor = 0.05, first_factor = 0.9, most_factor = 0.5, slack = 1.01;

/// The examples of one step. A pair is one example at one posterior sample; each pair has a fraction s.
template <class T>
struct GuardedStep {
  const Likelihood& likelihood;
  const Evidence<T>& evidence;
  double rate, limit;
  std::span<double> leverages, fractions, work;  // one a gradient, one a pair, 4 C numbers a pair

  /// True if the loss of an example is an expectation over the posterior, not an average over samples.
  bool is_expectation() const { return evidence.outputs.cols == 0; }
  /// True if all samples of an example share one row x_i; the leverage is then that of x_i.
  bool is_by_inputs() const { return evidence.estimate.merged; }
  Index examples() const { return evidence.y.cols; }
  Index pairs() const { return is_expectation() ? examples() : evidence.outputs.cols; }
  Index gradients() const { return is_by_inputs() ? examples() : evidence.outputs.cols; }

  void find_fractions() const {
    const Index densities = likelihood.outputs() * 3;
    parallel_blocks(pairs(), task_grain(32 * densities), [&](Index first, Index count) noexcept {
      for (Index j = first; j < first + count; ++j) fractions[at(j)] = fraction_of(j);
    });
  }
  double fraction_of(Index j) const;
  bool is_held(Index gradient) const {
    bool held = false;
    for (Index pair = gradient; pair < pairs(); pair += gradients()) held = held || fractions[at(pair)] < 1;
    return held;
  }
  void scale_rows(std::span<T> c) const;
  void merge_scaled(std::span<T> c) const;
};

/// Returns s of pair j. Rows hold the gradients times weight / S, so leverages hold the square of that
/// factor. An expected loss is approximated by the quadratic of its gradient and Hessian. A row that counts
/// several times is held back as far as it would be if it stood there so often.
template <class T>
double GuardedStep<T>::fraction_of(Index j) const {
  const Index outputs = likelihood.outputs();
  const double leverage = leverages[at(is_by_inputs() ? j % examples() : j)], weight = evidence.weight,
               times = likelihood.weight(evidence.y.column_data(j % examples()));
  if (times == 0) return 1;
  if (is_expectation()) {
    const double a = rate * leverage * static_cast<double>(evidence.estimate.w[at(j)]) / times;
    return a <= slack * limit ? 1 : std::isfinite(a) ? limit / a : 0;
  }
  // a(s) is at most s t times a bound of the loss's curvature, so short steps pass without an evaluation of
  // the loss.
  const double longest = limit / likelihood.curvature_bound();
  if (is_by_inputs() && rate * weight * leverage <= longest) return 1;
  double *f = work.data() + 4 * outputs * j, *e = f + outputs, *moved = e + outputs, *y = moved + outputs;
  std::ranges::copy(evidence.outputs.column(j), f);
  std::copy_n(evidence.y.column_data(j % examples()), likelihood.targets(), y);
  likelihood.gradient(f, y, e);
  double square = 0;
  for (Index c = 0; c < outputs; ++c) square += e[c] * e[c];
  if (!(square > 0)) return 1;
  const double scale =
      times * weight * static_cast<double>(examples()) / static_cast<double>(evidence.outputs.cols);
  const double t = rate * weight * (is_by_inputs() ? leverage : leverage / (scale * scale * square));
  if (!std::isfinite(t)) return 0;  // t is an infinite bound so far, or has overflowed
  return t > longest ? kept_fraction(likelihood, f, y, e, t, limit, moved) : 1;
}

/// Writes the rows' coefficients, each times the fraction of its pair.
template <class T>
void GuardedStep<T>::scale_rows(std::span<T> c) const {
  const ConstSpan<T> all = evidence.estimate.c;
  for (std::size_t r = 0; r < c.size(); ++r)
    c[r] = static_cast<T>(fractions[at(static_cast<Index>(r) % pairs())]) * all[r];
}

/// Writes c_i = weight / S sum_s s_is e_is, where s_is is the fraction of example i at sample s.
template <class T>
void GuardedStep<T>::merge_scaled(std::span<T> c) const {
  const double scale = evidence.weight * static_cast<double>(examples()) / static_cast<double>(pairs());
  for (Index i = 0; i < examples(); ++i) {
    double sum = 0;
    for (Index j = i; j < pairs(); j += examples()) {
      T e = 0;
      likelihood.gradient(evidence.outputs.column_data(j), evidence.y.column_data(i), &e);
      sum += fractions[at(j)] * static_cast<double>(e);
    }
    c[at(i)] = static_cast<T>(scale * likelihood.weight(evidence.y.column_data(i)) * sum);
  }
}

}  // namespace

double kept_fraction(const Likelihood& likelihood, const double* f, const double* y, const double* e,
                     double t, double limit, double* moved) {
  const Index outputs = likelihood.outputs();
  double square = 0;
  for (Index c = 0; c < outputs; ++c) square += e[c] * e[c];
  if (!(t * square > 0)) return 1;
  const double before = -likelihood.log_density(f, y);
  double fraction = 1;
  for (int trial = 0; trial < most_trials; ++trial) {
    const double length = fraction * t, promised = length * square;
    for (Index c = 0; c < outputs; ++c) moved[c] = f[c] - length * e[c];
    const double after = -likelihood.log_density(moved, y);
    const double a = 2 * (1 + (after - before) / promised);
    if (a <= slack * limit || promised <= 1e-12 * (1 + std::abs(before))) break;
    fraction *= std::isfinite(a)
                    ? std::clamp(limit / a, least_factor, trial == 0 ? first_factor : most_factor)
                    : least_factor;
  }
  return fraction;
}

/// Computes upper bounds of the leverages first. Only examples that these would hold back need their exact
/// leverage.
template <class T>
GuardedCoefficients<T> guard_examples(const Likelihood& likelihood, const Evidence<T>& evidence,
                                      const Posterior<T>& metric, double rate, double limit,
                                      Scratch& scratch) {
  const StageTimer timer(Stage::guard);
  const Estimate<T>& estimate = evidence.estimate;
  GuardedStep<T> step{likelihood, evidence, rate, limit, {}, {}, {}};
  const Index gradients = step.gradients(), pairs = step.pairs(), rows = estimate.rows->count();
  const auto scaled = scratch.take<T>(rows);
  const Scratch::Frame frame(scratch);
  step.leverages = scratch.take<double>(gradients);
  step.fractions = scratch.take<double>(pairs);
  step.work = scratch.take<double>(4 * likelihood.outputs() * pairs);
  ConstSpan<T> z = estimate.c;
  if (step.is_by_inputs()) {
    const auto ones = scratch.take<T>(rows);
    std::ranges::fill(ones, T(1));
    z = ones;
  }
  const bool exact = bound_leverages(metric, *estimate.rows, z, step.leverages, scratch);
  step.find_fractions();
  const auto held = scratch.take<Index>(gradients);
  Index held_count = 0;
  for (Index j = 0; j < gradients; ++j)
    if (step.is_held(j)) held[at(held_count++)] = j;
  if (held_count > 0 && !exact) {
    find_leverages<T>(metric, *estimate.rows, z, held.first(at(held_count)), step.leverages, scratch);
    step.find_fractions();
  }
  if (std::ranges::none_of(step.fractions, [](double fraction) { return fraction < 1; }))
    return {estimate.c, false};
  if (step.is_by_inputs() && !step.is_expectation())
    step.merge_scaled(scaled);
  else
    step.scale_rows(scaled);
  return {scaled, true};
}

#define BDL_INSTANTIATE(T)                                                                                   \
  template GuardedCoefficients<T> guard_examples(const Likelihood&, const Evidence<T>&, const Posterior<T>&, \
                                                 double, double, Scratch&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
