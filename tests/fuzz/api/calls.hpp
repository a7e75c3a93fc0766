// The table of the functions that the fuzzer calls: all public ones.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fuzz {

class Session;

struct Call {
  const char* name;
  void (*make)(Session&);  ///< reads arguments from the input, calls, keeps new handles
};

std::size_t call_count();
const Call& call_at(std::size_t index);
/// call_count() if there is no such function.
std::size_t index_of(const char* name);

constexpr std::size_t most_calls = 256;
inline std::uint64_t calls_made[most_calls];       ///< by this process
inline std::uint64_t calls_succeeded[most_calls];  ///< of these

/// Prints a line for each function, and how many of them were called and have succeeded.
void print_coverage();

#define BDL_CALL(name) void call_##name(Session&);
#include "fuzz/api/calls.def"
#undef BDL_CALL

/// Defines the call of a function.
#define BDL_CALLS(name) void call_##name([[maybe_unused]] Session& s)

}  // namespace fuzz
