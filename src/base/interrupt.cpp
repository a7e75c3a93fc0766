#include "base/interrupt.hpp"

#include <chrono>

#include "base/error.hpp"

namespace bdl {
namespace {

using Clock = std::chrono::steady_clock;

struct Host {
  std::int32_t (*function)(void* user_data);
  void* user_data;
  Clock::time_point asked;
};

thread_local Host host{};

}  // namespace

void set_interrupt(std::int32_t (*function)(void* user_data), void* user_data) {
  host.function = function;
  host.user_data = user_data;
}

bool interrupted() {
  if (!host.function) return false;
  const auto now = Clock::now();
  if (now - host.asked < std::chrono::milliseconds(20)) return false;
  host.asked = now;
  return host.function(host.user_data) != 0;
}

void check_interrupt() {
  if (interrupted()) fail(Status::STOPPED, "interrupted");
}

}  // namespace bdl
