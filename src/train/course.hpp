// A course of training: so many epochs of so many steps, interrupted and gone on with.
#pragma once

#include <algorithm>

#include "train/optimizer.hpp"

namespace bdl {

/// Called after steps as option progress_every says: 0 goes on, positive stops, negative fails.
struct Progress {
  std::int32_t (*function)(void* context);
  void* context;
};

/// Largest number of steps of a plan, and of all epochs of an optimizer together: epochs times minibatches
/// does not overflow.
inline constexpr Index most_steps = INT64_C(1) << 62;
inline bool are_countable(Index epochs, Index batches) {
  return batches <= most_steps / std::max<Index>(1, epochs);
}

/// Begins a course of `epochs` on so many shards at a fresh epoch, or checks (epochs = 0) that an interrupted
/// one can go on.
template <class T>
void begin_course(Optimizer<T>& optimizer, Index epochs, Index examples, Index batches, Index shards = 1);

/// The course is complete before all its steps were taken.
template <class T>
void end_course(Optimizer<T>& optimizer);

/// True if training is to stop after the step just done; `asked`: some rank has asked for it. Of several
/// ranks the first one reports progress, and all do what it is told.
template <class T>
bool should_stop(Optimizer<T>& optimizer, const Progress& progress, bool asked);

}  // namespace bdl
