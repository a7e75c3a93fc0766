// Who uses what a handle stands for. A call that writes has it to itself: meanwhile no other thread and no
// callback within the call writes to it. Calls that only read are known on their own thread alone, where
// their callbacks must not write, so that they cost each other nothing.
#pragma once

#include <array>
#include <atomic>
#include <initializer_list>

namespace bdl {

/// Taken by the call that writes to an object, on whatever thread.
class Claim {
 public:
  bool take() noexcept { return !is_taken_.exchange(true, std::memory_order_acquire); }
  void release() noexcept { is_taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> is_taken_{false};
};

/// An object that a call uses.
struct UsedObject {
  const char* name = "";         ///< in messages
  const void* object = nullptr;  ///< null: none
  Claim* claim = nullptr;  ///< of one that is written; null: callbacks of this thread are all that could
  bool is_written = false;
};

/// A call's use of a handle and of the objects behind it, for as long as it lives on the stack of the call.
class InUse {
 public:
  /// Fails with ERROR_INVALID_ARGUMENT if an object is to be written that is in use.
  InUse(const void* handle, std::initializer_list<UsedObject> objects);
  ~InUse();
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;

  /// True if a call on this thread uses the handle: free(handle) is then left to the last of them.
  static bool will_free(const void* handle, void (*free)(const void* handle)) noexcept;

 private:
  void take(const UsedObject& object);
  void release() noexcept;
  static constexpr std::size_t most_objects = 4;
  const void* handle_;
  std::array<UsedObject, most_objects> objects_{};
  std::size_t count_ = 0;
  void (*free_)(const void*) = nullptr;
  // Calls of a thread that changes its stack, as coroutines do, may end in any order.
  InUse *outer_, *inner_ = nullptr;
};

/// A callback may free a handle that its own call uses: it is then freed when that call ends.
template <class Handle>
void free_handle(Handle* handle) {
  constexpr auto free = [](const void* pointer) { delete static_cast<const Handle*>(pointer); };
  if (!InUse::will_free(handle, free)) free(handle);
}

}  // namespace bdl
