#include "train/stream/residual_noise.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "network/shape.hpp"
#include "train/scales.hpp"

namespace bdl {
namespace {

// The noise at the start counts as this many residuals of its size.
constexpr double prior_count = 4;
// Weight g of a residual: with 2 the n-th counts n times as much as the first, which a network had not
// learned to predict yet. With 1 all would count alike.
constexpr double growth = 2;
// Largest residual in predicted deviations; those of normal noise are hardly ever larger.
constexpr double most_deviations = 5;
// Largest noise that an observation is given, in units of that of former ones.
constexpr double most_rise = 2;
// Smallest noise, in variances of the targets.
constexpr double least_share = 1e-8;

/// Returns u^2 (r^2 - S - R) for the predicted variance S + R, with less of outliers: by the weight of
/// Student's t, or up to a limit. Beyond the limit S is no more right than R is, and u is taken as 1.
double correction(const Likelihood& likelihood, double residual, double predicted, double share) {
  constexpr double limit = most_deviations * most_deviations;
  const double square = residual * residual;
  if (likelihood.kind() == BDL_GAUSSIAN) {
    if (square > limit * predicted) return (limit - 1) * predicted;
    return share * share * (square - predicted);
  }
  const double nu = likelihood.degrees_of_freedom();
  return share * share * ((nu + 1) / (nu / square + 1 / predicted) - predicted);
}

}  // namespace

namespace {

/// Returns the rate of as many residuals as the weight says.
double weighted(double rate, double weight) {
  return weight == 1 ? rate : 1 - std::pow(1 - rate, weight);
}

}  // namespace

void ResidualNoise::begin(const Likelihood& likelihood) {
  precision_.assign(likelihood.noise_precision().begin(), likelihood.noise_precision().end());
  noise_.clear();
  for (const double precision : precision_) noise_.push_back(1 / precision);
  if (counts_.is_empty())
    start(likelihood.targets());
  else
    next_ = counts_;
  given_.clear();
  for (std::size_t c = 0; c < precision_.size(); ++c)
    given_.push_back(std::max(precision_[c], next_.given[c] / most_rise));
}

void ResidualNoise::start(Index targets) {
  for (auto* numbers : {&next_.information, &next_.values, &next_.mean}) numbers->assign(at(targets), 0);
  next_.given.clear();
  next_.variance.clear();
  for (std::size_t c = 0; c < at(targets); ++c) {
    const std::size_t shared = noise_.size() == 1 ? 0 : c;
    next_.given.push_back(precision_[shared]);
    next_.variance.push_back(std::max(1.0, noise_[shared]));
  }
}

void ResidualNoise::add(const Likelihood& likelihood, const Options& options, Index c, double y, double mean,
                        double variance, double weight) {
  if (std::isnan(y) || weight == 0) return;
  const std::size_t of = at(c),
                    shared = noise_.size() == 1 ? 0 : of;  // a noise of all targets learns from all
  const double most = std::sqrt(largest_variance), deviation = std::clamp(y - next_.mean[of], -most, most),
               least_rate = std::min(0.5, 1 - options.forgetting),
               part = std::max(weight / (prior_count + (next_.values[of] += weight)),
                               weighted(least_rate, weight));
  next_.given[of] += part * (given_[shared] - next_.given[of]);
  next_.mean[of] += part * deviation;
  next_.variance[of] += part * (deviation * deviation - next_.variance[of]);
  double& noise = noise_[shared];
  const double predicted = variance + noise, share = noise / predicted;
  next_.information[shared] += weight * share * share;
  const double rate = std::min(1.0, std::max(weight * growth / (prior_count + next_.information[shared]),
                                             weighted(least_rate, weight)));
  noise += rate * correction(likelihood, y - mean, predicted, share);
  limit(noise);
}

/// The noise is at most the targets' variance, and not quite 0.
void ResidualNoise::limit(double& noise) const {
  const std::vector<double>& variance = next_.variance;
  const double most = noise_.size() == 1 ? std::accumulate(variance.begin(), variance.end(), 0.0) /
                                               static_cast<double>(variance.size())
                                         : variance[static_cast<std::size_t>(&noise - noise_.data())];
  noise = std::clamp(noise, std::max(smallest_variance, least_share * most),
                     std::clamp(most, smallest_variance, largest_variance));
}

void ResidualNoise::commit(Likelihood& likelihood) {
  for (double& value : noise_) value = 1 / value;
  likelihood.learn_noise_precision(noise_);
  std::swap(counts_, next_);
}

}  // namespace bdl
