#include "train/exact/descent_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "optimize/minimize.hpp"

namespace bdl {
namespace {

double norm(ConstSpan<double> a) {
  return std::sqrt(std::inner_product(a.begin(), a.end(), a.begin(), 0.0));
}

}  // namespace

DescentSearch::DescentSearch(Coordinates& coordinates, const Posterior<double>& q, double tolerance,
                             const Iterated& iterated, Index pairs)
    : coordinates_(coordinates), q_(q), tolerance_(tolerance), pairs_(pairs), iterated_(iterated) {
  points_.reserve(coordinates.size());
  z_ = points_.memory.first(coordinates.size());
  here_ = {z_.data() + z_.size(), z_.size()};
  gradient_here_ = {here_.data() + z_.size(), z_.size()};
  std::fill_n(z_.data(), 3 * z_.size(), 0.0);
}

/// Runs descents one after the other, each in the chart around the posterior where the last one ended.
SearchEnd DescentSearch::run() {
  Values values = Values::computed;
  for (double last_scale = HUGE_VAL, last_loss = HUGE_VAL;;) {
    center();
    const double shortest = std::max(tolerance_, 10 * noise_);
    if (scale_ <= shortest) return scale_ <= tolerance_ ? SearchEnd::converged : end_of_search(scale_);
    const double visible = std::sqrt(1e5 * start_.rounding());
    const bool fell = last_loss - start_.loss() > 100 * start_.rounding();
    if (values == Values::integrated && !fell && scale_ > last_scale / 2) return end_of_search(scale_);
    if (scale_ <= visible || !fell) values = Values::integrated;
    last_scale = scale_;
    last_loss = start_.loss();
    if (!descend(values, values == Values::computed ? visible / 2 : shortest / 2))
      values = Values::integrated;
    if (stopped_) return SearchEnd::stopped;
  }
}

/// Makes q the chart's origin, and computes the natural gradient there. Its change at a distance of next to
/// nothing is its noise.
void DescentSearch::center() {
  constexpr double next_to_nothing = 1e-15;
  coordinates_.center();
  const auto gradient_at = [this](double offset, std::span<double> gradient) {
    std::ranges::fill(z_, offset);
    coordinates_.place(z_, 1);
    start_ = last_ = coordinates_.differentiate(gradient);
  };
  gradient_at(next_to_nothing, here_);
  gradient_at(0, gradient_here_);
  scale_ = norm(gradient_here_);
  std::ranges::transform(here_, gradient_here_, here_.begin(), std::minus<>());
  noise_ = norm(here_);
}

/// Runs one descent in the present chart. Returns true if its gradient became short enough, false if no step
/// descends further.
bool DescentSearch::descend(Values values, double enough) {
  values_ = values;
  enough_ = enough;
  std::ranges::fill(here_, 0.0);
  for (double& slope : gradient_here_) slope /= scale_;
  value_here_ = lowest_ = 0;
  shortest_ = 1;
  waiting_ = 0;
  const bool ended = minimize(
      {[this](ConstSpan<double> z, std::span<double> gradient) { return evaluate(z, gradient); },
       [this](ConstSpan<double> z, ConstSpan<double> gradient) { return report(z, gradient); }, pairs_},
      z_);
  coordinates_.place(z_, scale_);
  if (uncommitted_ > 0 && !stopped_) commit();
  return ended;
}

double DescentSearch::integrated_change(ConstSpan<double> z, ConstSpan<double> gradient) const {
  double sum = 0;
  for (std::size_t i = 0; i < z.size(); ++i) sum += (gradient[i] + gradient_here_[i]) * (z[i] - here_[i]);
  return sum / 2;
}

double DescentSearch::evaluate(ConstSpan<double> z, std::span<double> gradient) {
  try {
    coordinates_.place(z, scale_);
    last_ = coordinates_.differentiate(gradient);
  } catch (const Error& error) {
    if (error.status() != Status::ERROR_DIVERGED) throw;
    return HUGE_VAL;
  }
  for (double& slope : gradient) slope /= scale_;
  return values_ == Values::computed ? (last_.loss() - start_.loss()) / (scale_ * scale_)
                                     : value_here_ + integrated_change(z, gradient);
}

bool DescentSearch::report(ConstSpan<double> z, ConstSpan<double> gradient) {
  value_here_ = values_ == Values::computed ? (last_.loss() - start_.loss()) / (scale_ * scale_)
                                            : value_here_ + integrated_change(z, gradient);
  std::ranges::copy(z, here_.begin());
  std::ranges::copy(gradient, gradient_here_.begin());
  reported_ = last_;
  if (++uncommitted_ == together) commit();
  const double now = norm(gradient);
  return stopped_ || scale_ * now <= enough_ || is_stuck(value_here_, now);
}

void DescentSearch::commit() {
  uncommitted_ = 0;
  stopped_ = iterated_(q_, reported_);
}

/// True if neither value nor gradient has decreased for a while: rounding, or a chart that does not fit
/// here.
bool DescentSearch::is_stuck(double value, double length) {
  constexpr int patience = 60;
  const bool better = value < lowest_ - 1e-3 || length < shortest_ / 2;
  waiting_ = better ? 0 : waiting_ + 1;
  if (better) {
    lowest_ = std::min(lowest_, value);
    shortest_ = std::min(shortest_, length);
  }
  return waiting_ > patience;
}

}  // namespace bdl
