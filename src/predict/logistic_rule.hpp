// Expectations of functions of a logit f ~ N(m, v).
#pragma once

#include <vector>

namespace bdl {

struct NormalRule {
  std::vector<double> nodes, weights;  // the weights add up to 1
};

/// Nodes and weights for E[g(f)], where g is made of logistic functions of f and their logarithms: relative
/// errors near rounding for all m and v >= 0, even where E[g] is as small as 1e-290. Some 40 to 200 nodes;
/// thousands where |m| is tens of standard deviations.
void logistic_rule(double m, double v, NormalRule& rule);

}  // namespace bdl
