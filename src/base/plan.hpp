// How much memory a component will hold, said once: by its reserve(sizes), which takes the memory, or in a
// plan only counts it.
#pragma once

#include <utility>

#include "base/view.hpp"

namespace bdl {

/// While one exists, buffers of this thread that grow only note how far: their bytes are counted, and no
/// memory is taken. Reserve new components in it, which nobody reads or writes, and let them go with it.
/// Buffers that several components share are counted once, by the most that one of them wants.
class MemoryPlan {
 public:
  MemoryPlan() : outer_(planned_bytes) { planned_bytes = &bytes_; }
  ~MemoryPlan() { planned_bytes = outer_; }
  MemoryPlan(const MemoryPlan&) = delete;
  MemoryPlan& operator=(const MemoryPlan&) = delete;

  Index bytes() const { return bytes_; }
  static bool is_active() { return planned_bytes != nullptr; }
  /// Counts what is not reserved in the plan: copies of something that exists.
  static void add(Index bytes) { add_planned_bytes(bytes); }

 private:
  Index bytes_ = 0;
  Index* outer_;
};

/// Bytes that a new Component holds once it is reserved for these sizes.
template <class Component, class... Sizes>
Index bytes_to_reserve(Sizes&&... sizes) {
  const MemoryPlan plan;
  Component component;
  component.reserve(std::forward<Sizes>(sizes)...);
  return plan.bytes();
}

}  // namespace bdl
