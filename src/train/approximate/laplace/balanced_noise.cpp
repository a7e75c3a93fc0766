#include "train/approximate/laplace/balanced_noise.hpp"

#include <algorithm>
#include <cmath>

namespace bdl {

void multiply_noise(double factor, Likelihood& likelihood) {
  std::vector<double> noise(likelihood.noise_precision().begin(), likelihood.noise_precision().end());
  for (double& value : noise) value = std::clamp(value * factor, 1e-30, 1e30);
  likelihood.learn_noise_precision(noise);
}

void BalancedNoise::set(const FitAtMean& fit, double furthest) {
  std::vector<double> logs, noise(likelihood_.noise_precision().begin(), likelihood_.noise_precision().end());
  double shift = 0;
  for (std::size_t c = 0; c < noise.size(); ++c) {
    constexpr double least = 1e-30;
    logs.push_back(-std::log(std::max(fit.squared_errors[c] / std::max(fit.observed[c], 1.0), least)));
    shift += (std::log(noise[c]) - logs[c]) / static_cast<double>(noise.size());
  }
  for (std::size_t c = 0; c < noise.size(); ++c)
    noise[c] *= std::exp(std::clamp(logs[c] + shift - std::log(noise[c]), -furthest, furthest));
  likelihood_.learn_noise_precision(noise);
}

}  // namespace bdl
