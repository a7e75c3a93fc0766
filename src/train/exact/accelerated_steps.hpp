// Anderson's acceleration of fixed-point steps u <- u + g(u) in a few variables (Walker, Ni 2011): the next
// point is the combination of the last ones whose steps cancel best. With one variable it is the secant
// method.
#pragma once

#include <vector>

#include "base/view.hpp"

namespace bdl {

class AcceleratedSteps {
 public:
  /// Returns the next point after u, whose plain step is g.
  std::vector<double> next(ConstSpan<double> u, ConstSpan<double> g);
  /// Forgets the points so far.
  void forget() { points_.clear(); }

 private:
  static constexpr std::size_t most_points = 6;
  struct Point {
    std::vector<double> u, g;
  };
  std::vector<Point> points_;
};

}  // namespace bdl
