// SWAG (Maddox et al. 2019): a Gaussian fitted to the parameters that SGD with a constant learning rate
// visits at the end of its course (docs/theory/swag.md).
#pragma once

#include "methods/schedule.hpp"
#include "ranks/strata.hpp"
#include "train/optimizer.hpp"

namespace bdl {

/// Fails with ERROR_INVALID_ARGUMENT if the course that has begun would leave fewer than 2 snapshots.
template <class T>
void check_swag(const Optimizer<T>& optimizer);

/// Takes a snapshot of the mean after a step, if one is due.
template <class T>
void take_snapshot(Optimizer<T>& optimizer);

/// Sets the posterior to that of the snapshots after a fit's last step, once a course planned over several
/// fits is over. The running statistics become those at its mean, averages over the shards. All ranks call
/// it within Team::telling. On failure nothing has changed.
template <class T>
void take_swag(Optimizer<T>& optimizer, DataSet& data, Strata& strata);

}  // namespace bdl
