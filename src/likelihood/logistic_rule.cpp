#include "likelihood/logistic_rule.hpp"

namespace bdl {

void logistic_rule(double m, double v, NormalRule& rule) {
  rule.nodes.clear();
  rule.weights.clear();
  double sum = 0;
  visit_logistic_nodes(m, v, [&](double f, double weight) {
    rule.nodes.push_back(f);
    rule.weights.push_back(weight);
    sum += weight;
  });
  for (double& weight : rule.weights) weight /= sum;
}

}  // namespace bdl
