#include "train/exact/scales/shape_search.hpp"

#include <algorithm>
#include <cmath>

namespace bdl {
namespace {

/// Distance from the best shape, in standard deviations, at which a search ends.
constexpr double near_shape = 1e-8;

}  // namespace

SearchEnd ShapeSearch::run(const Iterated& iterated) {
  constexpr int most_rounds = 1000;
  constexpr std::size_t most_points = 6;
  constexpr double rough = 0.1;  // of the distance to the best shape: a step this long leaves its square
  Options options = fit_.options;
  const double least = options.tolerance;
  options.tolerance = std::max(least, rough);
  AcceleratedSteps steps(most_points);
  if (fit_.is_continued) set(next_shape().shape);
  for (int round = 0; round < most_rounds; ++round) {
    const SearchEnd end = search_posterior(fit_.elbo, fit_.q, options, iterated, round > 0);
    if (end == SearchEnd::stopped) return end;
    const ShapeStep step = next_shape();
    const bool is_near = step.distance <= std::max(least, near_shape);
    if (is_near && options.tolerance == least) return end;
    options.tolerance = is_near ? least : std::max(least, std::min(rough, rough * step.distance));
    set(accelerated(step, steps));
  }
  return SearchEnd::stuck;
}

/// Returns the shape after an accelerated step, or after the plain one where that would be too long.
std::vector<double> ShapeSearch::accelerated(const ShapeStep& step, AcceleratedSteps& steps) const {
  constexpr double longest = 10;  // plain steps
  const Likelihood& likelihood = fit_.likelihood;
  const std::vector<double> now = learned_numbers(likelihood, likelihood.shape()),
                            plain = learned_numbers(likelihood, step.shape);
  std::vector<double> change(now.size());
  double size = 0, length = 0;
  for (std::size_t k = 0; k < now.size(); ++k) change[k] = plain[k] - now[k];
  const std::vector<double> next = steps.next(now, change);
  for (std::size_t k = 0; k < now.size(); ++k) {
    size = std::max(size, std::abs(change[k]));
    length = std::max(length, std::abs(next[k] - now[k]));
  }
  if (length <= longest * size && are_learned_numbers(likelihood, next)) return shape_of(likelihood, next);
  steps.forget();
  return step.shape;
}

void ShapeSearch::set(ConstSpan<double> shape) {
  Likelihood next = fit_.likelihood;
  next.learn_shape(shape);
  fit_.set(std::move(next));
}

}  // namespace bdl
