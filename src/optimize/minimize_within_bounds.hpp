// Minimisation within bounds by NLopt's deterministic local algorithms; the one place that sees NLopt.
#pragma once

#include <functional>

#include "base/view.hpp"

namespace bdl {

enum class Minimiser {
  lbfgs,   ///< by gradients (Liu, Nocedal 1989)
  subplex  ///< by values only (Rowan 1990)
};

/// The value at x, and its gradient unless that is empty.
using Objective = std::function<double(ConstSpan<double> x, std::span<double> gradient)>;

struct Bounds {
  ConstSpan<double> low, high;
  double first_step;  ///< of every coordinate, for subplex
};

/// Moves x, which is within the bounds, to the best point that was met, and returns its value. What the
/// objective throws comes out.
double minimise(Minimiser minimiser, const Bounds& bounds, int most_evaluations, const Objective& objective,
                std::span<double> x);

}  // namespace bdl
