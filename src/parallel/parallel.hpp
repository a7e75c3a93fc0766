// Loops over independent tasks on a few threads that are started once per process, and again in a forked
// child. As many as BLAS uses, fewer where the system gives no more: threads are the host's business. What a
// task computes never depends on the number of threads, so neither do the bits.
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/simd.hpp"
#include "base/view.hpp"

namespace bdl {

/// Threads that a loop started here may use, the calling one included.
int thread_count() noexcept;

/// While it lives, loops started by this thread use `threads` threads; 0: as before.
class ThreadLimit {
 public:
  explicit ThreadLimit(Index threads) noexcept;
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  int outer_;
};

/// task(context, i) for i = 0 .. count - 1 in any order; returns when all are done. Allocates nothing once
/// those threads run. Runs alone where the threads are busy with another caller's loop or with this one's.
/// Fails with STOPPED, some tasks left out, only where an Interruptible says so (base/interrupt.hpp).
void run_tasks(Index count, void (*task)(void* context, Index index) noexcept, void* context);

/// function(i) for i = 0 .. count - 1.
template <class Function>
void parallel_for(Index count, Function&& function) {
  static_assert(noexcept(function(Index{})), "nothing can be thrown across threads");
  if (count <= 1) {
    if (count == 1) function(Index{0});
    return;
  }
  using Plain = std::remove_reference_t<Function>;
  run_tasks(
      count, [](void* context, Index i) noexcept { (*static_cast<Plain*>(context))(i); },
      std::addressof(function));
}

/// How many items of `size` numbers make a task worth handing to another thread.
inline Index task_grain(Index size) {
  return (1 << 15) / std::max<Index>(1, size) + 1;
}

/// function(first, count) for consecutive blocks of `grain`, the last one perhaps smaller.
template <class Function>
void parallel_blocks(Index size, Index grain, Function&& function) {
  parallel_for((size + grain - 1) / grain, [&](Index block) noexcept(noexcept(function(Index{}, Index{}))) {
    function(block * grain, std::min(grain, size - block * grain));
  });
}

/// function(i) for i = 0 .. size - 1, vectorised; the function is a BDL_INLINE_LAMBDA.
template <class Function>
void for_each_index(Index size, Function&& function) {
  parallel_blocks(size, 1 << 14, [&](Index first, Index count) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      for (Index i = first; i < first + count; ++i) function(i);
    });
  });
}

}  // namespace bdl
