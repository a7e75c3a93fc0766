// Functions of the normal, Poisson and Student-t distributions, each to about 1e-14 relative to itself.
// Boost.Math has those of boost_functions.cpp. Its incomplete gamma function is not used: for counts from 200
// to 1e5 poisson_tails() is 20 times as fast, and 9 times as accurate in the lower tail.
#pragma once

namespace bdl {

/// mu - log(1 + mu) >= 0 without cancellation, mu > -1.
double log_excess(double mu);

/// P(Z <= z).
double normal_cdf(double z);

/// z with P(Z <= z) = p, for p in (0, 1/2]; below 1e-300 it stays where it is there.
double normal_quantile(double p);

/// d log Gamma(x) / dx.
double digamma(double x);

/// P(T <= z) of Student's t with nu degrees of freedom.
double student_t_cdf(double z, double nu);

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
