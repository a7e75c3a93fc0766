#include "parallel/fork_gate.hpp"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <iterator>

namespace bdl {

/// The calls that a thread is in. `depth` counts them; it is above 1 if a signal handler calls the library
/// within a call. `inside` is the thread's counter among `lines`.
struct Place {
  std::atomic<int>* inside = nullptr;
  int depth = 0;
};

namespace {

/// A counter of the calls of some threads, in a cache line of its own. Up to 64 threads have one each.
struct alignas(64) Line {
  std::atomic<int> inside{0};
};

Line lines[64];
std::atomic<int> closed{0};  // number of forks that are in progress
constinit thread_local Place own;

int count_inside() noexcept {
  int sum = 0;
  for (const Line& line : lines) sum += line.inside.load();
  return sum;
}

/// Waits until no other thread is inside. The forking thread itself is inside if a signal handler forks
/// within a call.
void close_for_fork() noexcept {
  closed.fetch_add(1);
  while (count_inside() > own.depth) sched_yield();
}

void open_in_parent() noexcept {
  closed.fetch_sub(1);
}

/// Clears the counts of threads that the child does not have: it has only the forking one.
void open_in_child() noexcept {
  for (Line& line : lines) line.inside.store(0);
  if (own.inside) own.inside->store(own.depth);
  closed.store(0);
}

/// Gives a thread its counter; the first call registers the handlers. OpenBLAS registered its own when it was
/// loaded, so before a fork these are called first.
void assign_line(Place& place) noexcept {
  [[maybe_unused]] static const int registered =
      pthread_atfork(close_for_fork, open_in_parent, open_in_child);
  static std::atomic<unsigned> next{0};
  place.inside = &lines[next.fetch_add(1, std::memory_order_relaxed) % std::size(lines)].inside;
}

}  // namespace

ForkGate::Pass::Pass() noexcept : place_(own) {
  if (!place_.inside) assign_line(place_);
  place_.inside->fetch_add(1);
  while (closed.load() > 0 && place_.depth == 0) {
    place_.inside->fetch_sub(1);
    while (closed.load() > 0) sched_yield();
    place_.inside->fetch_add(1);
  }
  ++place_.depth;
}

ForkGate::Pass::~Pass() {
  --place_.depth;
  place_.inside->fetch_sub(1, std::memory_order_release);
}

}  // namespace bdl
