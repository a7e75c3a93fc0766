// Expectations of the loss l(f) = -log p(y | f) and of its derivatives over f ~ N(m, v). In a model with
// f = theta^T x, an example enters the update of q only through them (Bonnet, Price;
// docs/theory/curvature.md, "Why the expected gradient and Hessian").
#pragma once

#include "likelihood/likelihood.hpp"

namespace bdl {

struct ExpectedLoss {
  double loss = 0, slope = 0, curvature = 0;  ///< E[l], E[l'], E[l''] >= 0
};

/// Returns the expectations for an output of a likelihood that has exact integrals (Likelihood::is_exact())
/// and independent outputs, with errors near rounding. They are zero if y is missing (NaN), and not finite if
/// a rate overflows. Allocates nothing.
ExpectedLoss expected_loss(const Likelihood& likelihood, double m, double v, double y, Index output = 0);

/// As expected_loss() for one output, with fewer nodes where v is small, as it is if the examples are many.
/// The results are the same but for rounding.
ExpectedLoss expected_loss_of_many(const Likelihood& likelihood, double m, double v, double y);

/// A quadratic of an output: curvature and mode.
struct QuadraticLoss {
  double curvature, mode;
};

/// True if a likelihood of a log mean has a quadratic near its loss that does not depend on where a search
/// begins: with its minimum near log y, and the curvature there (McCullagh, Nelder 1989, section 2.5). The
/// gradient does not grow with the mean.
bool has_quadratic_loss(const Likelihood& likelihood);

/// As expected_loss(), for that quadratic.
ExpectedLoss expected_quadratic_loss(const Likelihood& likelihood, double m, double v, double y);

/// Returns about the largest E[l''] that y may have, for a likelihood with exact integrals.
double typical_curvature(const Likelihood& likelihood, double y);

}  // namespace bdl
