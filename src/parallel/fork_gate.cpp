#include "parallel/fork_gate.hpp"

#include <pthread.h>
#include <sched.h>

namespace bdl {
namespace {

constexpr int slots = 64;

/// Threads count themselves in cache lines of their own, as far as there are enough.
struct alignas(64) Slot {
  std::atomic<int> inside{0};
};

Slot all[slots];
std::atomic<bool> closed{false};
std::atomic<unsigned> next_slot{0};

thread_local std::atomic<int>* own = nullptr;
thread_local int own_depth = 0;  // above 0 in a fork: a signal's handler forks within a call

int count_inside() noexcept {
  int sum = 0;
  for (const Slot& slot : all) sum += slot.inside.load();
  return sum;
}

void close_for_fork() noexcept {
  closed.store(true);
  while (count_inside() > own_depth) sched_yield();
}

void open_in_parent() noexcept {
  closed.store(false);
}

/// The child has one thread.
void open_in_child() noexcept {
  for (Slot& slot : all) slot.inside.store(0);
  if (own) own->store(own_depth);
  closed.store(false);
}

/// Registered after OpenBLAS's own handlers, which its constructor registers, and so called before them.
std::atomic<int>& slot_of_thread() noexcept {
  static const int registered = pthread_atfork(close_for_fork, open_in_parent, open_in_child);
  static_cast<void>(registered);
  if (!own) own = &all[next_slot.fetch_add(1, std::memory_order_relaxed) % slots].inside;
  return *own;
}

}  // namespace

ForkGate::Pass::Pass() noexcept : inside_(slot_of_thread()) {
  inside_.fetch_add(1);
  while (closed.load() && own_depth == 0) {
    inside_.fetch_sub(1);
    while (closed.load()) sched_yield();
    inside_.fetch_add(1);
  }
  ++own_depth;
}

ForkGate::Pass::~Pass() {
  --own_depth;
  inside_.fetch_sub(1, std::memory_order_release);
}

}  // namespace bdl
