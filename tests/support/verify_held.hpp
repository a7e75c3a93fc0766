// What is held against what was stated.
#pragma once

#include "base/view.hpp"
#include "support/counting_allocator.hpp"
#include "support/verify.hpp"

namespace bdl::testing {

/// Numbers to the byte; the small objects around them (pointers, names, layers) are few whatever their
/// number.
inline void check_held(const char* name, const counting::Held& held, Index stated) {
  constexpr std::size_t few = 1 << 16;
  const auto numbers = static_cast<Index>(held.numbers);
  if (numbers != stated)
    fail_msg("%s: %ld bytes stated, %ld held (%+ld)", name, static_cast<long>(stated),
             static_cast<long>(numbers), static_cast<long>(numbers - stated));
  if (held.small_objects > few) fail_msg("%s: %zu bytes of small objects", name, held.small_objects);
}

}  // namespace bdl::testing
