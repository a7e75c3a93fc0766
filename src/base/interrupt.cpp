#include "base/interrupt.hpp"

#include <chrono>
#include <utility>

#include "base/error.hpp"

namespace bdl {
namespace {

using Clock = std::chrono::steady_clock;

struct Host {
  std::int32_t (*function)(void* user_data);
  void* user_data;
  Clock::time_point asked;
  bool is_pending;  ///< a callback was told
};

thread_local Host host{};

}  // namespace

void set_interrupt(std::int32_t (*function)(void* user_data), void* user_data) {
  host.function = function;
  host.user_data = user_data;
  host.is_pending = false;
}

bool interrupted() {
  if (std::exchange(host.is_pending, false)) return true;
  if (!host.function) return false;
  const auto now = Clock::now();
  if (now - host.asked < std::chrono::milliseconds(20)) return false;
  host.asked = now;
  return host.function(host.user_data) != 0;
}

bool peek_interrupted() {
  host.is_pending = interrupted();
  return host.is_pending;
}

void check_interrupt() {
  if (interrupted()) fail(Status::STOPPED, "interrupted");
}

}  // namespace bdl
