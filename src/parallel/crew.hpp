// Long tasks, each of them whole trainings, on threads that are started for them and end with them. Loops
// within a task are its own thread's (parallel/parallel.hpp): what a task computes never depends on the
// number of threads.
#pragma once

#include "base/function_ref.hpp"
#include "base/view.hpp"

namespace bdl {

/// task(i) for i = 0 .. count - 1, begun in this order, on this thread and `workers` - 1 others, fewer where
/// the system gives no more. between() runs on this thread alone: after each of its tasks, and every 20 ms
/// while it waits for the others. Nothing may throw, but that between() may end this thread after it has told
/// the tasks to end. With one worker nothing is allocated.
void share_tasks(Index count, Index workers, FunctionRef<void(Index)> task, FunctionRef<void()> between);

}  // namespace bdl
