// Quantiles of mixtures over one output.
#pragma once

#include "predict/mixture.hpp"

namespace bdl {

/// A probability level, given by the smaller of its tails: nothing is lost near 1.
struct Tail {
  double probability;  // in (0, 1/2]
  bool upper;
};

/// For level in (0, 1).
Tail tail_at(double level);

/// The quantile of sum_k w_k N(f_k, 1 / tau + variance of f) for output c.
double gaussian_quantile(const Likelihood& likelihood, const Mixture& mixture, Index c, Tail tail);

/// The smallest count y with P(Y <= y) >= level under sum_k w_k Poisson(e^f_k) for output c; infinite beyond
/// a double.
double poisson_quantile(const Likelihood& likelihood, const Mixture& mixture, Index c, Tail tail);

/// The same for one Poisson distribution.
double poisson_quantile(double rate, Tail tail);

}  // namespace bdl
