// Initial values of posterior, prior and averages.
#pragma once

#include "train/optimizer.hpp"

namespace bdl {

/// Restarts posterior, prior precisions, averages and state. On failure nothing has changed.
template <class T>
void initialize(Optimizer<T>& optimizer);

/// Must be called before the first step of VOGN, IVON or K-FAC: makes the posterior that option
/// "initial_curvature" means at the temperature of that step; with tied scales it makes factors near the
/// posterior's deviations.
template <class T>
void start_step(Optimizer<T>& optimizer);

}  // namespace bdl
