// Checks any bytes, read as a sequence of calls of the public API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fuzz {

/// Aborts with a message if anything is wrong. Half of all sequences are run twice and must give
/// identical results; in the others, allocations fail.
void check_sequence(const std::uint8_t* data, std::size_t size);

/// Bytes at random, the same for the same number.
std::vector<std::uint8_t> drawn_sequence(std::uint64_t number);

}  // namespace fuzz
