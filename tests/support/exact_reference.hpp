// Expectations of a generalised linear model with one output under N(mean, covariance), by dense matrices and
// plain sums over the normal density.
#pragma once

#include "support/likelihoods.hpp"

namespace bdl::testing {

inline std::vector<Likelihood> one_output() {
  return {gaussian(1, {2.5}), correlated_gaussian(1), Likelihood(BDL_BERNOULLI, 1),
          Likelihood(BDL_POISSON, 1)};
}

struct Reference {
  double log_likelihood = 0;
  Dense gradient, hessian;
};

/// Rows [x, 1] (without a bias: x) in the layout of theta, one example per column of x; integrals as sums in
/// steps of 0.02 standard deviations.
inline Reference expectations(const Likelihood& likelihood, const Dense& mean, const Dense& covariance,
                              const Dense& x, const Dense& y, double weight) {
  const Index dimension = mean.rows;
  Reference out{0, Dense(dimension, 1), Dense(dimension, dimension)};
  for (Index i = 0; i < x.cols; ++i) {
    Dense row(dimension, 1, 1);
    for (Index j = 0; j < x.rows; ++j) row(j, 0) = x(j, i);
    const double m = dot(row, mean), s = std::sqrt(dot(row, covariance * row));
    const double target = y(0, i);
    double total = 0, loss = 0, first = 0, second = 0;
    for (double t = -17; t <= 17; t += 0.02) {
      const double f = m + s * t, density = std::exp(-t * t / 2);
      double slope = 0, h = 0;
      likelihood.gradient(&f, &target, &slope);
      likelihood.hessian_terms(&f, static_cast<const double*>(nullptr), &h);
      total += density;
      loss -= density * likelihood.log_density(&f, &target);
      first += density * slope;
      second += density * likelihood.hessian_entry(&h, 0, 0);
    }
    out.log_likelihood -= loss / total;
    out.gradient = out.gradient + weight * first / total * row;
    out.hessian = out.hessian + weight * second / total * (row * transposed(row));
  }
  return out;
}

}  // namespace bdl::testing
