// A course of training: a number of epochs of equally many steps, which may be interrupted and continued.
#pragma once

#include <algorithm>

#include "train/optimizer.hpp"

namespace bdl {

/// The caller's progress function, called after steps as often as option progress_every says: it returns 0
/// to continue, a positive number to stop, a negative one to fail.
struct Progress {
  std::int32_t (*function)(void* context);
  void* context;
};

/// Largest number of steps of a plan, and of all epochs of an optimizer together: epochs times minibatches
/// must not overflow.
inline constexpr Index most_steps = INT64_C(1) << 62;
inline bool are_countable(Index epochs, Index batches) {
  return batches <= most_steps / std::max<Index>(1, epochs);
}

/// Begins a course of `epochs` on so many shards at a fresh epoch, or checks (epochs = 0) that an
/// interrupted course can continue.
template <class T>
void begin_course(Optimizer<T>& optimizer, Index epochs, Index examples, Index batches, Index shards = 1);

/// Marks the course as complete before all its steps were taken.
template <class T>
void end_course(Optimizer<T>& optimizer);

/// True if training must stop after this step; `asked` is true if some rank has asked for it. Among several
/// ranks the first one reports progress, and all follow its answer.
template <class T>
bool should_stop(Optimizer<T>& optimizer, const Progress& progress, bool asked);

}  // namespace bdl
