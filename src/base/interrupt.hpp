// How the caller of a long call ends it (bdl_set_interrupt()). Other threads that a call uses have no caller
// to ask.
#pragma once

#include <cstdint>

namespace bdl {

/// Whom the calls of this thread ask; function 0: nobody.
void set_interrupt(std::int32_t (*function)(void* user_data), void* user_data);

/// A call of the library. Within another one, as a callback makes it, it asks only if it has an Interruptible
/// of its own.
class InCall {
 public:
  InCall() noexcept;
  ~InCall();
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;

 private:
  bool outer_;
};

/// True if the call in progress is to end, at most every 10 ms. Fails with ERROR_CALLBACK if the host throws.
bool interrupted();

/// The same for callbacks within a call: what the host has said once, or thrown, interrupted() says next.
bool peek_interrupted();

/// Fails with STOPPED if so, where there is nothing completed to keep. Not in a task of a parallel loop.
void check_interrupt();

/// From 10 ms after the call's start until it ends, parallel loops of this thread ask between their tasks,
/// and fail as check_interrupt() does: for work whose results are dropped when it fails.
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

/// While it lives, this thread runs a task, which cannot throw: a request to stop is remembered until its
/// loop ends.
class InTask {
 public:
  InTask() noexcept;
  ~InTask();
  InTask(const InTask&) = delete;
  InTask& operator=(const InTask&) = delete;
};

/// Between tasks: whether the rest of the loop is to be left out, because check_loop() is going to fail.
bool loop_is_stopped() noexcept;
/// After a loop.
void check_loop();

}  // namespace bdl
