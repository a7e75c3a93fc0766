// Expectations over a Gaussian output of the loss l(f) = -log p(y | f), f ~ N(m, v), and of its derivatives:
// all that an example says about q in a model with f = theta^T x (Bonnet, Price;
// docs/mathematics/curvature.md, "Why the expected gradient and Hessian").
#pragma once

#include "likelihood/likelihood.hpp"

namespace bdl {

struct ExpectedLoss {
  double loss = 0, slope = 0, curvature = 0;  ///< E[l], E[l'], E[l''] >= 0
};

/// Of a Bernoulli, Gaussian or Poisson likelihood of one output; errors near rounding. All zero if y is
/// missing (NaN), not finite where a Poisson rate is beyond a double. Allocates nothing.
ExpectedLoss expected_loss(const Likelihood& likelihood, double m, double v, double y);

/// expected_loss() for a quadratic approximation of the Poisson loss, with its minimum near log y and its
/// curvature there (McCullagh, Nelder 1989, section 2.5); its gradient does not grow with the rate.
ExpectedLoss expected_quadratic_loss(double m, double v, double y);

}  // namespace bdl
