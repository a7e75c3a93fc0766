// Estimate of the memory that an optimizer will hold.
#pragma once

#include "train/optimizer.hpp"

namespace bdl {

/// Returns an upper estimate of the bytes of all arrays that the optimizer holds once it has stepped on
/// minibatches of so many examples (on so many rows, without a model), beside model and posterior. For the
/// methods exact-* it is the most that a fit holds.
template <class T>
Index memory_estimate(const Optimizer<T>& optimizer, Index minibatch);

}  // namespace bdl
