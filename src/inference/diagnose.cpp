#include "inference/diagnose.hpp"

#include <cmath>

#include "inference/rule.hpp"

namespace bdl {
namespace {

constexpr double moved = 0.1;       // posterior standard deviations
constexpr double old_weight = 0.5;  // share of the initial precision in the present one

const char* advice(Index steps, bool mean_moved, bool precision_moved) {
  if (steps == 0) return "no step has been taken: the posterior is its initialisation";
  if (!mean_moved && !precision_moved)
    return "mean and precision still are their initialisation: train for more steps, or raise learning_rate "
           "and "
           "curvature_rate";
  if (!mean_moved)
    return "the mean still is its initialisation (within 0.1 posterior standard deviations): train for more "
           "steps, "
           "raise learning_rate, or lower initial_precision or the noise precision";
  if (!precision_moved)
    return "the precision still is its initialisation: the predictive uncertainty is not learned; train for "
           "more steps "
           "or raise curvature_rate";
  return "";
}

}  // namespace

template <class T>
Diagnosis diagnose(const Optimizer<T>& optimizer) {
  const Posterior<T>& q = *optimizer.posterior();
  Buffer<T> precision(q.dimension());
  q.precision_diagonal(precision.first(q.dimension()));
  double mean = 0, ratio = 0;
  for (Index i = 0; i < q.dimension(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    const auto now = static_cast<double>(precision.data()[i]);
    mean += std::pow(static_cast<double>(q.mean()[k] - optimizer.initial_mean()[k]), 2) * now;
    ratio += std::pow(std::log(now / static_cast<double>(optimizer.initial_precision()[k])), 2);
  }
  const auto dimension = static_cast<double>(q.dimension());
  const double mean_shift = std::sqrt(mean / dimension), precision_shift = std::sqrt(ratio / dimension);
  // The mode has no precision to move, and plain gradients keep no share of the initial one.
  const auto rule = static_cast<Rule>(optimizer.options().rule);
  const bool precision_moved = rule == Rule::map   ? true
                               : rule == Rule::bbb ? precision_shift >= moved
                                                   : optimizer.state.start_weight < old_weight;
  return {mean_shift, precision_shift, advice(optimizer.state.step, mean_shift >= moved, precision_moved)};
}

template Diagnosis diagnose(const Optimizer<float>&);
template Diagnosis diagnose(const Optimizer<double>&);

}  // namespace bdl
