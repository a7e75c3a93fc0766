// Where training starts.
#pragma once

#include "train/optimizer.hpp"

namespace bdl {

/// Restarts posterior, prior precisions, averages and state. On failure nothing has changed.
template <class T>
void initialize(Optimizer<T>& optimizer);

/// Before the first step of VOGN, IVON or K-FAC: the posterior that option "initial_curvature" stands for at
/// the temperature of that step; before one with tied scales: factors near the posterior's deviations.
template <class T>
void start_step(Optimizer<T>& optimizer);

}  // namespace bdl
