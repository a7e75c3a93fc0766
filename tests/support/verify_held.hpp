// What is held against what was stated.
#pragma once

#include "base/view.hpp"
#include "support/counting_allocator.hpp"
#include "support/verify.hpp"

namespace bdl::testing {

/// Fails unless the numbers that are held are at most as stated, and at least four fifths of that, but for
/// some kilobytes of small problems; the small objects around them (pointers, names, layers) are few whatever
/// the numbers.
inline void check_held(const char* name, const counting::Held& held, Index stated) {
  constexpr std::size_t few = 1 << 16;
  constexpr double small = 1e5, spare = 1 << 15;
  const auto numbers = static_cast<double>(held.numbers), bytes = static_cast<double>(stated);
  const double most = 1.25 * numbers + (numbers < small ? spare : 0);
  if (bytes < numbers || bytes > most)
    fail_msg("%s: %ld bytes stated, %zu held", name, static_cast<long>(stated), held.numbers);
  if (held.small_objects > few) fail_msg("%s: %zu bytes of small objects", name, held.small_objects);
}

}  // namespace bdl::testing
