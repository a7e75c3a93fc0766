// Numbers that follow from others and are found when somebody first asks for them, by one thread while the
// others wait: reading a posterior stays const, and safe from several threads.
#pragma once

#include <atomic>
#include <mutex>

namespace bdl {

class Deferred {
 public:
  bool is_due() const { return due_.load(std::memory_order_acquire); }
  /// Only while nobody reads.
  void set_due(bool due) { due_.store(due, std::memory_order_release); }
  /// Runs find() if the numbers are due; they stay due if it fails.
  template <class Find>
  void settle(Find&& find) {
    if (!is_due()) return;
    const std::lock_guard lock(mutex_);
    if (!is_due()) return;
    find();
    set_due(false);
  }

 private:
  std::atomic<bool> due_{false};
  std::mutex mutex_;
};

}  // namespace bdl
