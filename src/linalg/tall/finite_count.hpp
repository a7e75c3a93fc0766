// How many finite numbers tall products write: asked while these are in the cache, it costs no pass of its
// own.
#pragma once

#include <atomic>

#include "base/view.hpp"

namespace bdl {

/// While it lives, tall_residual() and tall_color() of this thread count.
class FiniteCount {
 public:
  FiniteCount() noexcept : outer_(current_) { current_ = this; }
  ~FiniteCount() { current_ = outer_; }
  FiniteCount(const FiniteCount&) = delete;
  FiniteCount& operator=(const FiniteCount&) = delete;

  /// Of this thread; null: there is none.
  static FiniteCount* current() { return current_; }
  void add(Index numbers) { numbers_.fetch_add(numbers, std::memory_order_relaxed); }
  /// Since the last time.
  Index take() { return numbers_.exchange(0); }

 private:
  static inline constinit thread_local FiniteCount* current_ = nullptr;
  FiniteCount* outer_;
  std::atomic<Index> numbers_{0};
};

}  // namespace bdl
