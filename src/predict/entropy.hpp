// Entropies of classes, in nats.
#pragma once

#include <cmath>
#include <span>

#include "likelihood/likelihood.hpp"

namespace bdl {

/// -p log p.
inline double surprise(double p) {
  return p > 0 ? -p * std::log(p) : 0;
}

/// Adds those of y given its probabilities: one of a categorical y, one per output of a Bernoulli y.
inline void add_entropies(const Likelihood& likelihood, std::span<const double> p, double weight,
                          std::span<double> out) {
  const bool categorical = likelihood.kind() == BDL_CATEGORICAL;
  for (std::size_t c = 0; c < p.size(); ++c)
    out[categorical ? 0 : c] += weight * (surprise(p[c]) + (categorical ? 0 : surprise(1 - p[c])));
}

}  // namespace bdl
