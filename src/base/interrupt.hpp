// Interrupts (bdl_set_interrupt()): a function of the host is asked whether a long call is to end. It is
// asked in parallel loops, once in each step, chunk of rows and block of a file, and only on the thread of
// the call.
#pragma once

#include <algorithm>
#include <cstdint>

namespace bdl {

/// Sets the function that calls on this thread ask; null for none.
void set_interrupt(std::int32_t (*function)(void* user_data), void* user_data);

/// Marks a call of the library. A call within another one, made by a callback, asks only if it has its own
/// Interruptible.
class InCall {
 public:
  InCall() noexcept;
  ~InCall();
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;

 private:
  bool outer_;
};

/// Returns true if the call in progress is to end. Asks at most every 10 ms; fails with ERROR_CALLBACK if the
/// host throws.
bool interrupted();

/// As interrupted(), for callbacks within a call: interrupted() will return the same answer, or fail.
bool peek_interrupted();

/// Fails with STOPPED if the call is to end. Not for tasks of a parallel loop.
void check_interrupt();

/// While it lives, and from 10 ms after the call's start, parallel loops of this thread ask between their
/// tasks, and fail as check_interrupt() does. For work whose results are dropped when it fails.
class Interruptible {
 public:
  Interruptible() noexcept;
  ~Interruptible() { end(); }
  void end() noexcept;
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  bool outer_;
};

/// While it lives, this thread runs a task, which must not throw: a request to stop is kept until the loop
/// ends.
class InTask {
 public:
  InTask() noexcept;
  ~InTask();
  InTask(const InTask&) = delete;
  InTask& operator=(const InTask&) = delete;
};

/// Asked between tasks: true if the rest of the loop can be skipped, because check_loop() is going to fail.
bool loop_is_stopped() noexcept;
/// Called after a loop or before a chunk: fails with STOPPED if the host has asked for it, within an
/// Interruptible.
void check_loop();

/// Calls visit(i) for i = 0 .. count - 1, and asks the interrupt before each chunk of about 2^18 numbers,
/// `width` for each i.
template <class Visit>
void in_chunks(std::int64_t count, std::int64_t width, Visit&& visit) {
  const std::int64_t chunk =
      std::max<std::int64_t>(1, (std::int64_t{1} << 18) / std::max<std::int64_t>(width, 1));
  for (std::int64_t first = 0; first < count; first += chunk) {
    check_loop();
    for (std::int64_t i = first; i < std::min(first + chunk, count); ++i) visit(i);
  }
}

}  // namespace bdl
