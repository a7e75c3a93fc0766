// Anderson's acceleration of fixed-point steps u <- u + g(u) (Walker, Ni 2011): the next point is the
// combination of the last ones whose steps cancel best. With one variable it is the secant method.
#pragma once

#include <deque>
#include <vector>

#include "base/view.hpp"

namespace bdl {

class AcceleratedSteps {
 public:
  explicit AcceleratedSteps(std::size_t most_points) : most_points_(most_points) {}
  /// Returns the next point after u, whose plain step is g, by `part` of steps. `scales` (empty: ones) make
  /// the variables comparable.
  std::vector<double> next(ConstSpan<double> u, ConstSpan<double> g, ConstSpan<double> scales = {},
                           double part = 1);
  /// Forgets the points so far.
  void forget() { points_.clear(); }

 private:
  struct Point {
    std::vector<double> u, g;
  };
  std::size_t most_points_;
  std::deque<Point> points_;
};

}  // namespace bdl
