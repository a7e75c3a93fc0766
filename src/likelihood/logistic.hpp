// Logistic functions, and their expectations over Gaussian outputs.
#pragma once

#include <algorithm>
#include <cmath>

#include "likelihood/expected_loss.hpp"

namespace bdl {

/// Returns log(1 + e^z).
inline double softplus(double z) {
  return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z)));
}

/// Returns 1 / (1 + e^-z), the derivative of softplus.
inline double logistic(double z) {
  const double e = std::exp(-std::abs(z));
  return z >= 0 ? 1 / (1 + e) : e / (1 + e);
}

/// Returns the expectations of softplus(z) and of its first two derivatives over z ~ N(m, v).
ExpectedLoss expected_softplus(double m, double v);
/// Returns the same but for rounding, by fewer nodes if v is small.
ExpectedLoss expected_softplus_of_many(double m, double v);

}  // namespace bdl
