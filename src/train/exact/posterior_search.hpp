// Finds the posterior of a family that maximises the exact ELBO, given the scales that the ELBO has.
#pragma once

#include "options/options.hpp"
#include "train/exact/fixed_point.hpp"

namespace bdl {

/// Moves q to the optimum: by natural-gradient steps where they suit the family, else by L-BFGS. If q
/// `is_near` the optimum, no better start is looked for.
SearchEnd search_posterior(ExactElbo& elbo, Posterior<double>& q, const Options& options,
                           const Iterated& iterated, bool is_near = false);

/// Returns the length of the natural gradient at q, in posterior standard deviations.
double distance_of_posterior(ExactElbo& elbo, Posterior<double>& q);

}  // namespace bdl
