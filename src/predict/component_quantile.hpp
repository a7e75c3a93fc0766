// Quantiles of mixtures of normal or Student-t distributions with scales of their own, in one dimension.
#pragma once

#include <limits>
#include <vector>

#include "predict/mixture_quantile.hpp"

namespace bdl {

struct Component {
  double mean, deviation, weight;
  double limit = std::numeric_limits<double>::infinity();  ///< of a log rate (likelihood/limited.hpp)
};

/// mean_k + deviation_k Z, Z standard normal (degrees 0) or Student-t, with probability weight_k.
struct Components {
  std::vector<Component> parts;  // the weights add up to 1, the deviations are positive
  double degrees = 0;
  bool overflows = false;  // instead of parts
  double overflowed = 0;   // the sum of the means then
};

/// p(y_c | x) of a heteroscedastic or Student-t model.
void find_components(const Likelihood& likelihood, const Mixture& mixture, Index c, Components& out);

double component_quantile(const Components& components, Tail tail);

/// The smallest count y with P(Y <= y) >= level, Y Poisson with a log rate that is one of the components.
double poisson_quantile(const Components& log_rates, Tail tail);

}  // namespace bdl
