// FNV-1a hashes, which show whether two runs of a sequence gave identical results.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fuzz {

inline std::uint64_t hash_of(std::uint64_t before, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < size; ++i) before = (before ^ bytes[i]) * 0x100000001b3u;
  return before;
}

}  // namespace fuzz
