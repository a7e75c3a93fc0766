// A flag by which one call at a time may use an object, whatever its thread.
#pragma once

#include <atomic>

namespace bdl {

class Claim {
 public:
  bool acquire() noexcept { return !is_taken_.exchange(true, std::memory_order_acquire); }
  void release() noexcept { is_taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> is_taken_{false};
};

}  // namespace bdl
