// Counts y ~ Poisson(e^g), where g is f ~ N(m, v) below a limit and bends beyond it (limited.hpp): what
// closed forms give where the limit is out of reach, by panels of Gauss-Legendre rules where it is not.
#pragma once

#include "likelihood/special_functions.hpp"

namespace bdl {

struct RateMoments {
  double mean = 0, variance = 0;  ///< of e^g
};

/// The mean and the variance may be infinite without a limit.
RateMoments rate_moments(double m, double v, double limit);

/// True if the limit changes E[e^f], f ~ N(m, v).
bool rates_meet_limit(double m, double v, double limit);

/// E[log P(Y = count | f)] where it does.
double expected_log_poisson(double m, double v, double count, double limit);

/// log P(Y = count).
double log_poisson_of_normal(double m, double v, double count, double limit);

/// P(Y <= count) and P(Y > count).
CountTails poisson_tails_of_normal(double m, double v, double count, double limit);

}  // namespace bdl
