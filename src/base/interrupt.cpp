#include "base/interrupt.hpp"

#include <chrono>
#include <utility>

#include "base/callback.hpp"
#include "base/error.hpp"

namespace bdl {
namespace {

using Clock = std::chrono::steady_clock;

struct Host {
  std::int32_t (*function)(void* user_data);
  void* user_data;
  Clock::time_point asked, began;  // times of the last question and of the call's start
  int tasks;                       // number of tasks that this thread is in
  bool may_stop, stopped;
  bool is_pending;  // the answer was given to a callback only
  bool has_thrown;  // the last question of the call in progress threw
  CallbackMessage thrown;
};

thread_local constinit Host host{};

constexpr std::chrono::milliseconds pause{10};

bool loop_asks() noexcept {
  return host.function && host.may_stop;
}

bool ask(Clock::time_point now) {
  if (now - host.asked < pause) return false;
  host.asked = now;
  host.has_thrown = false;
  try {
    return host.function(host.user_data) != 0;
  } catch (...) {
    host.thrown = thrown_message();
    host.has_thrown = true;
    return true;
  }
}

/// Ends the whole call with the host's exception, even if the failure of this piece of work would be
/// tolerated.
void check_thrown() {
  if (host.has_thrown) fail_thrown("interrupt", host.thrown);
}

bool loop_is_interrupted() {
  const auto now = Clock::now();
  return now - host.began >= pause && ask(now);
}

}  // namespace

void set_interrupt(std::int32_t (*function)(void* user_data), void* user_data) {
  host.function = function;
  host.user_data = user_data;
  host.is_pending = host.has_thrown = false;
}

InCall::InCall() noexcept : outer_(std::exchange(host.may_stop, false)) {
  if (outer_) return;
  if (host.has_thrown) host.is_pending = host.has_thrown = false;  // left by an earlier call
  if (host.function) host.began = Clock::now();
}

InCall::~InCall() {
  host.may_stop = outer_;
}

bool interrupted() {
  const bool is_asked_to_stop = host.has_thrown || peek_interrupted();
  host.is_pending = false;
  check_thrown();
  return is_asked_to_stop;
}

bool peek_interrupted() {
  if (!host.is_pending) host.is_pending = host.function && ask(Clock::now());
  return host.is_pending;
}

void check_interrupt() {
  if (host.tasks == 0 && interrupted()) fail(Status::STOPPED, "interrupted");
}

Interruptible::Interruptible() noexcept : outer_(host.may_stop) {
  host.may_stop = true;
  if (!outer_) host.stopped = false;  // drops an answer that came too late for an earlier call
}

void Interruptible::end() noexcept {
  host.may_stop = outer_;
}

InTask::InTask() noexcept {
  ++host.tasks;
}

InTask::~InTask() {
  --host.tasks;
}

bool loop_is_stopped() noexcept {
  if (loop_asks() && !host.stopped) host.stopped = loop_is_interrupted();
  return host.stopped;
}

void check_loop() {
  if (!loop_asks() || host.tasks > 0) return;
  if (!host.stopped && !loop_is_interrupted()) return;
  host.stopped = false;
  check_thrown();
  fail(Status::STOPPED, "interrupted");
}

}  // namespace bdl
