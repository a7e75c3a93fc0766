// Streams: the caller's rows, in their order, one observation after the other.
#pragma once

#include <limits>

#include "data/data_set.hpp"
#include "train/optimizer.hpp"

namespace bdl {

/// Observes the rows, option "block" of them at a time. Missing targets are NaN; rows without a target move
/// time on and nothing else. log_density (n x 1, or none) receives the one-step-ahead scores, NaN where there
/// is none. After an error the state is that after the last whole block.
template <class T>
void observe(Optimizer<T>& optimizer, const Array& x, const Array& y, const OutArray& log_density);

/// Observes all rows as observe() does, from a posterior that is not blank.
template <class T>
void observe_rows(Optimizer<T>& optimizer, DataSet& data);

/// Observes the examples in batch_x() and batch_y() as one observation; missing targets are NaN, and
/// examples without any target are left out. Time moves on by one step before it, unless it has been moved.
/// `scores` receives the one-step-ahead log density of each example, if option "score" asks for one; fails
/// with ERROR_DIVERGED where its size is beyond the largest.
template <class T>
void observe_block(Optimizer<T>& optimizer, Index examples, std::span<double> scores,
                   double largest_score = std::numeric_limits<double>::max());
/// Moves time on by `steps` without an observation; the next observation is made at that time.
template <class T>
void move_time(Optimizer<T>& optimizer, Index steps);

/// Moves time on by `steps` >= 0, as the caller asks; on failure nothing has changed.
template <class T>
void forecast(Optimizer<T>& optimizer, Index steps);

}  // namespace bdl
