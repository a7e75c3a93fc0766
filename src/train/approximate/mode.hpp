// The mode, of which training by rule "map" learns nothing but the mean: where its effective parameters are
// counted, for the noise.
#pragma once

#include "train/optimizer.hpp"

namespace bdl {

/// True if the posterior is a mode, and no approximation around it is asked for.
template <class T>
bool is_mode(const Optimizer<T>& optimizer);

/// Returns the family in which the effective parameters of a mode are counted, at its mean: Kronecker
/// factors, or the diagonal if layers are wide or the prior differs within one.
template <class T>
std::unique_ptr<Posterior<T>> factors_at(const Optimizer<T>& optimizer);

}  // namespace bdl
