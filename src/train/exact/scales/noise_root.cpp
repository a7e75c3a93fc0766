#include "train/exact/scales/noise_root.hpp"

#include <algorithm>

namespace bdl {

double NoiseRoot::next(double t, double residual) {
  if (residual == 0) return t;
  constexpr double growth = 4,
                   most = 3;  // largest growth from step to step, and largest step that growth reaches
  double step = residual;
  if (!is_first_ && t != t_) {
    const double slope = (residual - residual_) / (t - t_),
                 longest = std::max(std::abs(residual), std::min(most, growth * std::abs(t - t_))),
                 wanted = slope < 0 ? std::abs(residual / slope) : longest;
    step = std::copysign(std::clamp(wanted, std::abs(residual), longest), residual);
  }
  (residual > 0 ? low_ : high_) = t;
  waiting_ = std::abs(residual) <= least_ / 2 ? 0 : waiting_ + 1;
  least_ = std::min(least_, std::abs(residual));
  is_first_ = false;
  t_ = t;
  residual_ = residual;
  const double next = t + step;
  return next > low_ && next < high_ ? next : (low_ + high_) / 2;
}

bool NoiseRoot::is_settled() const {
  constexpr int patience = 4;
  constexpr double narrow = 1e-3;
  return waiting_ >= patience && high_ - low_ <= narrow;
}

}  // namespace bdl
