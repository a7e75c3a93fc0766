// Long tasks, such as whole trainings, on threads that are started for them and end with them. Loops within a
// task (parallel/parallel.hpp) run on the task's own thread, so the results of a task do not depend on the
// number of threads.
#pragma once

#include "base/function_ref.hpp"
#include "base/view.hpp"

namespace bdl {

/// Calls task(i) for i = 0 .. count - 1, begun in this order, on this thread and `workers` - 1 others, or on
/// fewer if the system refuses some. Calls between() on this thread only: after each of its tasks, and every
/// 20 ms while it waits for the others. Neither function may throw, except that between() may end this thread
/// after it has told the tasks to end. With one worker nothing is allocated.
void share_tasks(Index count, Index workers, FunctionRef<void(Index)> task, FunctionRef<void()> between);

}  // namespace bdl
