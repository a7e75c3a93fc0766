// An object that one call at a time may use.
#pragma once

#include <atomic>

namespace bdl {

/// Taken by the call that uses the object, on whatever thread.
class Claim {
 public:
  bool acquire() noexcept { return !is_taken_.exchange(true, std::memory_order_acquire); }
  void release() noexcept { is_taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> is_taken_{false};
};

}  // namespace bdl
