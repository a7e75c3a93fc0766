// Loops over independent tasks on a few threads that are started once per process, and again in a forked
// child. There are as many as BLAS uses, since the host decides about threads, or fewer if the system refuses
// some. The results of a task do not depend on the number of threads, so results are identical for any
// number.
//
// crew.hpp has long tasks on threads of their own, blas_info.hpp tells which BLAS this process uses, and
// fork_gate.hpp makes forks wait for calls of BLAS.
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/simd.hpp"
#include "base/view.hpp"

namespace bdl {

/// Returns the number of threads that a loop of this thread may use, itself included.
int thread_count() noexcept;

/// While it lives, loops of this thread use `threads` threads; 0: the number before.
class ThreadLimit {
 public:
  explicit ThreadLimit(Index threads) noexcept;
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  int outer_;
};

/// Calls task(context, i) for i = 0 .. count - 1 in any order; returns when all are done. Allocates nothing
/// once the threads run. The calling thread works alone if the others are busy with a loop of another thread,
/// or with one that this loop is a part of. Fails with STOPPED, leaving out tasks, only within an
/// Interruptible (base/interrupt.hpp).
void run_tasks(Index count, void (*task)(void* context, Index index) noexcept, void* context);

/// Calls function(i) for i = 0 .. count - 1, as run_tasks() does.
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

/// Returns the number of items, of `size` numbers each, that make a task large enough for another thread.
inline Index task_grain(Index size) {
  return (1 << 15) / std::max<Index>(1, size) + 1;
}

/// Calls function(first, count) for consecutive blocks of `grain`, of which the last may be smaller.
template <class Function>
void parallel_blocks(Index size, Index grain, Function&& function) {
  parallel_for((size + grain - 1) / grain, [&](Index block) noexcept(noexcept(function(Index{}, Index{}))) {
    function(block * grain, std::min(grain, size - block * grain));
  });
}

/// Calls function(i) for i = 0 .. size - 1, vectorised; the function must be a BDL_INLINE_LAMBDA.
template <class Function>
void for_each_index(Index size, Function&& function) {
  parallel_blocks(size, 1 << 14, [&](Index first, Index count) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      for (Index i = first; i < first + count; ++i) function(i);
    });
  });
}

}  // namespace bdl
