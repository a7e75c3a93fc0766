#include "inference/exact/low_rank_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "optimize/minimize.hpp"
#include "rng/philox.hpp"

namespace bdl {
namespace {

double length(ConstSpan<double> a) {
  return std::sqrt(std::inner_product(a.begin(), a.end(), a.begin(), 0.0));
}

/// Below 1e-6 of what the precision's diagonal is about, too few digits of diag(Sigma) are left, and d is as
/// good as 0.
std::vector<double> least_diagonal(std::vector<double> typical) {
  for (double& value : typical) value *= 1e-6;
  return typical;
}

std::vector<double> copy_of(ConstSpan<double> values) {
  return {values.begin(), values.end()};
}

/// In the chart, U = 0 and a d at its bound are stationary whatever the ELBO: a search must not begin there.
/// (It may end with a d at its bound, where U has the precision of that parameter.)
void leave_saddle(LowRankPosterior<double>& q, ConstSpan<double> typical) {
  constexpr double low = 1e-5, raised = 1e-2, length = 0.1;
  const Index dimension = q.dimension(), size = q.u().size();
  Buffer<double> u(size), d(dimension), diagonal(dimension);
  std::ranges::copy(q.d(), d.data());
  q.precision_diagonal(diagonal.first(dimension));
  bool moved = false;
  for (Index i = 0; i < dimension; ++i) {
    const double usual = typical[static_cast<std::size_t>(i)];
    if (diagonal.data()[i] > low * usual) continue;
    d.data()[i] = raised * usual;
    moved = true;
  }
  std::copy_n(q.u().data, size, u.data());
  if (size > 0 && std::all_of(u.data(), u.data() + size, [](double value) { return value == 0; })) {
    fill_normal({1, Stream::initialization, 0, 0}, 0, u.first(size));
    for (Index k = 0; k < size; ++k)
      u.data()[k] *= length * std::sqrt(d.data()[k % dimension] / static_cast<double>(dimension));
    moved = true;
  }
  if (moved) q.set_precision(u.matrix(dimension, q.rank()), d.first(dimension));
}

}  // namespace

LowRankSearch::LowRankSearch(ExactElbo& elbo, LowRankPosterior<double>& q, double tolerance,
                             const Iterated& iterated)
    : LowRankSearch(elbo, q, tolerance, iterated, copy_of(elbo.typical_precision())) {}

LowRankSearch::LowRankSearch(ExactElbo& elbo, LowRankPosterior<double>& q, double tolerance,
                             const Iterated& iterated, std::vector<double> typical)
    : elbo_(elbo),
      q_(q),
      tolerance_(tolerance),
      iterated_(iterated),
      chart_(q.rank(), least_diagonal(typical)) {
  leave_saddle(q, typical);
  points_.reserve(chart_.size());
  z_ = points_.memory.first(chart_.size());
  here_ = {z_.data() + z_.size(), z_.size()};
  gradient_here_ = {here_.data() + z_.size(), z_.size()};
  std::fill_n(z_.data(), 3 * z_.size(), 0.0);
}

Index LowRankSearch::bytes(Index dimension, Index rank) {
  const Index coordinates = dimension * (rank + 2);
  return bytes_to_reserve<Points>(coordinates) + bytes_to_reserve<LowRankChart>(dimension, rank) +
         bytes_to_reserve<LowRankGradient>(dimension, rank) + minimization_bytes(coordinates);
}

/// One descent after the other, each in the chart of where the last one ended.
SearchEnd LowRankSearch::run() {
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

/// z = 0 is q, and what a displacement of nothing changes in the gradient is noise.
void LowRankSearch::center() {
  constexpr double next_to_nothing = 1e-15;
  chart_.center(q_);
  const auto gradient_at = [this](double offset, std::span<double> gradient) {
    std::ranges::fill(z_, offset);
    chart_.place(z_, 1, q_);
    start_ = last_ = gradient_.compute(elbo_, q_);
    chart_.pull_back(gradient_.mean(), gradient_.u(), gradient_.d(), gradient);
  };
  gradient_at(next_to_nothing, here_);
  gradient_at(0, gradient_here_);
  scale_ = length(gradient_here_);
  std::ranges::transform(here_, gradient_here_, here_.begin(), std::minus<>());
  noise_ = length(here_);
}

/// True if it was long or short enough, false if no step descends any further.
bool LowRankSearch::descend(Values values, double enough) {
  values_ = values;
  enough_ = enough;
  std::ranges::fill(here_, 0.0);
  for (double& slope : gradient_here_) slope /= scale_;
  value_here_ = lowest_ = 0;
  shortest_ = 1;
  waiting_ = 0;
  const bool ended =
      minimize({[this](ConstSpan<double> z, std::span<double> gradient) { return evaluate(z, gradient); },
                [this](ConstSpan<double> z, ConstSpan<double> gradient) { return report(z, gradient); }},
               z_);
  chart_.place(z_, scale_, q_);
  return ended;
}

double LowRankSearch::integrated_change(ConstSpan<double> z, ConstSpan<double> gradient) const {
  double sum = 0;
  for (std::size_t i = 0; i < z.size(); ++i) sum += (gradient[i] + gradient_here_[i]) * (z[i] - here_[i]);
  return sum / 2;
}

double LowRankSearch::evaluate(ConstSpan<double> z, std::span<double> gradient) {
  try {
    chart_.place(z, scale_, q_);
    last_ = gradient_.compute(elbo_, q_);
  } catch (const Error& error) {
    if (error.status() != Status::ERROR_DIVERGED) throw;
    return HUGE_VAL;
  }
  chart_.pull_back(gradient_.mean(), gradient_.u(), gradient_.d(), gradient);
  for (double& slope : gradient) slope /= scale_;
  return values_ == Values::computed ? (last_.loss() - start_.loss()) / (scale_ * scale_)
                                     : value_here_ + integrated_change(z, gradient);
}

bool LowRankSearch::report(ConstSpan<double> z, ConstSpan<double> gradient) {
  value_here_ = values_ == Values::computed ? (last_.loss() - start_.loss()) / (scale_ * scale_)
                                            : value_here_ + integrated_change(z, gradient);
  std::ranges::copy(z, here_.begin());
  std::ranges::copy(gradient, gradient_here_.begin());
  stopped_ = iterated_(q_, last_);
  const double now = length(gradient);
  return stopped_ || scale_ * now <= enough_ || is_stuck(value_here_, now);
}

/// Neither a lower value nor a shorter gradient for a while: rounding, or a chart that does not fit here.
bool LowRankSearch::is_stuck(double value, double length) {
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
