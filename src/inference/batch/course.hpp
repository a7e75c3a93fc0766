// A course of training: so many epochs of so many steps, interrupted and gone on with.
#pragma once

#include "inference/optimizer.hpp"

namespace bdl {

/// Called after steps as option progress_every says: 0 goes on, positive stops, negative fails.
struct Progress {
  std::int32_t (*function)(void* context);
  void* context;
};

/// Begins a course of `epochs` at a fresh epoch, or checks (epochs = 0) that an interrupted one can go on.
template <class T>
void begin_course(Optimizer<T>& optimizer, Index epochs, Index examples, Index batches);

/// The course is complete before all its steps were taken.
template <class T>
void end_course(Optimizer<T>& optimizer);

/// True if training is to stop after the step just done.
template <class T>
bool should_stop(Optimizer<T>& optimizer, const Progress& progress);

}  // namespace bdl
