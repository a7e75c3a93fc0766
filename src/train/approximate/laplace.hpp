// Laplace's approximation (MacKay 1992; Ritter, Botev, Barber 2018): around the mean, as precision the
// generalised Gauss-Newton matrix of all data plus the prior's, in the posterior's family.
#pragma once

#include "train/optimizer.hpp"

namespace bdl {

/// Fails with ERROR_UNSUPPORTED for families that have no such approximation, and where option eigen_method
/// asks for a Gram matrix of more examples than one is made of.
template <class T>
void check_laplace(const Optimizer<T>& optimizer, Index examples);

/// The covariance of the optimizer's posterior becomes that of the approximation; the mean stays. The data,
/// checked, count as N examples, and are added up by so many shards: each rank reads the rows of its own. All
/// ranks call it within Team::telling. On failure nothing has changed.
template <class T>
void take_laplace(Optimizer<T>& optimizer, DataSet& data, Index shards);

}  // namespace bdl
