// Initial values of posterior, prior and averages.
#pragma once

#include "train/optimizer.hpp"

namespace bdl {

/// Restarts posterior, prior precisions, averages and state. On failure nothing has changed.
template <class T>
void initialize(Optimizer<T>& optimizer);

/// Must be called before each step. Before the first step of VOGN, IVON or K-FAC it sets the posterior that
/// option "initial_curvature" means at the temperature of that step; if tied scales have no values yet, it
/// starts them near the posterior's deviations.
template <class T>
void start_step(Optimizer<T>& optimizer);

}  // namespace bdl
