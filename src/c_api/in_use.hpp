// Tracks which objects calls use. A call that writes has an object to itself: no other thread and no callback
// of the call may write to it meanwhile. Reads are recorded on their own thread only, so concurrent reads
// cost nothing.
#pragma once

#include <array>
#include <initializer_list>

#include "base/claim.hpp"

namespace bdl {

/// An object that a call is about to use.
struct UsedObject {
  const char* name;    ///< in messages
  const void* object;  ///< null: none
  bool is_written = false;
  Claim* claim = nullptr;  ///< of one that is written; null: callbacks of this thread are all that could
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
  struct Taken {
    const void* object;
    Claim* claim;  // to be released
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
