// Smooth functions of many variables minimised by L-BFGS (libLBFGS). The only place that sees it.
#pragma once

#include <functional>

#include "base/view.hpp"

namespace bdl {

struct Minimization {
  /// The function at x; writes its gradient. Infinite where x is out of bounds: the step is shortened.
  std::function<double(ConstSpan<double> x, std::span<double> gradient)> evaluate;
  /// Called after each iteration; true ends the minimization.
  std::function<bool(ConstSpan<double> x, ConstSpan<double> gradient)> report;
  Index memory;  ///< pairs of steps and gradient differences kept
};

/// Of minimize() with this memory, for so many variables.
Index minimization_bytes(Index variables, Index memory);

/// From x on; the first trial step has length 1. Returns true when report() has ended it, false when no step
/// descends any further. Exceptions of the two functions pass through, though not through the C library's
/// frames.
bool minimize(const Minimization& problem, std::span<double> x);

}  // namespace bdl
