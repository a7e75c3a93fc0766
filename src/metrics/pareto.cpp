#include "metrics/pareto.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace bdl {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Fewest large ratios to which a distribution is fitted.
constexpr std::size_t fewest_in_tail = 5;

/// Returns mean log(1 - theta x), the shape for theta = -k / sigma.
double shape_at(double theta, ConstSpan<double> x) {
  double sum = 0;
  for (const double value : x) sum += std::log1p(-theta * value);
  return sum / static_cast<double>(x.size());
}

/// Returns the quantile at p.
double pareto_quantile(const ParetoFit& fit, double p) {
  if (fit.shape == 0) return -fit.scale * std::log1p(-p);
  return fit.scale * std::expm1(-fit.shape * std::log1p(-p)) / fit.shape;
}

}  // namespace

double log_sum_exp(ConstSpan<double> values) {
  const double top = *std::ranges::max_element(values);
  if (!std::isfinite(top)) return top;
  double sum = 0;
  for (const double value : values) sum += std::exp(value - top);
  return top + std::log(sum);
}

/// The prior on theta is that of Zhang and Stephens (2009): a grid of quantiles, weighted by profile
/// likelihoods.
ParetoFit fit_pareto(ConstSpan<double> sorted) {
  constexpr double spread = 3, prior_size = 10, prior_shape = 0.5;
  const auto n = static_cast<double>(sorted.size());
  const double largest = sorted.back();
  const double quarter = sorted[static_cast<std::size_t>(std::floor(n / 4 + 0.5)) - 1];
  const double points = 30 + std::floor(std::sqrt(n));
  std::vector<double> theta, log_weight;
  for (double j = 1; j <= points; ++j) {
    const double t = 1 / largest + (1 - std::sqrt(points / (j - 0.5))) / spread / quarter;
    const double k = shape_at(t, sorted);
    theta.push_back(t);
    log_weight.push_back(n * (std::log(-t / k) - k - 1));
  }
  const double total = log_sum_exp(log_weight);
  double t = 0;
  for (std::size_t j = 0; j < theta.size(); ++j) t += theta[j] * std::exp(log_weight[j] - total);
  const double shape = shape_at(t, sorted), scale = -shape / t;
  const double drawn = (n * shape + prior_size * prior_shape) / (n + prior_size);
  return {std::isnan(drawn) ? infinity : drawn, scale};
}

ParetoSmoother::ParetoSmoother(Index draws)
    : tail_(static_cast<std::size_t>(
          std::ceil(std::min(0.2 * static_cast<double>(draws), 3 * std::sqrt(static_cast<double>(draws)))))),
      order_(static_cast<std::size_t>(draws)),
      excess_(tail_) {}

double ParetoSmoother::operator()(std::span<double> log_ratios) {
  const double top = *std::ranges::max_element(log_ratios);
  for (double& value : log_ratios) value -= top;
  double shape = infinity;
  if (tail_ >= fewest_in_tail) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    const auto by_ratio = [&](std::size_t a, std::size_t b) {
      return log_ratios[a] < log_ratios[b] || (log_ratios[a] == log_ratios[b] && a < b);
    };
    const auto begin = order_.end() - static_cast<std::ptrdiff_t>(tail_);
    std::nth_element(order_.begin(), begin - 1, order_.end(), by_ratio);
    std::sort(begin, order_.end(), by_ratio);
    const double cutoff = std::exp(log_ratios[*(begin - 1)]);
    for (std::size_t j = 0; j < tail_; ++j)
      excess_[j] = std::exp(log_ratios[begin[static_cast<std::ptrdiff_t>(j)]]) - cutoff;
    if (log_ratios[order_.back()] - log_ratios[*begin] < std::numeric_limits<double>::epsilon() / 100) {
      shape = 0;
    } else {
      const ParetoFit fit = fit_pareto(excess_);
      shape = fit.shape;
      for (std::size_t j = 0; std::isfinite(shape) && j < tail_; ++j) {
        const double p = (static_cast<double>(j) + 0.5) / static_cast<double>(tail_);
        const double smoothed = std::log(pareto_quantile(fit, p) + cutoff);
        log_ratios[begin[static_cast<std::ptrdiff_t>(j)]] = std::min(smoothed, 0.0);
      }
    }
  }
  const double total = log_sum_exp(log_ratios);
  for (double& value : log_ratios) value -= total;
  return shape;
}

}  // namespace bdl
