#include "train/stream/residual_noise.hpp"

#include <algorithm>
#include <cmath>

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
// Smallest noise, in variances of the targets.
constexpr double least_share = 1e-8;

/// Returns r^2, less of outliers: by the weight of Student's t, or up to a limit.
double limited_square(const Likelihood& likelihood, double residual, double variance) {
  const double square = residual * residual;
  if (likelihood.kind() == BDL_GAUSSIAN)
    return std::min(square, most_deviations * most_deviations * variance);
  const double nu = likelihood.degrees_of_freedom();
  return square * (nu + 1) / (nu + square / variance);
}

}  // namespace

void ResidualNoise::begin(const Likelihood& likelihood) {
  next_.resize(at(likelihood.targets()));
  noise_.clear();
  for (const double precision : likelihood.noise_precision()) noise_.push_back(1 / precision);
  for (std::size_t c = 0; c < next_.size(); ++c)
    next_[c] =
        counts_.empty() ? NoiseCount{0, 0, 0, std::max(1.0, noise_[noise_.size() == 1 ? 0 : c])} : counts_[c];
}

void ResidualNoise::add(const Likelihood& likelihood, const Options& options, Index c, double y, double mean,
                        double variance) {
  if (std::isnan(y)) return;
  NoiseCount& count = next_[at(c)];
  double& noise = noise_[noise_.size() == 1 ? 0 : at(c)];
  // Targets that share the noise share what is known about it.
  double& information = next_[noise_.size() == 1 ? 0 : at(c)].information;
  const double predicted = variance + noise, share = noise / predicted, weight = share * share;
  information += weight;
  const double least_rate = std::min(0.5, 1 - options.forgetting),
               rate = std::max(growth / (prior_count + information), least_rate),
               part = std::max(1 / (prior_count + ++count.values), least_rate), deviation = y - count.mean;
  count.mean += part * deviation;
  count.variance += part * (deviation * deviation - count.variance);
  noise += rate * weight * (limited_square(likelihood, y - mean, predicted) - predicted);
  limit(noise);
}

/// The noise is at most the targets' variance, and not quite 0.
void ResidualNoise::limit(double& noise) const {
  double most = 0;
  if (noise_.size() == 1)
    for (const NoiseCount& count : next_) most += count.variance / static_cast<double>(next_.size());
  else
    most = next_[static_cast<std::size_t>(&noise - noise_.data())].variance;
  noise = std::clamp(noise, std::max(smallest_variance, least_share * most),
                     std::max(smallest_variance, std::min(most, largest_variance)));
}

void ResidualNoise::commit(Likelihood& likelihood) {
  for (double& value : noise_) value = 1 / value;
  likelihood.learn_noise_precision(noise_);
  counts_.swap(next_);
}

}  // namespace bdl
