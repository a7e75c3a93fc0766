// Quantiles of mixtures over one output, solved for by Newton's and Halley's methods within brackets.
#pragma once

#include <limits>
#include <vector>

#include "predict/mixture.hpp"

namespace bdl {

/// A probability level, given by the smaller of its tails, so that no digits are lost near 1.
struct Tail {
  double probability;  // in (0, 1/2]
  bool upper;
};

/// Returns the tail of a level in (0, 1).
Tail tail_at(double level);

/// Returns the degrees of freedom of y_c given x: those of the noise's estimate where q(f | x) is Gaussian,
/// else infinity.
inline double degrees_of(const Likelihood& likelihood, const Mixture& mixture, Index c) {
  return mixture.is_gaussian() ? likelihood.noise_degrees(c) : std::numeric_limits<double>::infinity();
}

/// Returns the quantile of sum_k w_k N(f_k, 1 / tau + variance of f) for output c, or of Student's t with
/// that scale if the noise was estimated.
double gaussian_quantile(const Likelihood& likelihood, const Mixture& mixture, Index c, Tail tail);

/// Returns the smallest count y with P(Y <= y) >= level under sum_k w_k Poisson(e^f_k) for output c; infinite
/// if no double can hold it.
double poisson_quantile(const Likelihood& likelihood, const Mixture& mixture, Index c, Tail tail);

/// Returns that count for one Poisson distribution.
double poisson_quantile(double rate, Tail tail);

/// One distribution of a mixture, of mean + deviation Z, where Z is standard normal (degrees 0) or Student-t;
/// or of a negative binomial or Gamma y with this log mean and, as `degrees`, this shape.
struct Component {
  double mean, deviation, weight;
  double degrees = 0;
  double limit = std::numeric_limits<double>::infinity();  ///< for a log rate (likelihood/limited_rates.hpp)
};

struct Components {
  std::vector<Component> list;  // the weights add up to 1, the deviations are positive
  bool overflows = false;       // the list is then empty
  double overflowed = 0;        // the sum of the means if it overflows
};

/// Finds the components of p(y_c | x) for a heteroscedastic or Student-t model, or one with a shape, whose
/// Gaussian outputs must be at nodes (at_nodes()).
void find_components(const Likelihood& likelihood, const Mixture& mixture, Index c, Components& out);

double component_quantile(const Components& components, Tail tail);

/// Returns the smallest count y with P(Y <= y) >= level for a Poisson Y whose log rate has this distribution.
double poisson_quantile(const Components& log_rates, Tail tail);

/// Returns the smallest count, or the positive number, y with P(Y <= y) >= level for a likelihood with a
/// shape.
double log_mean_quantile(const Likelihood& likelihood, const Components& components, Tail tail);

/// Returns it for one distribution with this mean.
double log_mean_quantile(const Likelihood& likelihood, double mean, Tail tail);

}  // namespace bdl
