// A value that is computed when it is first read. One thread computes it and others wait, so that const reads
// are thread-safe.
#pragma once

#include <atomic>
#include <thread>

#include "base/error.hpp"

namespace bdl {

class Deferred {
 public:
  Deferred() = default;
  explicit Deferred(bool due) : state_(due ? State::due : State::done) {}
  bool is_due() const { return state_.load(std::memory_order_acquire) != State::done; }
  /// Must not be called while another thread reads.
  void set_due(bool due) { leave(due ? State::due : State::done); }
  /// Exchanges two; no thread may read meanwhile.
  void swap(Deferred& that) {
    const bool due = is_due();
    set_due(that.is_due());
    that.set_due(due);
  }
  /// Runs find() if the value is due; it stays due if find() fails. Fails with ERROR_INVALID_ARGUMENT if it
  /// is called within find(), as an interrupt callback may do.
  template <class Find>
  void settle(Find&& find) {
    while (is_due()) {
      State expected = State::due;
      if (!state_.compare_exchange_strong(expected, State::being_found, std::memory_order_acquire)) {
        if (finder_.load(std::memory_order_relaxed) == std::this_thread::get_id())
          fail(Status::ERROR_INVALID_ARGUMENT,
               "this is in use by the call in progress, which is computing it: read it after that call has "
               "returned");
        state_.wait(State::being_found, std::memory_order_acquire);
        continue;
      }
      finder_.store(std::this_thread::get_id(), std::memory_order_relaxed);
      try {
        find();
      } catch (...) {
        leave(State::due);
        throw;
      }
      leave(State::done);
    }
  }

 private:
  enum class State : int { done, due, being_found };
  void leave(State state) {
    finder_.store({}, std::memory_order_relaxed);
    state_.store(state, std::memory_order_release);
    state_.notify_all();
  }
  std::atomic<State> state_{State::done};
  std::atomic<std::thread::id> finder_{};
};

}  // namespace bdl
