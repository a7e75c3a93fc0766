// Quantiles of mixtures of normal distributions with variances of their own, in one dimension.
#pragma once

#include <vector>

#include "predict/mixture_quantile.hpp"

namespace bdl {

struct NormalComponent {
  double mean, deviation, weight;
};

/// p(y_c | x) of a heteroscedastic Gaussian; the weights add up to 1.
void heteroscedastic_components(const Likelihood& likelihood, const Mixture& mixture, Index c,
                                std::vector<NormalComponent>& out);

/// The quantile of sum_k weight_k N(mean_k, deviation_k^2), all deviations positive.
double component_quantile(ConstSpan<NormalComponent> components, Tail tail);

}  // namespace bdl
