// libFuzzer target: any text either sets options, which can be read and set again, or is refused and changes
// nothing.
#include "fuzz/options_any.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!fuzz::options_are_right({reinterpret_cast<const char*>(data), size})) __builtin_trap();
  return 0;
}
