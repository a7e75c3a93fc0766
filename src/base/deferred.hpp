// What follows from other things and is found when somebody first asks for it, by one thread while the others
// wait: reading a handle stays const, and safe from several threads.
#pragma once

#include <atomic>

namespace bdl {

class Deferred {
 public:
  Deferred() = default;
  explicit Deferred(bool due) : state_(due ? State::due : State::done) {}
  bool is_due() const { return state_.load(std::memory_order_acquire) != State::done; }
  /// Only while nobody reads.
  void set_due(bool due) { leave(due ? State::due : State::done); }
  /// Only while nobody reads either.
  void swap(Deferred& that) {
    const bool due = is_due();
    set_due(that.is_due());
    that.set_due(due);
  }
  /// Runs find() if it is due; it stays due if find() fails.
  template <class Find>
  void settle(Find&& find) {
    while (is_due()) {
      State expected = State::due;
      if (!state_.compare_exchange_strong(expected, State::being_found, std::memory_order_acquire)) {
        state_.wait(State::being_found, std::memory_order_acquire);
        continue;
      }
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
    state_.store(state, std::memory_order_release);
    state_.notify_all();
  }
  std::atomic<State> state_{State::done};
};

}  // namespace bdl
