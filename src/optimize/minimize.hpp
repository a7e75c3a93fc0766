// Minimisation by libraries: L-BFGS for smooth functions of many variables (libLBFGS), and deterministic
// local algorithms within bounds (NLopt). No other file includes these libraries.
#pragma once

#include <functional>

#include "base/view.hpp"

namespace bdl {

struct Minimization {
  /// Returns the function at x and writes its gradient. Infinite if x is out of bounds: the step is then
  /// shortened.
  std::function<double(ConstSpan<double> x, std::span<double> gradient)> evaluate;
  /// Called after each iteration; returns true to end the minimization.
  std::function<bool(ConstSpan<double> x, ConstSpan<double> gradient)> report;
  Index memory;  ///< number of pairs of steps and gradient differences to keep
};

/// Minimises from x on; the first trial step has length 1. Returns true if report() has ended it, false if no
/// step descends further. Exceptions of the two functions are rethrown, but never pass through frames of the
/// C library.
bool minimize(const Minimization& problem, std::span<double> x);

/// NLopt's algorithms.
enum class Minimiser {
  lbfgs,   ///< uses gradients (Liu, Nocedal 1989)
  subplex  ///< uses values only (Rowan 1990)
};

/// Returns the value at x, and writes its gradient unless that is empty.
using Objective = std::function<double(ConstSpan<double> x, std::span<double> gradient)>;

struct Bounds {
  ConstSpan<double> low, high;
  double first_step;  ///< first step of every coordinate, for subplex
};

/// Moves x, which is within the bounds, to the best point found, and returns its value. Exceptions of the
/// objective are rethrown.
double minimize_within_bounds(Minimiser minimiser, const Bounds& bounds, int most_evaluations,
                              const Objective& objective, std::span<double> x);

}  // namespace bdl
