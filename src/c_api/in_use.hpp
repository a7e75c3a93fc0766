// Tracks which objects calls use. A call that writes to an object has it to itself: meanwhile no other thread
// and no callback of the call may write to it. Reads are recorded on their own thread only, so concurrent
// reads cost nothing.
#pragma once

#include <array>
#include <initializer_list>

#include "base/claim.hpp"

namespace bdl {

/// An object that a call is about to use.
struct UsedObject {
  const char* name;    ///< in messages
  const void* object;  ///< may be null
  bool is_written = false;
  Claim* claim =
      nullptr;  ///< for an object to be written; null if only this thread's callbacks could write to it
};

/// A call's use of a handle and of the objects behind it; lives on the call's stack.
class InUse {
 public:
  /// Fails with ERROR_INVALID_ARGUMENT if an object to be written is in use.
  InUse(const void* handle, std::initializer_list<UsedObject> objects);
  ~InUse();
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;

  /// Returns true if a call on this thread uses the handle: the last such call then calls free(handle).
  static bool will_free(const void* handle, void (*free)(const void* handle)) noexcept;

 private:
  struct Taken {
    const void* object;
    Claim* claim;  // released at the end
  };
  bool uses(const void* object) const noexcept;
  const char* claim(const UsedObject& object) const noexcept;
  void release() noexcept;
  static constexpr std::size_t most_objects = 4;
  const void* handle_;
  std::array<Taken, most_objects> objects_{};
  std::size_t count_ = 0;
  void (*free_)(const void*) = nullptr;
  InUse*& innermost_;  // of the thread
  // A list, not a stack: calls of a thread that switches stacks, as coroutines do, may end in any order.
  InUse *outer_, *inner_ = nullptr;
};

/// Frees a handle. If a callback frees a handle that its own call uses, it is freed when that call ends.
template <class Handle>
void free_handle(Handle* handle) {
  constexpr auto free = [](const void* pointer) { delete static_cast<const Handle*>(pointer); };
  if (!InUse::will_free(handle, free)) free(handle);
}

}  // namespace bdl
