// Counts y ~ Poisson(e^f) with f ~ N(m, v): the predictive distribution of Poisson regression under a
// Gaussian.
#pragma once

#include "likelihood/special_functions.hpp"

namespace bdl {

// v > 0.

/// log P(Y = count).
double log_poisson_lognormal(double m, double v, double count);

/// P(Y <= count) and P(Y > count); absolute errors near 1e-15.
CountTails poisson_lognormal_tails(double m, double v, double count);

}  // namespace bdl
