// Functions of the normal and Poisson distributions, each to about 1e-14 relative to itself.
#pragma once

namespace bdl {

/// mu - log(1 + mu) >= 0 without cancellation, mu > -1.
double log_excess(double mu);

/// P(Z <= z).
double normal_cdf(double z);

/// z with P(Z <= z) = p, for p in (0, 1/2]; below 1e-300 it stays where it is there.
double normal_quantile(double p);

/// log(count!).
double log_factorial(double count);

/// Half the deviance of a count for the rate e^f; loses nothing where f is near the log of the count.
double half_poisson_deviance(double f, double count);

/// log P(Y = count) for Y ~ Poisson(rate).
double log_poisson(double count, double rate);

struct CountTails {
  double at_most, above;  ///< P(Y <= count), P(Y > count)
};

CountTails poisson_tails(double count, double rate);

}  // namespace bdl
