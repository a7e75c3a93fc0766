#include "inference/exact/noise_root.hpp"

#include <algorithm>

namespace bdl {

double NoiseRoot::next(double t, double residual) {
  constexpr double growth = 4;  // of a step against the last one
  double step = residual;
  if (!is_first_ && t != t_) {
    const double slope = (residual - residual_) / (t - t_),
                 longest = std::max(std::abs(residual), growth * std::abs(t - t_)),
                 wanted = slope < 0 ? std::abs(residual / slope) : longest;
    step = std::copysign(std::clamp(wanted, std::abs(residual), longest), residual);
  }
  (residual > 0 ? low_ : high_) = t;
  is_first_ = false;
  t_ = t;
  residual_ = residual;
  const double next = t + step;
  return next > low_ && next < high_ ? next : (low_ + high_) / 2;
}

bool NoiseRoot::is_settled(double t, double residual) const {
  constexpr double hardly = 1e-6;
  return !is_first_ && std::abs(t - t_) <= hardly && std::abs(residual) >= std::abs(residual_) / 2;
}

}  // namespace bdl
