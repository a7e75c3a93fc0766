// Laplace's approximation in the Kronecker-factored family (Ritter, Botev, Barber 2018; George et al. 2018):
// docs/mathematics/kronecker.md, "Laplace".
#pragma once

#include "train/optimizer.hpp"

namespace bdl {

/// Returns Laplace's approximation around the mean of the optimizer's posterior; every example of the data
/// counts `weight` times. See take_laplace().
template <class T>
std::unique_ptr<Posterior<T>> kronecker_laplace(Optimizer<T>& optimizer, DataSet& data, double weight,
                                                Index shards);

}  // namespace bdl
