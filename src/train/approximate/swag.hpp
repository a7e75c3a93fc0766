// SWAG (Maddox et al. 2019): the Gaussian of the points that SGD with a constant learning rate comes by at
// the end of its course (docs/mathematics/swag.md).
#pragma once

#include "methods/schedule.hpp"
#include "ranks/strata.hpp"
#include "train/optimizer.hpp"

namespace bdl {

/// Fails with ERROR_INVALID_ARGUMENT where the course that has begun would leave fewer than 2 snapshots.
template <class T>
void check_swag(const Optimizer<T>& optimizer);

/// After a step: takes a snapshot of the mean if one is due.
template <class T>
void take_snapshot(Optimizer<T>& optimizer);

/// After a fit's last step: the posterior becomes that of the snapshots, once a course planned over several
/// fits is over. The running statistics become those at its mean, averages over the shards. All ranks call it
/// within Team::telling. On failure nothing has changed.
template <class T>
void take_swag(Optimizer<T>& optimizer, DataSet& data, Strata& strata);

}  // namespace bdl
