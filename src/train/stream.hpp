// Streams: the caller's rows, in their order, one observation after the other.
#pragma once

#include "base/array.hpp"
#include "train/optimizer.hpp"

namespace bdl {

/// Observes the rows, option "block" of them at a time. Missing targets are NaN; rows without a target move
/// time on and nothing else. log_density (n x 1, or none) receives the one-step-ahead scores, NaN where there
/// is none. An error leaves the state after the last block observed whole.
template <class T>
void observe(Optimizer<T>& optimizer, const Array& x, const Array& y, const OutArray& log_density);

/// Moves time `steps` >= 0 on.
template <class T>
void forecast(Optimizer<T>& optimizer, Index steps);

}  // namespace bdl
