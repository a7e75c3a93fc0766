// One natural-gradient step of a posterior from gradient rows: no model, no momentum, no schedule
// (docs/mathematics/natural-gradients.md, "A step from given rows").
#pragma once

#include "curvature/dense_rows.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

/// With rows b_r of the negative log likelihood, g = scale sum_r b_r and G = scale sum_r b_r b_r^T:
/// Sigma^-1 <- project((1 - b) Sigma^-1 + b (G + diag(lambda))), mu <- mu - a Sigma (g + lambda mu), the
/// projection exact and Sigma the new one. On failure nothing has changed.
template <class T>
void natural_gradient_step(Posterior<T>& q, DenseRows<T>& rows, double scale, double learning_rate,
                           double curvature_rate, ConstSpan<T> prior_precision);

}  // namespace bdl
