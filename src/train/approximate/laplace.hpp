// Laplace's approximation (MacKay 1992; Ritter, Botev, Barber 2018): a Gaussian around the mean whose
// precision is the generalised Gauss-Newton matrix of all data plus the prior's precision, in the
// posterior's family.
#pragma once

#include "train/optimizer.hpp"

namespace bdl {

/// Fails with ERROR_UNSUPPORTED for families without such an approximation, and if option eigen_method asks
/// for a Gram matrix of too many examples.
template <class T>
void check_laplace(const Optimizer<T>& optimizer, Index examples);

/// Replaces the covariance of the optimizer's posterior by the approximation's; the mean stays. The data,
/// checked, count as N examples, and are added up by so many shards: each rank reads the rows of its shards.
/// All ranks call it within Team::telling. On failure nothing has changed.
template <class T>
void take_laplace(Optimizer<T>& optimizer, DataSet& data, Index shards);

}  // namespace bdl
